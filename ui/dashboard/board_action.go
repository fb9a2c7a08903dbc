package dashboard

import (
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// openDisabled says why nothing can be opened; "" if something can.
func (b *board) openDisabled() string {
	if p, ok := b.panes[b.focus].(rowFilterer); ok {
		_, why := p.RowFilter()
		return why
	}
	return b.subjectless()
}

// subjectless says that nothing is under the cursor; "" if something is.
func (b *board) subjectless() string {
	if b.subject().Kind == pane.None {
		return "nothing under the cursor"
	}
	return ""
}

func (b *board) detailDisabled() string {
	if !b.detailOpen {
		return "no detail is open"
	}
	return ""
}

func (b *board) zoomDisabled() string {
	switch {
	case b.focus == layout.Detail && !layout.Beside(b.width):
		return "the detail fills the screen already"
	case layout.IsView(b.focus):
		return "this fills the screen already"
	}
	return ""
}

func (b *board) sortDisabled() string {
	if _, ok := b.panes[b.focus].(sortable); !ok {
		return "this pane cannot be sorted"
	}
	return ""
}

func (b *board) filterDisabled() string {
	if _, ok := b.panes[b.focus].(filtered); !ok {
		return "this pane cannot be filtered"
	}
	if b.focus == layout.Quota && !b.quota.Viewing() {
		return "there are no spenders on the screen to filter: " + b.cfg.Actions.KeyOf(action.Usage) + " shows them"
	}
	return ""
}

// offers reports whether an action can be possible on any row of the focused pane, so
// that the footer offers it. It does not depend on the row under the cursor, so that
// the footer stays still.
func (b *board) offers(id action.ID) bool {
	switch id {
	case action.Confirm, action.Mark:
		return b.ofIntents() && !b.ended()
	case action.Refresh:
		return b.ofIntents()
	case action.CopyID:
		return b.ofIntents() || b.focus == layout.Requests || b.focus == layout.Detail
	case action.Open:
		return b.ofIntents() || b.focus == layout.Failures || b.focus == layout.Quota && b.quota.Viewing() || b.focus == layout.Requests
	case action.Acknowledge, action.Mute:
		return b.focus == layout.Alerts
	case action.Reveal:
		return b.detail.Subject().Kind == pane.OfIntent
	case action.ClearFilter:
		return b.zoom || layout.IsView(b.focus)
	case action.NextSpan:
		return layout.IsView(b.focus) || b.quotaWhole()
	case action.Failures:
		return b.focus == layout.Failures
	case action.Sort:
		return b.sortDisabled() == ""
	case action.Filter:
		return b.filterDisabled() == ""
	case action.Zoom:
		return b.zoomDisabled() == ""
	}
	return true
}

// ended reports whether nothing in the focused pane can be confirmed any more, whatever is under
// the cursor: it shows shipments, or the detail of an intent that has ended.
func (b *board) ended() bool {
	if b.focus != layout.Detail {
		return b.focus == layout.Shipments
	}
	in, ok := b.intentUnder()
	return b.detail.Subject().Kind == pane.OfShipment || ok && in.State.Terminal()
}

// ofIntents reports whether the focused pane shows intents, or things that belong to
// them.
func (b *board) ofIntents() bool {
	switch b.focus {
	case layout.Intents, layout.Shipments, layout.Events, layout.Alerts:
		return true
	case layout.Detail:
		return b.detail.Subject().Kind != pane.OfRequest
	}
	return false
}
