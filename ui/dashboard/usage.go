package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// usage shows who uses the quota, as charts and a table, and the requests behind a row.
type usage struct {
	board   *board
	filters *filters
	notices *notices
}

// asked is a pane whose rows represent requests of the account.
type asked interface {
	// Asked returns the filter that finds them, or why there is none.
	Asked() (filter, why string)
}

// do performs an action about the use of the quota; it returns false for any other.
func (u *usage) do(id action.ID) bool {
	switch id {
	case action.Usage:
		u.board.toggleQuota()
	case action.Pulse:
		u.board.togglePulse()
	case action.NextSpan:
		if u.board.pulseAsked() {
			u.notices.say(plain, u.board.pulse.NextSpan())
			return true
		}
		u.notices.say(plain, u.board.quota.NextSpan())
	case action.NextChart:
		u.notices.say(plain, "the charts start with "+u.board.quota.NextChart())
	case action.Open:
		return u.openRequests()
	default:
		return false
	}
	return true
}

// disabled says why an action about the use of the quota cannot be performed now; "" if it
// can.
func (u *usage) disabled(id action.ID) string {
	switch charts := !u.board.layout.Panes[layout.Quota].Empty() && u.board.quota.Viewing(); {
	case id == action.Usage, id == action.Pulse, id == action.NextSpan && (u.board.focus == layout.Failures || u.board.pulseAsked()):
		return ""
	case !charts:
		return "no chart is on the screen: " + u.board.cfg.Actions.KeyOf(action.Usage) + " shows the use of the quota"
	case id == action.NextChart && u.board.quota.AllCharts():
		return "all charts are on the screen"
	}
	return ""
}

// toggleQuota gives the quota the whole screen, for its charts and spenders, or ends that.
func (b *board) toggleQuota() {
	if b.quotaWhole() {
		b.toggleZoom()
		return
	}
	b.reveal(layout.Quota)
	b.zoom, b.zoomed = true, layout.Quota
	b.setFocus(layout.Quota)
}

// quotaWhole reports whether the quota has the whole screen.
func (b *board) quotaWhole() bool { return b.zoom && b.focus == layout.Quota }

// openRequests shows the requests behind the row under the cursor.
func (u *usage) openRequests() bool {
	p, ok := u.board.panes[u.board.focus].(asked)
	if !ok {
		return false
	}
	text, _ := p.Asked()
	filter := pane.ParseFilter(text, u.board.requests.Fields())
	if !u.board.requests.Holds(filter) {
		u.notices.say(warning, "its requests are not kept: they are from an earlier run, or too old")
		return true
	}
	u.board.reveal(layout.Requests)
	u.filters.set(layout.Requests, filter)
	u.board.setFocus(layout.Requests)
	return true
}
