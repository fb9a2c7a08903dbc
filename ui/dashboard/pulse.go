package dashboard

import (
	"maps"
	"time"

	"tillwatch/api/account"
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
