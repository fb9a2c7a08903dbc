package pane

import (
	"cmp"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// fold is what alerts that fold into one row have in common.
type fold struct {
	kind account.AlertKind
	off  bool // they are acknowledged or muted
}

func compareFolds(a, b fold) int {
	if a.off != b.off && a.kind == b.kind {
		if b.off {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.kind, b.kind)
}

// foldFrom is the least number of alerts that fold.
const foldFrom = 4

// rowsOf returns the rows for alerts. While there is a filter, nothing is folded: it must
// find every alert.
func (p *Alerts) rowsOf(alerts []account.Alert) []*alertRow {
	together := map[fold][]*alertRow{}
	for _, a := range alerts {
		row := &alertRow{Alert: a, key: alertKey(&a), newest: a.Since}
		row.Text = string(api.Scrub(a.Text))
		row.changed = p.since[row.key]
		row.searchText = newSearchText(string(a.Kind), "", row.Text, string(a.Intent), "")
		row.off, row.fold.off = p.off(a)
		row.fold.kind = a.Kind
		together[row.fold] = append(together[row.fold], row)
	}
	var rows []*alertRow
	for f, members := range together {
		if len(members) < foldFrom || p.filter != nil {
			rows = append(rows, members...)
			continue
		}
		head := headOf(f, members)
		rows = append(rows, head)
		if !p.unfolded[f] {
			continue
		}
		for _, row := range members {
			row.newest, row.member = head.newest, true
			rows = append(rows, row)
		}
	}
	return rows
}

// headOf returns the row for folded alerts: as old as the oldest, due when the first is.
func headOf(f fold, members []*alertRow) *alertRow {
	first := members[0]
	head := &alertRow{fold: f, count: len(members), key: "fold " + string(f.kind),
		Alert: account.Alert{Kind: f.kind, Text: foldedWords(f.kind, len(members)), Since: first.Since, Due: first.Due}}
	if f.off {
		head.key += " off"
	}
	for _, row := range members {
		if row.Since.Before(head.Since) {
			head.Since = row.Since
		}
		if row.Since.After(head.newest) {
			head.newest = row.Since
		}
		if !row.Due.IsZero() && (head.Due.IsZero() || row.Due.Before(head.Due)) {
			head.Due = row.Due
		}
		if row.Due.After(head.last) {
			head.last = row.Due
		}
		if row.changed.After(head.changed) {
			head.changed = row.changed
		}
	}
	head.searchText = newSearchText(string(f.kind), "", head.Text, "", "")
	return head
}

func foldedWords(kind account.AlertKind, n int) string {
	count := wording.Count(n)
	switch kind {
	case account.AlertExpiring:
		return count + " intents expire"
	case account.AlertAwaiting:
		return count + " intents have been awaiting confirmation for a long time"
	case account.AlertStuck:
		return count + " intents have been placing for a long time"
	case account.AlertFailed:
		return count + " intents failed"
	case account.AlertOrder:
		return count + " orders have partly failed"
	case account.AlertQuota:
		return count + " quota limits are running out"
	}
	return count + " alerts of the kind " + string(kind)
}

// text returns the text of a row for w cells. A folded row also says when the first of its
// alerts is due and, for expiring intents, the last.
func (p *Alerts) text(row *alertRow, w int) string {
	if row.count == 0 {
		return AlertText(&row.Alert, p.look.Now, p.look.Location, w)
	}
	sign := "▸ "
	if p.unfolded[row.fold] {
		sign = "▾ "
	}
	text := sign + row.Text
	in := func(at time.Time) string { return " in " + wording.Age(at.Sub(p.look.Now)) }
	switch {
	case row.Due.IsZero():
	case row.Kind == account.AlertExpiring:
		text += " within " + wording.Until(row.last.Sub(p.look.Now)) + " · the first" + in(row.Due)
	default:
		text += " · the first is due" + in(row.Due)
	}
	return text
}

// OnFold reports whether the cursor is on a folded row.
func (p *Alerts) OnFold() bool {
	row, ok := p.list.Cursor()
	return ok && row.count > 0
}

// Unfold unfolds the row under the cursor, or folds it again.
func (p *Alerts) Unfold() {
	if row, ok := p.list.Cursor(); ok && row.count > 0 {
		p.unfolded[row.fold] = !p.unfolded[row.fold]
		p.list.Select(row.key)
		p.Arrange()
		p.stale = true
	}
}

// Chosen returns the alerts of the row under the cursor.
func (p *Alerts) Chosen() []account.Alert {
	row, ok := p.list.Cursor()
	switch {
	case !ok:
		return nil
	case row.count == 0:
		return []account.Alert{row.Alert}
	}
	return slices.DeleteFunc(slices.Clone(p.standing), func(a account.Alert) bool {
		_, off := p.off(a)
		return row.fold != fold{a.Kind, off}
	})
}

// SetFilter shows only what the filter finds; nil shows all.
func (p *Alerts) SetFilter(f *Filter) {
	p.listing.SetFilter(f)
	p.Arrange()
}
