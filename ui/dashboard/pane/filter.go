package pane

import (
	"strings"

	"tillwatch/ui/dashboard/table"
)

// Filter is what a person typed to find rows: words that must all hold. A word
// with "!" before it must not; "state:" and "merchant:" look at that field alone.
type Filter struct {
	Text  string
	terms []term
}

type term struct {
	field string // "" for all
	text  string
	not   bool
}

// narrows reports whether f can only show what before shows as well: it was
// typed on, and asks for text alone.
func (f *Filter) narrows(before *Filter) bool {
	return f != nil && before != nil && strings.HasPrefix(f.Text, before.Text) && !strings.ContainsAny(f.Text, "!:")
}

// filterTable sets the filter of a table.
func filterTable[T any](t *table.Table[T], f, before *Filter) {
	switch {
	case f == nil:
		t.SetFilter(nil)
	case f.narrows(before):
		t.NarrowFilter(f)
	default:
		t.SetFilter(f)
	}
}

// fields are the names that may stand before a colon.
var fields = [...]string{"state", "merchant", "product", "id", "type"}

// ParseFilter reads a filter; it is nil when nothing is asked for.
func ParseFilter(text string) *Filter {
	f := &Filter{Text: text}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		t := term{text: word}
		t.text, t.not = strings.CutPrefix(t.text, "!")
		for _, field := range fields {
			if rest, ok := strings.CutPrefix(t.text, field+":"); ok {
				t.field, t.text = field, rest
			}
		}
		if t.text != "" {
			f.terms = append(f.terms, t)
		}
	}
	if len(f.terms) == 0 {
		return nil
	}
	return f
}

// needle is a row made ready to be searched, in lower case.
type needle struct {
	all                             string
	state, merchant, product, ident string
}

func (n *needle) matches(f *Filter) bool {
	for _, t := range f.terms {
		where := n.all
		switch t.field {
		case "state", "type":
			where = n.state
		case "merchant":
			where = n.merchant
		case "product":
			where = n.product
		case "id":
			where = n.ident
		}
		if strings.Contains(where, t.text) == t.not {
			return false
		}
	}
	return true
}

func newNeedle(state, merchant, product, id, more string) needle {
	all := strings.ToLower(state + "\x00" + merchant + "\x00" + product + "\x00" + id + "\x00" + more)
	n := needle{all: all}
	cut := func(s string) string {
		// Lower case may have another length: cut at the separators instead.
		field, rest, _ := strings.Cut(s, "\x00")
		all = rest
		return field
	}
	n.state = cut(all)
	n.merchant = cut(all)
	n.product = cut(all)
	n.ident = cut(all)
	return n
}

func matchRow[T searched](row T, filter any) bool {
	f, ok := filter.(*Filter)
	return !ok || row.search().matches(f)
}
