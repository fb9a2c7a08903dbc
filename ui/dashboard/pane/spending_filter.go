package pane

import "time"

// spendFields are the fields of a filter of the spenders.
var spendFields = [...]Field{asWhole(inColumn("by", inPlace)), asWhole(inColumn("endpoint", inName))}

// Fields returns the fields of a filter of the spenders.
func (p *Quota) Fields() []Field { return spendFields[:] }

// SetFilter shows only spenders and endpoints that match; nil shows all.
func (p *Quota) SetFilter(f *Filter) {
	p.spending.filter = f
	p.spending.count(p.endpoints())
	p.stale = true
}

// Matches returns how many spenders are shown, of how many.
func (p *Quota) Matches() (shown, total int) {
	for i := range p.spending.rows {
		if p.spending.rows[i].key.endpoint == "" {
			shown++
		}
	}
	return shown, len(p.spending.spenders)
}

func (r *spendRow) search() *searchText {
	n := newSearchText("", edged(r.key.by), edged(r.key.endpoint), "", "")
	return &n
}

func (r *spendRow) figure(figure, time.Time) (float64, string, bool) { return 0, "", false }

// filtered returns whether a spender is shown, and which of its endpoints match. A spender
// is shown above a matching endpoint.
func (s *spending) filtered(whole *spendRow, parts []spendRow) (shown bool, found []spendRow) {
	if s.filter == nil {
		return true, parts
	}
	for i := range parts {
		if s.filter.matches(&parts[i]) {
			found = append(found, parts[i])
		}
	}
	return len(found) > 0 || s.filter.matches(whole), found
}
