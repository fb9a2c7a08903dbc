package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// pulsedShop is an account that has been watched since yesterday morning.
func pulsedShop(now time.Time) *shop {
	s := typicalShop(now)
	s.changes.Summary.Known = now.Add(-30 * time.Hour)
	n := 1000
	ended := func(ago, took time.Duration, state api.IntentState, code api.FailureCode) {
		in := s.intent(n, state, ago)
		n++
		in.EndedAt, in.OfferedAt, in.ConfirmedAt = now.Add(-ago), now.Add(-ago-2*took), now.Add(-ago-took)
		in.CreatedAt = in.OfferedAt.Add(-9 * time.Second)
		if state == api.Failed {
			in.Failure = &api.FailureReason{Code: code}
		}
	}
	for i := range 40 {
		ended(time.Duration(i*i)*time.Minute/2, time.Duration(20+i)*time.Second, api.Completed, "")
		ended(time.Duration(25*60+i*i)*time.Minute/2+12*time.Hour, time.Duration(30+i)*time.Second, api.Completed, "")
	}
	for i := range 9 {
		ended(time.Duration(3+i*17)*time.Minute, time.Minute, api.Failed, "payment_declined")
		ended(time.Duration(3+i*29)*time.Minute, time.Minute, api.Failed, "checkout_intent_expired")
	}
	s.changes.Summary.Latency = []account.Latency{{
		Class: quota.Reads, Unanswered: 2, Recent: account.Pace{Count: 254, P50: 41 * time.Millisecond, P95: 180 * time.Millisecond},
	}}
	return s
}

// afternoon is the time of day of a bubble in which a day has something to tell.
func afternoon() { time.Sleep(14*time.Hour + 2*time.Minute) }

func TestThePulseLooksAsItShould(t *testing.T) {
	sizes := append(slices.Clone(everySize), [2]int{40, 12})
	looksAsItShould(t, sizes, pulsedShop, []sight{{"board", nil}, {"hour", []string{"P"}}, {"day", []string{"P", "w"}}}, afternoon)
}

func TestWhatIsNotKnownOfThePulseIsNotNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		afternoon()
		s := pulsedShop(time.Now())
		s.changes.Summary.Known = time.Now().Add(-20 * time.Minute)
		m := boardOf(t, s, 160, 45)
		press(m, "P")
		got := screen(m)
		for _, want := range []string{"watched since 13:42", "not known", "≥"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		s.changes.Summary.Known = time.Time{}
		m = boardOf(t, s, 160, 45)
		if press(m, "P"); !strings.Contains(screen(m), "how the account is doing is not known yet") {
			t.Errorf("screen:\n%s", screen(m))
		}
	})
}

func TestWhereNothingFindsIntentsMoreMayAwaitADecision(t *testing.T) {
	s := typicalShop(time.Now())
	s.changes.Summary.Known = time.Now().Add(-20 * time.Minute)
	s.changes.Summary.Feed, s.changes.Summary.LastEvent = account.FeedStatus{State: account.FeedOff}, time.Time{}
	s.changes.Summary.List = account.ListStatus{State: account.ListNotServed}
	of := func(s *shop) string {
		m := boardOf(t, s, 200, 55)
		press(m, "P")
		return screen(m)
	}
	if got := of(s); !regexp.MustCompile(`awaiting +≥[0-9,.]+ USD`).MatchString(got) {
		t.Errorf("the value of what awaits is a lower bound:\n%s", got)
	}
	s.changes.Intents = nil
	if got := of(s); !regexp.MustCompile(`awaiting +not known`).MatchString(got) {
		t.Errorf("some may await a decision:\n%s", got)
	}
	if got := screen(boardOf(t, s, 200, 55)); !strings.Contains(got, "awaiting –") || strings.Contains(got, "0/h") {
		t.Errorf("a rate stands beside an unknown count:\n%s", got)
	}
}

func TestThePulseOfANewDayIsNotEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		afternoon()
		for _, c := range []struct {
			name  string
			known time.Duration // before now
			size  [2]int
			want  []string
		}{
			{"both spans, watched for long", 48 * time.Hour, [2]int{200, 55}, []string{"nothing ended in the last 60m", "last 24h", "nothing ended in the last 24h"}},
			{"both spans, just begun", 5 * time.Minute, [2]int{200, 55}, []string{"not watched before 13:57", "last 24h", "not watched before 13:57"}},
			{"one span", 5 * time.Minute, [2]int{120, 36}, []string{"not watched before 13:57"}},
			{"on the board", 5 * time.Minute, [2]int{80, 24}, []string{"not watched before 13:57"}},
		} {
			s := newShop(time.Now())
			s.changes.Summary.Known = time.Now().Add(-c.known)
			m := boardOf(t, s, c.size[0], c.size[1])
			press(m, "P")
			if got := screen(m); !inOrder(got, c.want...) {
				t.Errorf("%s: the pulse says\n%s", c.name, got)
			}
		}
	})
}

func TestThePulseIsWorkedOutOnlyIfItsIntentsChange(t *testing.T) {
	for name, c := range map[string]struct {
		change func(in *account.Intent)
		anew   bool
	}{
		"read again":         {change: func(in *account.Intent) { in.ReadAt, in.Reads = in.ReadAt.Add(time.Second), in.Reads+1 }},
		"only in its detail": {change: func(*account.Intent) {}},
		"another total":      {change: func(in *account.Intent) { in.Total = &api.Money{Currency: "USD", Subunits: 1} }, anew: true},
		"ended":              {change: func(in *account.Intent) { in.State, in.EndedAt = api.Completed, time.Now() }, anew: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				afternoon()
				s := pulsedShop(time.Now())
				m := boardOf(t, s, 200, 55)
				m.View()
				first := m.board.pulseCache.pulse.At
				in := *s.changes.Intents[4]
				in.Version++
				c.change(&in)
				time.Sleep(time.Second)
				m.Update(changesMsg{account.Changes{Version: 2, Intents: []*account.Intent{&in}, Summary: s.changes.Summary}})
				m.Update(tickMsg{})
				m.View()
				if anew := !m.board.pulseCache.pulse.At.Equal(first); anew != c.anew {
					t.Errorf("worked out anew: %v", anew)
				}
			})
		})
	}
}

// Where ends may be missing for good, the pulse counts at least so many.
func TestThePulseSaysThatMoreMayHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		afternoon()
		whole, lost := pulsedShop(time.Now()), pulsedShop(time.Now())
		lost.changes.Summary.Gaps, lost.changes.Summary.List.State = 1, account.ListNotServed
		figures := regexp.MustCompile(`(≥?)\d+ completed ↑|(?m)^ *completed +(≥?)\d`)
		for _, keys := range [][]string{{"P"}, {"P", "w"}} {
			for want, s := range map[int]*shop{0: whole, 2: lost} {
				m := boardOf(t, s, 160, 45)
				press(m, keys...)
				got := screen(m)
				marked := 0
				for _, figure := range figures.FindAllString(got, -1) {
					marked += strings.Count(figure, "≥")
				}
				if len(figures.FindAllString(got, -1)) != 2 || marked != want {
					t.Errorf("after %v %d of the figures are at least, want %d:\n%s", keys, marked, want, got)
				}
			}
		}
	})
}
