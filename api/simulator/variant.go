package simulator

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"tillwatch/api"
)

// choose finds the variant that an order asks for, by the deep link of its URL, by
// its selections, which win, or by both; or the failure that says why there is
// none. A product without dimensions has no variants to choose from, and takes any
// order.
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

// linked is which value of each dimension a deep link chooses, -1 for none, and
// whether the link names a variant that does not exist.
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

// variantID is what a deep link names.
func variantID(productURL string) string {
	u, err := url.Parse(productURL)
	if err != nil {
		return ""
	}
	return u.Query().Get("variant")
}

// sameLabel matches loosely: Colour is Color.
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

// anySelection chooses a value of each dimension, as a customer does.
func (p *product) anySelection(d dice) []variantSelectionWire {
	var all []variantSelectionWire
	for _, dim := range p.dimensions {
		all = append(all, variantSelectionWire{dim.Label, quoted(pick(d, dim.Values))})
	}
	return all
}
