package simulator

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"tillwatch/api"
)

// choose returns the variant of an order, from the deep link of its URL and from its
// selections, which take precedence; code says why there is none. A product without
// dimensions accepts any order.
func (p *product) choose(productURL string, selections []variantSelectionWire) (variant int, code api.FailureCode) {
	if len(p.dimensions) == 0 {
		return 0, ""
	}
	chosen, unknownLink := p.linked(productURL)
	for _, s := range selections {
		i := slices.IndexFunc(p.dimensions, func(dim variantDimensionWire) bool { return sameLabel(dim.Label, s.Label) })
		if i < 0 {
			return 0, "variant_selections_invalid"
		}
		value := selectedValue(s.Value)
		chosen[i] = slices.IndexFunc(p.dimensions[i].Values, func(v string) bool { return strings.EqualFold(v, value) })
		if chosen[i] < 0 {
			return 0, "variant_selections_invalid"
		}
	}
	for i, value := range chosen {
		switch {
		case value < 0 && unknownLink:
			return 0, "variant_selections_invalid"
		case value < 0:
			return 0, "variant_selections_required"
		}
		variant = variant*len(p.dimensions[i].Values) + value
	}
	return variant, ""
}

// linked returns the index of the value that a deep link chooses in each dimension, -1
// for none; unknown is true if the link names no existing variant.
func (p *product) linked(productURL string) (values []int, unknown bool) {
	values = slices.Repeat([]int{-1}, len(p.dimensions))
	id := variantID(productURL)
	if id == "" {
		return values, false
	}
	variant := slices.IndexFunc(p.variants(), func(v variantWire) bool { return v.ID == id })
	if variant < 0 {
		return values, true
	}
	for i := len(values) - 1; i >= 0; i-- {
		n := len(p.dimensions[i].Values)
		values[i], variant = variant%n, variant/n
	}
	return values, false
}

// variantID returns the variant in a deep link; "" if there is none.
func variantID(productURL string) string {
	u, err := url.Parse(productURL)
	if err != nil {
		return ""
	}
	return u.Query().Get("variant")
}

// sameLabel compares labels loosely: Colour equals Color.
func sameLabel(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "ou", "o") }
	return plain(a) == plain(b)
}

func selectedValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// anySelection chooses a random value of each dimension.
func (p *product) anySelection(d dice) []variantSelectionWire {
	var all []variantSelectionWire
	for _, dim := range p.dimensions {
		all = append(all, variantSelectionWire{dim.Label, quoted(pick(d, dim.Values))})
	}
	return all
}
