package dashboard

import (
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/wording"
)

// alerting holds which alerts a person has put off: acknowledged, or muted for a
// time. What is put off stays listed, but presses no more.
type alerting struct {
	cfg     *Config
	picture *picture
	notices *notices
	memory  attention.Memory
	stood   map[attention.Key]bool // when it was judged last
	spans   []alertSpan            // of alerts in this run, in the order in which they were raised
	began   time.Time              // when the first picture came
}

func newAlerting(cfg *Config, picture *picture, notices *notices) *alerting {
	a := &alerting{cfg: cfg, picture: picture, notices: notices, memory: cfg.Attention}
	a.memory.Off = slices.Clone(a.memory.Off)
	return a
}

// change changes what is remembered, here and for other runs.
func (a *alerting) change(do func(*attention.Memory)) {
	do(&a.memory)
	if a.cfg.Attend != nil {
		a.cfg.Attend(do)
	}
}

// off tells how an alert is put off, if it is.
func (a *alerting) off(alert account.Alert) (attention.Off, bool) {
	return a.memory.OffOf(alert, a.cfg.Now())
}

// settled is how long a run takes to raise again what was raised before it.
const settled = time.Minute

// judge finds the alerts that press, and reports whether others do than before. An
// acknowledgement ends with its alert; one of an earlier run when that does not stand
// any more.
func (a *alerting) judge(now time.Time) (others bool) {
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
	others = !slices.Equal(urgent, a.picture.urgent)
	a.picture.urgent = urgent
	return others
}

// attend does what has to do with what a person has seen and puts off, if that is
// what the action does.
func (m *Model) attend(id action.ID) bool {
	switch id {
	case action.Acknowledge:
		m.acknowledge()
	case action.Mute:
		m.openMute()
	case action.Digest:
		m.openDigest()
	default:
		return false
	}
	return true
}

// judgeAlerts has the board show which alerts press now.
func (m *Model) judgeAlerts() {
	if m.alerting.judge(m.cfg.Now()) && m.picture.frozen == nil {
		m.board.alerts.Arrange()
		m.board.countAlerts()
	}
}

// chosen are the alerts that stand under the cursor: in the list, or of the intent.
func (m *Model) chosenAlerts() []account.Alert {
	if m.board.focus == layout.Alerts {
		return m.board.alerts.Chosen()
	}
	in, ok := m.board.intentUnder()
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.picture.summary.Alerts), func(a account.Alert) bool { return a.Intent != in.ID })
}

// alertDisabled says why no alert can be put off.
func (m *Model) alertDisabled() string {
	if len(m.chosenAlerts()) > 0 {
		return ""
	}
	return "no alert under the cursor: " + m.cfg.Actions.KeyOf(action.FocusPane6) + " lists the alerts"
}

// acknowledge puts the alerts under the cursor off until they get worse, or takes
// that back where all of them are.
func (m *Model) acknowledge() {
	now, alerts := m.cfg.Now(), m.chosenAlerts()
	back := !slices.ContainsFunc(alerts, func(a account.Alert) bool { _, off := m.alerting.off(a); return !off })
	m.alerting.change(func(memory *attention.Memory) {
		for _, a := range alerts {
			if back {
				memory.Take(attention.KeyOf(a), false)
				memory.Take(attention.Key{Kind: a.Kind}, true)
			} else if _, off := memory.OffOf(a, now); !off {
				memory.Put(attention.Off{Key: attention.KeyOf(a), At: now, Pressing: attention.Pressing(a, now)})
			}
		}
	})
	what := "the alert"
	if len(alerts) > 1 {
		what = wording.Count(len(alerts)) + " alerts"
	}
	if back {
		m.notices.say(plain, what+": counted again")
	} else {
		m.notices.say(plain, what+": acknowledged, until it gets worse or comes anew")
	}
	m.showAlerts()
}

// showAlerts draws the board after alerts were put off.
func (m *Model) showAlerts() {
	m.alerting.judge(m.cfg.Now())
	m.board.alerts.Arrange()
	m.board.countAlerts()
	m.board.alerts.Invalidate()
}

// What a choice of the menu mutes, before how long.
const (
	mutesOne = "one "
	mutesAll = "all "
)

// muteTimes are how long an alert can be muted.
func muteTimes(now time.Time) []struct {
	words string
	until time.Time
} {
	year, month, day := now.Date()
	return []struct {
		words string
		until time.Time
	}{
		{"15 min", now.Add(15 * time.Minute)}, {"1 h", now.Add(time.Hour)},
		{"until tomorrow", time.Date(year, month, day+1, 0, 0, 0, 0, now.Location())},
	}
}

// openMute asks for how long the alerts under the cursor are to be muted.
func (m *Model) openMute() {
	alerts := m.chosenAlerts()
	what := "this alert"
	if len(alerts) > 1 {
		what = "these " + wording.Count(len(alerts)) + " alerts"
	}
	kinds := map[account.AlertKind]bool{}
	for _, a := range alerts {
		kinds[a.Kind] = true
	}
	var names []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		names = append(names, string(kind))
	}
	now := m.now()
	var items []dialog.Item
	for _, which := range []struct{ id, title string }{{mutesOne, what}, {mutesAll, "every alert of kind " + strings.Join(names, ", ")}} {
		for _, t := range muteTimes(now) {
			items = append(items, dialog.Item{ID: which.id + t.words, Title: which.title + ", " + t.words, Note: wording.Moment(t.until, now, m.cfg.Location)})
		}
	}
	m.dialog.choose(dialog.NewMenu(m.themes.current(), "Mute", "mute", action.Mute, items), func(option string) tea.Cmd {
		m.mute(alerts, option)
		return nil
	})
}

func (m *Model) mute(alerts []account.Alert, option string) {
	all := strings.HasPrefix(option, mutesAll)
	now := m.now()
	for _, t := range muteTimes(now) {
		if !strings.HasSuffix(option, t.words) {
			continue
		}
		m.alerting.change(func(memory *attention.Memory) {
			for _, a := range alerts {
				off := attention.Off{Key: attention.KeyOf(a), At: now, Until: t.until}
				if all {
					off.Key, off.All = attention.Key{Kind: a.Kind}, true
				}
				memory.Put(off)
			}
		})
		m.notices.say(plain, "muted until "+wording.Moment(t.until, now, m.cfg.Location)+"; "+m.cfg.Actions.KeyOf(action.Acknowledge)+" takes it back")
	}
	m.showAlerts()
}

// now is the time on the clock of the person.
func (m *Model) now() time.Time { return m.cfg.Now().In(m.cfg.Location) }

// countAlerts has the tabs say how many alerts press.
func (b *board) countAlerts() {
	if n := len(b.picture.urgent); n != b.look.Tabs.Alerts {
		b.look.Tabs.Alerts = n
		b.panes[b.tab].Invalidate()
	}
}

// unfold shows what the row under the cursor stands for, if it stands for many
// alerts.
func (b *board) unfold() bool {
	on := b.onFold()
	if on {
		b.alerts.Unfold()
	}
	return on
}

func (b *board) onFold() bool { return b.focus == layout.Alerts && b.alerts.OnFold() }
