package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// usage shows who uses the quota, as charts and a table, and the requests behind a row.
type usage struct {
	*shared
	filters *filters
}

// rowFilterer is a pane whose rows represent requests of the account.
type rowFilterer interface {
	// RowFilter returns the filter that finds them, or why there is none.
	RowFilter() (filter, why string)
}

// nextSpan switches the span of time of the view, the pulse or the charts on the screen.
func (u *usage) nextSpan() {
	switch {
	case u.board.focus == layout.Failures:
		u.board.failures.NextSpan()
	case u.board.focus == layout.Pulse:
		u.board.pulse.NextSpan()
	default:
		u.board.quota.NextSpan()
	}
}

func (u *usage) nextChart() {
	u.notices.say(plain, "the charts start with "+u.board.quota.NextChart())
}

// spanDisabled says why there is no span of time to switch; "" if there is.
func (u *usage) spanDisabled() string {
	if layout.IsView(u.board.focus) || u.charted() {
		return ""
	}
	return u.uncharted()
}

// chartDisabled says why there is no next chart; "" if there is.
func (u *usage) chartDisabled() string {
	switch {
	case !u.charted():
		return u.uncharted()
	case u.board.quota.AllCharts():
		return "all charts are on the screen"
	}
	return ""
}

// charted reports whether charts of the quota are on the screen.
func (u *usage) charted() bool {
	return !u.board.layout.Panes[layout.Quota].Empty() && u.board.quota.Viewing()
}

func (u *usage) uncharted() string {
	return "no chart is on the screen: " + u.cfg.Actions.KeyOf(action.Usage) + " shows the use of the quota"
}

// toggleQuota gives the quota the whole screen, for its charts and spenders, or ends that.
func (b *board) toggleQuota() {
	if b.quotaWhole() {
		b.toggleZoom()
		return
	}
	b.rememberFocus()
	b.reveal(layout.Quota)
	b.zoom, b.zoomed = true, layout.Quota
	b.setFocus(layout.Quota)
}

// quotaWhole reports whether the quota has the whole screen.
func (b *board) quotaWhole() bool { return b.zoom && b.focus == layout.Quota }

// openRequests shows the requests behind the row under the cursor.
func (u *usage) openRequests() {
	text, _ := u.board.quota.RowFilter()
	filter := pane.ParseFilter(text, u.board.requests.Fields())
	if !u.board.requests.Holds(filter) {
		u.notices.say(warning, "its requests are not kept: they are from an earlier run, or too old")
		return
	}
	u.board.reveal(layout.Requests)
	u.filters.set(layout.Requests, filter)
	u.board.setFocus(layout.Requests)
}
