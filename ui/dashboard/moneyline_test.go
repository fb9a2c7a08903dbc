package dashboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/action"
)

// moneyRow is the line of its own below the header; "" if there is none.
func moneyRow(m *Model) string {
	lines := strings.Split(screen(m), "\n")
	if m.board.layout.Money.Empty() {
		return ""
	}
	return strings.TrimSpace(lines[m.board.layout.Money.Y])
}

// tells gives the board what the audit log says.
func (s *shop) tells(m *Model, all ...*account.Confirm) {
	s.touch(func() { s.changes.Summary.Confirms = all })
	m.Update(changesMsg{s.Changes(0)})
}

// waiting is an intent of the shop that awaits confirmation.
func (s *shop) waiting(t *testing.T) *account.Intent {
	t.Helper()
	i := slices.IndexFunc(s.changes.Intents, func(in *account.Intent) bool {
		return in.State == api.AwaitingConfirmation && in.Certainty == account.Verified
	})
	if i < 0 {
		t.Fatal("no intent awaits confirmation")
	}
	return s.changes.Intents[i]
}

// At every size the line says what may have been bought, how much, and what comes next; and its ending stays until a
// person has seen it.
func TestAConfirmInDoubtHasALineUntilItsEndingWasSeen(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}, {40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			s := typicalShop(time.Now())
			in := s.waiting(t)
			var kept attention.Memory
			m := boardOf(t, s, size[0], size[1], armed(&guard{}), func(c *Config) { c.Attend = func(do func(*attention.Memory)) { do(&kept) } })
			if got := moneyRow(m); got != "" {
				t.Errorf("%v: without a confirm it says %q", size, got)
			}
			c := account.Confirm{Attempt: "A", Intent: in.ID, Product: "Bike Lights, Pair", Total: "73.82 USD", Sent: time.Now()}
			s.tells(m, &c)
			if got := moneyRow(m); !strings.HasPrefix(got, "▸ CONFIRMING  Bike") {
				t.Errorf("%v: under way it says %q", size, got)
			}
			lost := c
			lost.Answered, lost.Answer, lost.Reads, lost.Shown = time.Now(), "500", 7, api.AwaitingConfirmation
			s.tells(m, &lost)
			got := moneyRow(m)
			for _, want := range []string{"UNKNOWN", "Bike", "73.82 USD", "3m12s"} {
				if !strings.Contains(got, want) {
					t.Errorf("%v: in doubt it says %q, without %q", size, got, want)
				}
			}
			if size[0] >= 120 && !strings.Contains(got, "73.82 USD  do not buy it again · it may have been bought") {
				t.Errorf("%v: in doubt it says %q", size, got)
			}
			if size[0] == 200 && !strings.Contains(got, "7 reads since show it awaiting confirmation") {
				t.Errorf("%v: in doubt it says %q", size, got)
			}
			press(m, "esc")
			if got := moneyRow(m); !strings.HasPrefix(got, "? ") {
				t.Errorf("%v: esc takes it away: %q", size, got)
			}
			ended := lost
			ended.Ended, ended.End = time.Now(), account.ConfirmNotDone
			s.tells(m, &ended)
			time.Sleep(time.Hour)
			m.Update(tickMsg{})
			if got := moneyRow(m); !strings.HasPrefix(got, "○ NOT TAKEN: nothing was bought") {
				t.Errorf("%v: an hour after it was settled it says %q", size, got)
			}
			press(m, "esc")
			if got := moneyRow(m); got != "" || !slices.Contains(kept.Endings, "A") {
				t.Errorf("%v: once it was seen it says %q, and %v is kept", size, got, kept.Endings)
			}
			restarted := boardOf(t, s, size[0], size[1], func(c *Config) { c.Attention = kept })
			if got := moneyRow(restarted); got != "" {
				t.Errorf("%v: the next run says %q", size, got)
			}
		})
	}
}

func TestTheLoudestConfirmIsOnTheLineFirst(t *testing.T) {
	now := time.Now()
	unknown := &account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Sent: now.Add(-time.Minute)}
	older := &account.Confirm{Attempt: "B", Intent: "ci_2", Product: "Lamp", Sent: now.Add(-2 * time.Minute)}
	going := &account.Confirm{Attempt: "C", Intent: "ci_3", Product: "Socks", Sent: now}
	placed := &account.Confirm{Attempt: "D", Intent: "ci_4", Product: "Tote", Sent: now.Add(-time.Hour), Answered: now.Add(-time.Hour), Ended: now, End: account.ConfirmPlaced}
	quiet := &account.Confirm{Attempt: "E", Intent: "ci_5", Product: "Pens", Sent: now.Add(-time.Hour), Ended: now.Add(-time.Hour), End: account.ConfirmPlaced}
	refused := &account.Confirm{Attempt: "F", Intent: "ci_6", Product: "Kettle", Sent: now.Add(-time.Minute), Answered: now, Ended: now, End: account.ConfirmRefused}
	olderRefused := &account.Confirm{Attempt: "G", Intent: "ci_7", Product: "Lamp", Sent: now.Add(-2 * time.Hour), Answered: now, Ended: now, End: account.ConfirmRefused}
	for _, c := range []struct {
		name string
		all  []*account.Confirm
		want string
	}{
		{"the oldest unknown one", []*account.Confirm{unknown, older, going, placed}, "? OUTCOME UNKNOWN  Lamp"},
		{"one under way before an ending", []*account.Confirm{going, placed}, "▸ CONFIRMING  Socks"},
		{"an ending", []*account.Confirm{placed, quiet}, "✓ PLACED  Tote"},
		{"the worst of several endings", []*account.Confirm{placed, refused, olderRefused}, "✕ REFUSED: nothing was bought  Kettle"},
		{"nothing where nothing was in doubt", []*account.Confirm{quiet}, ""},
	} {
		s := typicalShop(now)
		m := boardOf(t, s, 160, 45)
		s.tells(m, c.all...)
		if got := moneyRow(m); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: it says %q", c.name, got)
		}
		if more := strings.Contains(moneyRow(m), "+ 1 more"); more != strings.Contains(c.name, "oldest") && !strings.Contains(c.name, "several") {
			t.Errorf("%s: it says %q", c.name, moneyRow(m))
		}
	}
}

// A later confirm takes an ending's place, an order that came after all is as loud as an unknown outcome, and a run
// that cannot settle anything promises nothing.
func TestTheLineSaysNothingThatIsNoLongerTrue(t *testing.T) {
	now := time.Now()
	ended := func(end account.ConfirmEnd) *account.Confirm {
		return &account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Sent: now.Add(-time.Hour), Answered: now.Add(-time.Hour), Ended: now.Add(-time.Minute), End: end}
	}
	later := &account.Confirm{Attempt: "B", Intent: "ci_1", Product: "Mug", Sent: now.Add(-time.Second), Ended: now, End: account.ConfirmPlaced}
	unknown := &account.Confirm{Attempt: "C", Intent: "ci_1", Product: "Mug", Sent: now, Answered: now, Where: "elsewhere"}
	here := &account.Confirm{Attempt: "D", Intent: "ci_1", Product: "Mug", Sent: now, Answered: now}
	for name, c := range map[string]struct {
		all  []*account.Confirm
		want string
	}{
		"an ending":                         {[]*account.Confirm{ended(account.ConfirmNotDone)}, "○ NOT TAKEN: nothing was bought"},
		"an ending, and a later confirm":    {[]*account.Confirm{later, ended(account.ConfirmNotDone)}, ""},
		"an order after all":                {[]*account.Confirm{ended(account.ConfirmLate)}, "! BOUGHT AFTER ALL"},
		"an order that failed":              {[]*account.Confirm{ended(account.ConfirmFailed)}, "✕ THE ORDER FAILED"},
		"unknown, sent to another address":  {[]*account.Confirm{unknown}, "a run on elsewhere settles it"},
		"unknown, and this run may not ask": {[]*account.Confirm{here}, "a run with --allow-confirm settles it"},
	} {
		s := typicalShop(now)
		m := boardOf(t, s, 160, 45)
		s.tells(m, c.all...)
		if got := moneyRow(m); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: it says %q", name, got)
		}
	}
}

// A dialog leaves the line as it is.
func TestADialogDoesNotCoverWhatMayHaveBeenBought(t *testing.T) {
	s := typicalShop(time.Now())
	m := boardOf(t, s, 120, 36)
	s.tells(m, &account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Sent: time.Now().Add(-time.Minute)})
	y := m.board.layout.Money.Y
	before := strings.Split(drawing(m), "\n")[y]
	press(m, "?")
	if after := strings.Split(drawing(m), "\n")[y]; after != before {
		t.Errorf("behind the help it is %q, and was %q", after, before)
	}
}

func TestTheDetailTellsWhatBecameOfAConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := typicalShop(time.Now())
		in := s.waiting(t)
		m := boardOf(t, s, 200, 55, armed(&guard{}))
		c := account.Confirm{Attempt: "A", Intent: in.ID, Run: "tillwatch confirm, process 7", Product: "Mug", Total: "12.90 USD", Sent: time.Now(),
			Answered: time.Now(), Answer: "500 Internal Server Error", Reads: 7, Shown: api.AwaitingConfirmation}
		s.tells(m, &c)
		m.board.intents.Select(in.ID)
		press(m, "enter")
		got := screen(m)
		for _, want := range []string{"? CONFIRM: the outcome is unknown", "by tillwatch confirm, process 7, for 12.90 USD", "500 Internal Server Error",
			"7 reads since show it awaiting", "do not buy it again"} {
			if !strings.Contains(got, want) {
				t.Errorf("the detail does not say %q:\n%s", want, got)
			}
		}
		c.Ended, c.End = time.Now(), account.ConfirmNotDone
		s.tells(m, &c)
		if got := screen(m); !strings.Contains(got, "not taken: nothing was bought") || strings.Contains(got, "? CONFIRM") {
			t.Errorf("once it is settled the detail says\n%s", got)
		}
	})
}

// The next dialog says first what became of the earlier confirm, and has the yes typed on a stand-in, too; so does one
// for several.
func TestTheNextDialogBeginsWithTheEarlierConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		end  account.ConfirmEnd
		says string
	}{
		"unknown":   {"", "its outcome is unknown: it may have been bought. 7 reads since"},
		"not taken": {account.ConfirmNotDone, "and ended: not taken: nothing was bought"},
	} {
		for _, several := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := typicalShop(time.Now())
					in := s.waiting(t)
					g := &guard{answer: func(context.Context) confirm.Outcome { return confirm.Outcome{Verdict: confirm.Accepted} }}
					m := boardOf(t, s, 200, 55, armed(g))
					earlier := account.Confirm{Attempt: "A", Intent: in.ID, Sent: time.Now(), Answered: time.Now(), Reads: 7, Shown: api.AwaitingConfirmation}
					if c.end != "" {
						earlier.Ended, earlier.End = time.Now(), c.end
					}
					s.tells(m, &earlier)
					m.board.intents.Select(in.ID)
					if several {
						press(m, "x", "X")
					} else {
						press(m, "c")
					}
					if m.dialog.confirm() == nil {
						t.Fatalf("no dialog: %s", m.disabled(action.Confirm))
					}
					got := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "\n", " ").Replace(screen(m))), " ")
					for _, word := range strings.Fields(c.says) {
						if !strings.Contains(got, word) {
							t.Errorf("it does not say %q:\n%s", c.says, screen(m))
							break
						}
					}
					rest(m)
					settle(m, press(m, "C"))
					if len(g.asked) > 0 {
						t.Error("C alone confirms")
					}
				})
			})
		}
	}
}

// Esc and quitting take back what is not written down; nothing is sent after them.
func TestWhatIsNotWrittenDownIsTakenBack(t *testing.T) {
	for name, leave := range map[string][]string{"esc": {"esc"}, "ctrl+c": {"ctrl+c"}, "esc, then q": {"esc", "q"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := make(chan confirm.Proposal, 1)
				m := boardOf(t, typicalShop(time.Now()), 200, 55, func(c *Config) {
					c.Armed, c.Confirmer = true, confirmerFunc(func(p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome {
						progress(confirm.Progress{Stage: confirm.Rereading, Try: 1})
						asked <- p
						<-p.Withdrawn
						return confirm.Outcome{Verdict: confirm.NotSent, Err: errors.New("it was canceled before it was written down")}
					})
				})
				press(m, "c")
				rest(m)
				_, cmd := m.Update(press(m, "C")())
				<-asked
				press(m, leave...)
				settle(m, cmd)
				m.confirms.running.Wait()
				if run := m.confirms.runs[m.board.subject().ID]; run.underway() || run.unsure {
					t.Errorf("it is %+v", run)
				}
				if leave[0] == "esc" && !strings.Contains(screen(m), "not") {
					t.Errorf("nothing says that nothing was sent:\n%s", screen(m))
				}
			})
		})
	}
}

type confirmerFunc func(p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome

func (f confirmerFunc) Confirm(_ context.Context, p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome {
	return f(p, progress)
}

func TestTheDigestTellsOfConfirmsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietShop()
		m := boardOf(t, s, 120, 36)
		time.Sleep(time.Minute)
		sent := time.Now()
		ended := &account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Total: "12.90 USD", Sent: sent, Answered: sent, Ended: sent.Add(time.Second), End: account.ConfirmNotDone}
		open := &account.Confirm{Attempt: "B", Intent: "ci_2", Product: "Lamp", Total: "1.00 USD", Sent: sent, Answered: sent}
		time.Sleep(time.Minute)
		s.tells(m, open, ended)
		press(m, "D")
		got := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "\n", " ").Replace(screen(m))), " ")
		for _, want := range []string{"Lamp, 1.00 USD, sent", "buy it again", "Mug, 12.90 USD, sent", "not taken: nothing was"} {
			if !strings.Contains(got, want) {
				t.Errorf("the digest does not say %q:\n%s", want, screen(m))
			}
		}
	})
}
