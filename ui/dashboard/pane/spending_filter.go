package pane

import "time"

// spendFields are the names that a filter of the spenders may use.
var spendFields = [...]Field{asWhole(inColumn("by", inPlace)), asWhole(inColumn("endpoint", inName))}

// Fields are the names that a filter of the spenders may use.
func (p *Quota) Fields() []Field { return spendFields[:] }

// SetFilter shows only the spenders and endpoints that the filter finds; nil shows
// all.
func (p *Quota) SetFilter(f *Filter) {
	p.spending.filter = f
	p.spending.count(p.unfolded())
	p.stale = true
}

// Matches is how many spenders the filter shows, of how many.
func (p *Quota) Matches() (shown, total int) {
	for i := range p.spending.rows {
		if p.spending.rows[i].key.endpoint == "" {
			shown++
		}
	}
	return shown, len(p.spending.spenders)
}

func (r *spendRow) search() *needle {
	n := newNeedle("", edged(r.key.by), edged(r.key.endpoint), "", "")
	return &n
}

func (r *spendRow) figure(figure, time.Time) (float64, string, bool) { return 0, "", false }

// filtered is what the filter shows of a spender and of its endpoints: a spender
// stays above an endpoint that is found.
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
