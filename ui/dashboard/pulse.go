package dashboard

import (
	"maps"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// beat keeps the pulse of the account. It is worked out when somebody asks for it, at
// most once for each second of the clock, and only if its intents have changed since or
// another minute has begun.
type beat struct {
	look    *pane.Look
	picture *picture
	pulse   account.Pulse
	at      time.Time // of the clock, when it was last asked for
}

func (b *beat) get() *account.Pulse {
	now := b.look.Now.In(b.look.Location)
	if now.Equal(b.at) {
		return &b.pulse
	}
	if b.picture.beats || !now.Truncate(time.Minute).Equal(b.at.Truncate(time.Minute)) {
		b.pulse = account.PulseOf(maps.Values(b.picture.intents), &b.picture.summary, now)
	}
	b.at, b.picture.beats = now, false
	return &b.pulse
}

// pulseStands reports whether the pulse has a place on the board.
func (b *board) pulseStands() bool { return layout.PulseVisible(b.request()) }

// pulseWhole reports whether the pulse has the screen to itself.
func (b *board) pulseWhole() bool {
	return b.focus == layout.Pulse && (b.zoom || !b.pulseStands())
}

// pulseAsked reports whether a stretch of time is asked of the pulse: it is on the
// screen, and no chart of the quota has the focus.
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
