package dashboard

import (
	"slices"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

// alerting knows which alerts a person has acknowledged or muted. They stay listed, but are not
// pressing.
type alerting struct {
	cfg     *Config
	picture *picture
	memory  attention.Memory
	stood   map[attention.Key]bool // at the last update
	spans   []alertSpan            // raised in this run, in order
	began   time.Time              // when the first picture came
}

func newAlerting(cfg *Config, picture *picture) *alerting {
	a := &alerting{cfg: cfg, picture: picture, memory: cfg.Attention}
	a.memory.Off = slices.Clone(a.memory.Off)
	return a
}

// change changes the memory, here and for other runs.
func (a *alerting) change(do func(*attention.Memory)) {
	do(&a.memory)
	if a.cfg.Attend != nil {
		a.cfg.Attend(do)
	}
}

// off returns how an alert is acknowledged or muted, if it is.
func (a *alerting) off(alert account.Alert) (attention.Off, bool) {
	return a.memory.OffOf(alert, a.cfg.Now())
}

// muted reports whether an alert is muted now.
func (a *alerting) muted(alert account.Alert) bool {
	off, ok := a.off(alert)
	return ok && !off.Until.IsZero()
}

// settled is how long a run takes to raise earlier alerts again.
const settled = time.Minute

// update finds the pressing alerts, and reports whether they or the memory have
// changed. An acknowledgement ends with its alert; one from an earlier run ends if
// that alert is no longer raised.
func (a *alerting) update(now time.Time) (changed bool) {
	if a.began.IsZero() && a.picture.started {
		a.began = now
	}
	alerts := a.picture.summary.Alerts
	stands := make(map[attention.Key]bool, len(alerts))
	for _, alert := range alerts {
		stands[attention.KeyOf(alert)] = true
	}
	all := !a.began.IsZero() && now.Sub(a.began) >= settled
	over := func(key attention.Key) bool { return !stands[key] && (all || a.stood[key]) }
	if slices.ContainsFunc(a.memory.Off, func(o attention.Off) bool {
		return o.Until.IsZero() && over(o.Key) || !o.Until.IsZero() && !now.Before(o.Until)
	}) {
		a.change(func(m *attention.Memory) { m.Forget(now, over) })
		changed = true
	}
	a.follow(alerts, stands, now)
	a.stood = stands
	urgent := alerts
	if len(a.memory.Off) > 0 {
		urgent = slices.DeleteFunc(slices.Clone(alerts), func(alert account.Alert) bool {
			_, off := a.memory.OffOf(alert, now)
			return off
		})
	}
	changed = changed || !slices.Equal(urgent, a.picture.urgent)
	a.picture.urgent = urgent
	return changed
}

// countAlerts shows the number of pressing alerts on the tabs.
func (b *board) countAlerts() {
	if n := len(b.picture.urgent); n != b.look.Tabs.Alerts {
		b.look.Tabs.Alerts = n
		b.panes[b.tab].Invalidate()
	}
}
