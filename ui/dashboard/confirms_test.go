package dashboard

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
)

// guard is a Confirmer that a test answers for.
type guard struct {
	asked  []confirm.Proposal
	stages []confirm.Stage
	answer func(ctx context.Context) confirm.Outcome
}

func (g *guard) Confirm(ctx context.Context, p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome {
	g.asked = append(g.asked, p)
	for _, s := range g.stages {
		progress(confirm.Progress{Stage: s})
	}
	return g.answer(ctx)
}

func armed(g *guard) func(*Config) {
	return func(c *Config) { c.Armed, c.Confirmer = true, g }
}

// answer is the terminal's to the question for its attributes.
var answer = uv.PrimaryDeviceAttributesEvent{62}

// rest lets two seconds pass in which no key is pressed, with what the program
// would send meanwhile.
func rest(m *Model) {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		m.Update(quietMsg{m.dialog.turn})
		m.Update(answer)
	}
}

// settle runs commands until there is none, as the program would.
func settle(m *Model, cmd tea.Cmd) {
	for cmd != nil {
		_, cmd = m.Update(cmd())
	}
}

func TestAnIntentIsConfirmedByItsDialogAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{stages: []confirm.Stage{confirm.Rereading, confirm.Recording, confirm.Sending},
			answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
		s := typicalShop(time.Now())
		m := boardOf(t, s, 200, 55, armed(g))
		want, _ := s.Intent(m.board.subject().ID)
		press(m, "c")
		if m.dialog.confirm() == nil || !strings.Contains(screen(m), "Confirm order") {
			t.Fatalf("no dialog:\n%s", screen(m))
		}
		settle(m, press(m, "C", "enter", "y"))
		if len(g.asked) > 0 {
			t.Fatal("typed-ahead keys confirmed")
		}
		press(m, "esc")
		rest(m)
		press(m, "c")
		rest(m)
		settle(m, press(m, "C"))
		if len(g.asked) != 1 || g.asked[0].ID != want.ID || g.asked[0].Total != *want.Total || g.asked[0].Environment != "staging" {
			t.Fatalf("asked for %+v, want %s once", g.asked, want.ID)
		}
		if got := screen(m); !strings.Contains(got, "Mug: confirmed: ") {
			t.Errorf("no word of the outcome:\n%s", got)
		}
		m.confirms.running.Wait()
	})
}

func TestALiveEnvironmentHasTheTotalTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
		m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g), func(c *Config) { c.Live = true })
		press(m, "c")
		rest(m)
		settle(m, press(m, "C"))
		rest(m)
		settle(m, press(m, "enter"))
		if len(g.asked) > 0 {
			t.Fatal("confirmed real money without a word typed")
		}
		press(m, "esc")
	})
}

func TestTheRowSaysHowAConfirmEnded(t *testing.T) {
	cases := []struct {
		outcome confirm.Outcome
		row     string
		toast   string
	}{
		{confirm.Outcome{Verdict: confirm.Unknown, Err: errors.New("timeout")}, "? unknown", "outcome unknown: it may have been placed"},
		{confirm.Outcome{Verdict: confirm.Changed}, "changed", "the intent changed since you looked"},
		{confirm.Outcome{Verdict: confirm.Refused}, "✕ refused", "nothing was placed"},
		{confirm.Outcome{Verdict: confirm.NotSent}, "· not sent", "nothing was sent"},
		{confirm.Outcome{Verdict: confirm.NotSent, Unsettled: true}, "? unknown", "the outcome of an earlier confirm is not known yet"},
		{confirm.Outcome{Verdict: confirm.Accepted, Differences: []confirm.Difference{{What: "total", Seen: "12.90 USD", Now: "99.00 USD"}}}, "accepted", "total was 12.90 USD, is 99.00 USD"},
		{confirm.Outcome{Verdict: confirm.Accepted, Intent: &api.Intent{State: api.Failed}}, "accepted", "! Mug: confirmed, but the order failed"},
		{confirm.Outcome{Verdict: confirm.Already}, "already confirmed", "already confirmed: nothing was sent"},
	}
	for _, c := range cases {
		t.Run(c.toast, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guard{answer: func(context.Context) confirm.Outcome { return c.outcome }}
				m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
				press(m, "c")
				rest(m)
				settle(m, press(m, "C"))
				rest(m)
				press(m, "esc")
				got := screen(m)
				if !strings.Contains(got, c.row) || !strings.Contains(got, c.toast) {
					t.Errorf("the board does not say %q and %q:\n%s", c.row, c.toast, got)
				}
				again := m.disabled(action.Confirm)
				if unsure := c.outcome.Verdict == confirm.Unknown; unsure != strings.Contains(again, "unknown") {
					t.Errorf("confirming again: %q", again)
				}
			})
		})
	}
}

func TestAPanicOfAConfirmIsAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{answer: func(context.Context) confirm.Outcome { panic("lost") }}
		m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
		press(m, "c")
		rest(m)
		settle(m, press(m, "C"))
		if run := m.confirms.runs[m.board.subject().ID]; run == nil || !run.unsure {
			t.Errorf("run = %+v, want an unknown outcome", run)
		}
	})
}

func TestQuittingAsksOnceWhileAConfirmIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := &guard{stages: []confirm.Stage{confirm.Sending}, answer: func(context.Context) confirm.Outcome {
			<-release
			return confirm.Outcome{Verdict: confirm.Accepted}
		}}
		m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
		press(m, "c")
		rest(m)
		_, cmd := m.Update(press(m, "C")())
		press(m, "esc")
		if got := press(m, "q"); got != nil {
			t.Error("the first q quits")
		}
		if !strings.Contains(screen(m), "quit again to leave") {
			t.Error("nothing says why q did not quit")
		}
		if press(m, "c"); m.dialog.confirm() == nil || !strings.Contains(screen(m), "▸ Send") {
			t.Errorf("c does not show again how far it is:\n%s", screen(m))
		}
		rest(m)
		press(m, "C", "esc")
		if len(g.asked) != 1 {
			t.Errorf("%d confirms were asked for", len(g.asked))
		}
		if got := press(m, "q"); got == nil {
			t.Error("the second q does not quit")
		}
		close(release)
		settle(m, cmd)
	})
}

func TestConfirmSaysWhyItCannot(t *testing.T) {
	now := time.Now()
	g := &guard{}
	find := func(s *shop, state api.IntentState) *account.Intent {
		for _, in := range s.changes.Intents {
			if in.State == state && in.Certainty == account.Verified {
				return in
			}
		}
		return nil
	}
	cases := []struct {
		name   string
		config func(*Config)
		state  api.IntentState
		change func(*shop, *account.Intent)
		want   string
	}{
		{"read-only", func(*Config) {}, api.AwaitingConfirmation, nil, "read-only: start with --allow-confirm"},
		{"armed without a confirmer", func(c *Config) { c.Armed = true }, api.AwaitingConfirmation, nil, "read-only"},
		{"possible", armed(g), api.AwaitingConfirmation, nil, ""},
		{"placing", armed(g), api.PlacingOrder, nil, "not awaiting confirmation"},
		{"reported", armed(g), api.AwaitingConfirmation, func(_ *shop, in *account.Intent) { in.Certainty = account.Reported }, "not verified yet"},
		{"gone", armed(g), api.AwaitingConfirmation, func(_ *shop, in *account.Intent) { in.Missing = true }, "no longer knows it"},
		{"over", armed(g), api.AwaitingConfirmation, func(s *shop, in *account.Intent) {
			in.CreatedAt = now.Add(-time.Hour)
			s.reads[in.ID].CreatedAt = in.CreatedAt
		}, "window has closed"},
		{"over, says a clock that is wrong", armed(g), api.AwaitingConfirmation, func(s *shop, in *account.Intent) {
			in.CreatedAt = now.Add(-time.Hour)
			s.reads[in.ID].CreatedAt = in.CreatedAt
			s.changes.Summary.Alerts = append(s.changes.Summary.Alerts, account.Alert{Kind: account.AlertClock, Text: "ahead"})
		}, ""},
		{"no total", armed(g), api.AwaitingConfirmation, func(s *shop, in *account.Intent) {
			s.reads[in.ID].Offer = nil
		}, "no total"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(now)
			in := *find(s, c.state)
			if c.change != nil {
				c.change(s, &in)
			}
			s.put(&in)
			m := boardOf(t, s, 200, 55, c.config)
			if !m.board.intents.Select(in.ID) {
				t.Fatal("the intent is not on the board")
			}
			m.board.setFocus(layout.Intents)
			got := m.disabled(action.Confirm)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
			press(m, "c")
			if open := m.dialog.open(); open != (c.want == "") {
				t.Errorf("dialog open: %t", open)
			}
			if c.want != "" && !strings.Contains(screen(m), c.want) {
				t.Errorf("the board does not say %q", c.want)
			}
		})
	}
}

func TestTheFirstKeyOfADialogWaitsForAMessageBehindIt(t *testing.T) {
	cases := []struct {
		name string
		act  func(m *Model, turn quietMsg)
		want int // orders asked for by a C after it
	}{
		{"a stall, and a key that was typed within it", func(*Model, quietMsg) { time.Sleep(5 * time.Second) }, 0},
		{"quiet, its message and the answer", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(5 * time.Second)
			m.Update(answer)
		}, 1},
		{"quiet, its message and no answer yet", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(1900 * time.Millisecond)
		}, 0},
		{"a terminal that never answers", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(2 * time.Second)
			m.Update(silenceMsg(turn))
		}, 1},
		{"a terminal that has answered before", func(m *Model, turn quietMsg) {
			m.Update(answer)
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(2 * time.Second)
			m.Update(silenceMsg(turn))
			time.Sleep(time.Second)
		}, 0},
		{"an answer without a question", func(m *Model, _ quietMsg) {
			time.Sleep(time.Second)
			m.Update(answer)
		}, 0},
		{"the answer to the question of another dialog", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			press(m, "esc", "c")
			time.Sleep(time.Second)
			m.Update(answer)
			time.Sleep(time.Second)
		}, 0},
		{"a key between the question and the answer", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(10 * time.Millisecond)
			press(m, "x")
			m.Update(answer)
			time.Sleep(time.Second)
		}, 0},
		{"such a key, and quiet after it", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(10 * time.Millisecond)
			press(m, "x")
			m.Update(answer)
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			m.Update(answer)
			time.Sleep(time.Second)
		}, 1},
		{"the message of another dialog", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(quietMsg{turn.turn - 1})
			m.Update(answer)
		}, 0},
		{"a message that was held up as well", func(m *Model, turn quietMsg) {
			time.Sleep(5 * time.Second)
			m.Update(turn)
			press(m, "C") // typed in the stall, so it stands before the answer
			m.Update(answer)
		}, 0},
		{"a terminal that never answers, and the end of the wait held up", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			time.Sleep(5 * time.Second)
			m.Update(silenceMsg(turn))
		}, 0},
		{"a key before the message", func(m *Model, turn quietMsg) {
			time.Sleep(300 * time.Millisecond)
			press(m, "x")
			time.Sleep(100 * time.Millisecond)
			m.Update(turn)
			time.Sleep(time.Second)
		}, 0},
		{"a paste before the message", func(m *Model, turn quietMsg) {
			time.Sleep(300 * time.Millisecond)
			m.Update(tea.PasteMsg{Content: "C"})
			time.Sleep(100 * time.Millisecond)
			m.Update(turn)
			time.Sleep(time.Second)
		}, 0},
		{"a paste after the message, and a stall", func(m *Model, turn quietMsg) {
			time.Sleep(400 * time.Millisecond)
			m.Update(turn)
			m.Update(answer)
			m.Update(tea.PasteMsg{Content: "C"})
			time.Sleep(5 * time.Second)
		}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
				m := boardOf(t, typicalShop(time.Now()), 200, 55, armed(g))
				cmd := press(m, "c")
				if cmd == nil {
					t.Fatal("nothing waits behind the keys")
				}
				c.act(m, quietMsg{m.dialog.turn})
				settle(m, press(m, "C"))
				if len(g.asked) != c.want {
					t.Errorf("%d orders asked for, want %d:\n%s", len(g.asked), c.want, screen(m))
				}
			})
		})
	}
}

func TestTheBoardSaysAtOnceThatAKeyCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boardOf(t, typicalShop(time.Now()), 120, 36, armed(&guard{}))
		press(m, "c", "C")
		time.Sleep(2 * time.Second)
		m.Update(tickMsg{})
		if shown := screen(m); !strings.Contains(shown, "Too soon: ignored. Wait a moment.") {
			t.Fatalf("before the terminal has answered, a key counts:\n%s", shown)
		}
		m.Update(quietMsg{m.dialog.turn})
		m.Update(answer)
		if shown := screen(m); !strings.Contains(shown, "Too soon: ignored. Press it again.") {
			t.Errorf("it still has one wait:\n%s", shown)
		}
	})
}
