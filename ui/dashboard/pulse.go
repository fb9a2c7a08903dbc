package dashboard

import (
	"maps"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// pulseCache keeps the pulse of the account. It is calculated when somebody asks for it, at most
// once for each second of the clock, and only if an intent has changed or another minute has
// begun since.
type pulseCache struct {
	look    *pane.Look
	picture *picture
	pulse   account.Pulse
	at      time.Time // of the clock, when it was last asked for
}

func (b *pulseCache) get() *account.Pulse {
	now := b.look.Now.In(b.look.Location)
	if now.Equal(b.at) {
		return &b.pulse
	}
	if b.picture.pulseStale || !now.Truncate(time.Minute).Equal(b.at.Truncate(time.Minute)) {
		b.pulse = account.PulseOf(maps.Values(b.picture.intents), &b.picture.summary, now)
	}
	b.at, b.picture.pulseStale = now, false
	return &b.pulse
}

// pulseStands reports whether the pulse has a place on the board.
func (b *board) pulseStands() bool { return layout.PulseVisible(b.request()) }

// pulseWhole reports whether the pulse has the screen to itself.
func (b *board) pulseWhole() bool {
	return b.focus == layout.Pulse && (b.zoom || !b.pulseStands())
}

// pulseAsked reports whether the key for the span of time applies to the pulse: it is on the
// screen, and has the focus or no chart of the quota is there.
func (b *board) pulseAsked() bool {
	return !b.layout.Panes[layout.Pulse].Empty() && (b.focus == layout.Pulse || !b.quota.Viewing())
}

// togglePulse gives the pulse the whole screen, or gives it back to the pane that had
// the focus.
func (b *board) togglePulse() {
	if !b.pulseWhole() {
		b.showPulse()
		return
	}
	b.zoom = false
	b.returnFocus()
}

func (b *board) showPulse() {
	b.rememberFocus()
	b.zoom, b.zoomed = true, layout.Pulse
	b.setFocus(layout.Pulse)
}
