package dashboard

import (
	"slices"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// do sorts and arranges, if that is what the action does.
func (b *board) do(id action.ID) bool {
	switch id {
	case action.Sort, action.ReverseSort:
		b.sort("", id == action.ReverseSort)
	case action.Zoom:
		if b.pulseWhole() {
			b.togglePulse()
		} else {
			b.toggleZoom()
		}
	case action.NextArrangement:
		b.nextArrangement()
	case action.GroupOrders:
		b.groupOrders()
	case action.ToggleIntents, action.ToggleShipments, action.ToggleQuota, action.ToggleEvents, action.TogglePulse:
		b.togglePane(layout.Pane(slices.Index(toggling[:], id)))
	default:
		return false
	}
	return true
}

// disabled says why an action is not possible on the focused pane now; "" if it is.
func (b *board) disabled(id action.ID) string {
	switch id {
	case action.FocusDetail:
		if !b.detailOpen {
			return "no detail is open"
		}
	case action.FocusPane8:
		if !b.delivers(layout.Deliveries) {
			return noDeliveries
		}
	case action.Open:
		return b.openDisabled()
	case action.CopyID, action.OpenLink:
		if b.subject().Kind == pane.None {
			return "nothing under the cursor"
		}
	case action.Zoom:
		if b.focus == layout.Detail && !layout.Beside(b.width) {
			return "the detail fills the screen already"
		}
		if layout.IsView(b.focus) {
			return "this fills the screen already"
		}
	case action.Sort, action.ReverseSort:
		if _, ok := b.panes[b.focus].(sortable); !ok {
			return "this pane cannot be sorted"
		}
	case action.Filter:
		if _, ok := b.panes[b.focus].(filtered); !ok {
			return "this pane cannot be filtered"
		}
		if b.focus == layout.Quota && !b.quota.Viewing() {
			return "there are no spenders on the screen to filter: " + b.cfg.Actions.KeyOf(action.Usage) + " shows them"
		}
	}
	return ""
}

// openDisabled says why nothing can be opened.
func (b *board) openDisabled() string {
	if p, ok := b.panes[b.focus].(asked); ok {
		_, why := p.Asked()
		return why
	}
	if b.subject().Kind == pane.None && !b.onFold() {
		return "nothing under the cursor"
	}
	return ""
}

// offers reports whether an action can be possible on any row of the focused pane, so
// that the footer offers it. It does not depend on the row under the cursor, so that
// the footer stays still.
func (b *board) offers(id action.ID) bool {
	switch id {
	case action.Confirm, action.Mark, action.Refresh:
		return b.ofIntents()
	case action.CopyID:
		return b.ofIntents() || b.focus == layout.Requests || b.focus == layout.Detail
	case action.Open:
		_, leads := b.panes[b.focus].(asked)
		return b.ofIntents() || leads || b.focus == layout.Requests
	case action.Acknowledge, action.Mute:
		return b.focus == layout.Alerts
	case action.SendAgain:
		return b.focus == layout.Deliveries || b.focus == layout.Detail && b.detail.Subject().Kind == pane.OfDelivery
	case action.Reveal:
		return b.detail.Subject().Kind == pane.OfIntent
	case action.NextSpan:
		return b.focus == layout.Failures || b.pulseWhole() || b.quotaWhole()
	case action.Failures:
		return b.focus == layout.Failures
	case action.Sort, action.Filter, action.Zoom:
		return b.disabled(id) == ""
	}
	return true
}

// ofIntents reports whether the focused pane shows intents, or things that belong to
// them.
func (b *board) ofIntents() bool {
	switch b.focus {
	case layout.Intents, layout.Shipments, layout.Events, layout.Alerts, layout.Deliveries:
		return true
	case layout.Detail:
		return b.detail.Subject().Kind != pane.OfRequest
	}
	return false
}
