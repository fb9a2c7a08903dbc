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

// alertSilence acknowledges or mutes the alerts under the cursor.
type alertSilence struct {
	*shared
	alerting *alerting
}

// update shows on the board which alerts are acknowledged or muted now.
func (s *alertSilence) update() {
	if s.alerting.update(s.cfg.Now()) && s.picture.frozen == nil {
		s.board.alerts.Arrange()
		s.board.countAlerts()
	}
}

// chosen returns the alerts under the cursor: in the list, or of the intent.
func (s *alertSilence) chosen() []account.Alert {
	if s.board.focus == layout.Alerts {
		if a, ok := s.board.alerts.Chosen(); ok {
			return []account.Alert{a}
		}
		return nil
	}
	in, ok := s.board.intentUnder()
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.picture.summary.Alerts), func(a account.Alert) bool { return a.Intent != in.ID })
}

// disabled says why no alert can be acknowledged or muted; "" if one can.
func (s *alertSilence) disabled() string {
	if len(s.chosen()) > 0 {
		return ""
	}
	return "no alert under the cursor: " + s.cfg.Actions.KeyOf(action.FocusPane6) + " lists the alerts"
}

// acknowledge acknowledges the alerts under the cursor until they get worse. If all of them are
// acknowledged or muted already, it takes that back.
func (s *alertSilence) acknowledge() {
	now, alerts := s.cfg.Now(), s.chosen()
	back := !slices.ContainsFunc(alerts, func(a account.Alert) bool { _, off := s.alerting.off(a); return !off })
	s.alerting.change(func(memory *attention.Memory) {
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
		s.notices.say(plain, what+": counted again")
	} else {
		s.notices.say(plain, what+": acknowledged, until it gets worse or comes back")
	}
	s.show()
}

// show updates the board after a change of what is acknowledged or muted.
func (s *alertSilence) show() {
	s.alerting.update(s.cfg.Now())
	s.board.alerts.Arrange()
	s.board.countAlerts()
	s.board.alerts.Invalidate()
}

// openMute asks for how long to mute the alerts under the cursor, or their kinds.
func (s *alertSilence) openMute() {
	alerts := s.chosen()
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
	now := s.now()
	var items []dialog.Item
	for all, title := range []string{what, "every alert of kind " + strings.Join(names, ", ")} {
		for _, t := range []struct {
			words string
			until time.Time
		}{
			{"15m", now.Add(15 * time.Minute)}, {"1h", now.Add(time.Hour)},
			{"until tomorrow", account.Midnight(now, 1)},
		} {
			items = append(items, dialog.Item{Title: title + ", " + t.words, Note: wording.Moment(t.until, now, s.cfg.Location), Do: func() tea.Cmd {
				s.mute(alerts, all > 0, t.until)
				return nil
			}})
		}
	}
	s.dialog.shown = dialog.NewMenu("Mute", "mute", action.Mute, items)
}

// mute mutes alerts, or all of their kinds.
func (s *alertSilence) mute(alerts []account.Alert, all bool, until time.Time) {
	now := s.now()
	s.alerting.change(func(memory *attention.Memory) {
		for _, a := range alerts {
			off := attention.Off{Key: attention.KeyOf(a), At: now, Until: until}
			if all {
				off.Key, off.All = attention.Key{Kind: a.Kind}, true
			}
			memory.Put(off)
		}
	})
	s.notices.say(plain, "muted until "+wording.Moment(until, now, s.cfg.Location)+"; "+s.cfg.Actions.KeyOf(action.Acknowledge)+" takes it back")
	s.show()
}

// now returns the time in the person's time zone.
func (s *alertSilence) now() time.Time { return s.cfg.Now().In(s.cfg.Location) }
