package account

import (
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// From the first answer on, the service's clock says whether a window is about to close.
func TestNoWindowSeemsToCloseByAClockThatIsWrong(t *testing.T) {
	const hour = time.Hour
	for name, test := range map[string]struct {
		left    time.Duration   // until the window closes, by this machine's clock
		ahead   []time.Duration // of this machine's clock, at one answer after another
		taken   time.Duration   // for how far it is ahead
		expires bool
	}{
		"before any answer":                     {5 * time.Minute, nil, 0, true},
		"right":                                 {5 * time.Minute, []time.Duration{0}, 0, true},
		"ahead, at the first answer":            {5 * time.Minute, []time.Duration{hour}, hour, false},
		"ahead, as three answers say":           {5 * time.Minute, []time.Duration{0, hour, hour, hour}, hour, false},
		"behind, at the first answer":           {30 * time.Minute, []time.Duration{-25 * time.Minute}, -25 * time.Minute, true},
		"right, and one differs as after sleep": {30 * time.Minute, []time.Duration{0, -hour}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewStore(StoreConfig{})
				s.ApplyRead(awaiting("ci_1", time.Now().Add(test.left-api.ConfirmWindow)), time.Now(), ByRead)
				for _, ahead := range test.ahead {
					s.RecordExchange(api.Exchange{Status: 200, Sent: time.Now(), Date: time.Now().Add(-ahead)})
				}
				s.tick(time.Now())
				if off := s.Summary().Ahead; (off - test.taken).Abs() > time.Second {
					t.Errorf("it is taken for %v ahead, want %v", off, test.taken)
				}
				n, a := stands(s, AlertExpiring)
				if (n == 1) != test.expires {
					t.Errorf("%d alerts: %+v", n, a)
				}
				if due := time.Until(a.Due); n == 1 && (due-5*time.Minute).Abs() > time.Second {
					t.Errorf("it says that the window closes in %v", due)
				}
			})
		})
	}
}

func TestAClockIsWrongWhenThreeAnswersAgreeBeyondDoubt(t *testing.T) {
	sent := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	answer := func(ahead, latency time.Duration) api.Exchange {
		return api.Exchange{Sent: sent, Latency: latency, Date: sent.Add(latency/2 - ahead).Truncate(time.Second)}
	}
	undated := api.Exchange{Sent: sent, Latency: time.Second}
	tests := []struct {
		name    string
		answers []api.Exchange
		want    time.Duration // ahead, to the second; 0: right
	}{
		{"never asked", nil, 0},
		{"right", []api.Exchange{answer(0, time.Second), answer(time.Second, time.Second), answer(-time.Second, 0)}, 0},
		{"within what ages show", []api.Exchange{answer(19*time.Second, 0), answer(19*time.Second, 0), answer(19*time.Second, 0)}, 0},
		{"ahead", []api.Exchange{answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Hour, 0)}, time.Hour},
		{"behind", []api.Exchange{answer(-time.Minute, 0), answer(-time.Minute, 0), answer(-time.Minute, 0)}, -time.Minute},
		{"two answers alone", []api.Exchange{answer(time.Hour, 0), answer(time.Hour, 0)}, 0},
		{"one differs, as after a sleep", []api.Exchange{answer(0, 0), answer(-time.Hour, 0), answer(0, 0), answer(0, 0)}, 0},
		{"no Date", []api.Exchange{undated, undated, undated}, 0},
		{"no Date between", []api.Exchange{answer(time.Hour, 0), undated, answer(time.Hour, 0), answer(time.Hour, 0)}, time.Hour},
		{"too slow to say", []api.Exchange{answer(30*time.Second, time.Minute), answer(30*time.Second, time.Minute), answer(30*time.Second, time.Minute)}, 0},
		{"set right", []api.Exchange{answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Hour, 0), answer(0, 0)}, 0},
		{"set less wrong", []api.Exchange{answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Minute, 0)}, time.Minute},
		{"drifting a little", []api.Exchange{answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Hour, 0), answer(time.Hour+2*time.Second, 0)}, time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c clockCheck
			for i := range test.answers {
				c.answered(&test.answers[i])
			}
			if (c.ahead-test.want).Abs() > time.Second || (c.ahead == 0) != (test.want == 0) {
				t.Errorf("ahead by %v, want %v", c.ahead, test.want)
			}
		})
	}
}
