package dashboard

import (
	"slices"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// failures shows failures by reason and by merchant, and filters the board by a row
// of either.
type failures struct {
	*shared
	filters *filters
	details *details
	last    api.ID // the intent last filtered by
}

// open filters the intents by the row under the cursor.
func (f *failures) open() {
	filter, _ := f.board.failures.RowFilter()
	f.show(filter, f.cfg.Actions.KeyOf(action.ClearFilter)+" shows all again")
}

// disabled says why there is nothing to filter by under the cursor; "" if there is.
func (f *failures) disabled() string {
	if len(f.alike()) > 0 {
		return ""
	}
	if f.board.focus == layout.Failures {
		_, why := f.board.failures.RowFilter()
		return why
	}
	if _, ok := f.board.intentUnder(); !ok {
		return "no intent under the cursor"
	}
	return "its merchant is not known yet: " + f.cfg.Actions.KeyOf(action.Refresh) + " reads it"
}

// alike are the filters for rows like the one under the cursor, in the key's order:
// by merchant, then by failure reason.
func (f *failures) alike() []string {
	var filters []string
	if f.board.focus == layout.Failures {
		filters = append(filters, f.board.failures.Alike())
	} else if in, ok := f.board.intentUnder(); ok {
		filters = append(filters, pane.ByMerchant(in))
		if in.Failure != nil {
			filters = append(filters, pane.ByReason(in))
		}
	}
	return slices.DeleteFunc(filters, func(filter string) bool { return filter == "" })
}

// filterAlike applies the next of these filters; after the last it shows all. A row
// that another row's reason found starts with its own merchant.
func (f *failures) filterAlike() {
	filters, now, again := f.alike(), "", f.cfg.Actions.KeyOf(action.FilterAlike)+" again "
	if filter := f.filters.inPane[layout.Intents]; filter != nil {
		now = filter.Text
	}
	in, ok := f.board.intentUnder()
	at := slices.Index(filters, now)
	if at > 0 && in.ID != f.last {
		at = -1
	}
	switch {
	case at == len(filters)-1:
		f.filters.set(layout.Intents, nil)
		f.notices.say(plain, "all intents are shown again")
	case at+2 < len(filters):
		f.show(filters[at+1], again+"filters by its reason")
	default:
		f.show(filters[at+1], again+"shows all")
	}
	if ok {
		f.last = in.ID
		f.board.intents.Select(in.ID)
	}
}

// show applies a filter to the intents, and says how many match and what comes next.
func (f *failures) show(text, next string) {
	b := f.board
	if b.detailOpen && b.layout.Panes[layout.Intents].Empty() {
		f.details.close()
	}
	b.zoom = b.zoom && b.focus == layout.Intents
	b.reveal(layout.Intents)
	b.setFocus(layout.Intents)
	f.filters.set(layout.Intents, pane.ParseFilter(text, b.intents.Fields()))
	b.intents.Stay()
	shown, _ := b.intents.Matches()
	failed := 0
	for in := range b.intents.Shown() {
		if in.State == api.Failed {
			failed++
		}
	}
	found := wording.Count(failed) + " failed"
	if failed < shown {
		found = wording.Counted(shown, "intent", "intents") + ", " + found
	}
	f.notices.say(plain, text+": "+found+"; "+next)
}
