package account

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// confirmsOf is what the store says of confirms, whose newest has the given attempt.
func confirmsOf(t *testing.T, s *Store, attempt string) *Confirm {
	t.Helper()
	for _, c := range s.Summary().Confirms {
		if c.Attempt == attempt {
			return c
		}
	}
	t.Fatalf("nothing is known of attempt %s", attempt)
	return nil
}

func timelineOf(t *testing.T, s *Store, id api.ID) (all []What) {
	t.Helper()
	in, ok := s.Intent(id)
	if !ok {
		t.Fatalf("%s is not known", id)
	}
	for _, m := range in.Timeline {
		all = append(all, m.What)
	}
	return all
}

func TestAConfirmOfUnknownOutcomeIsLoudUntilItIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		read := func() {
			s.ApplyRead(api.Intent{ID: "ci_1", State: api.AwaitingConfirmation, CreatedAt: time.Now().Add(-time.Minute)}, time.Now(), ByRead)
		}
		read()
		time.Sleep(time.Minute)
		c := Confirm{Attempt: "A", Intent: "ci_1", Run: "watch, process 7", Product: "Mug", Total: "12.90 USD", Sent: time.Now()}
		s.RecordConfirms([]Confirm{c})
		if got := confirmsOf(t, s, "A"); !got.UnderWay(time.Now()) || hasAlert(s, AlertConfirm) {
			t.Errorf("while the answer can come, it is %+v", got)
		}
		time.Sleep(time.Second)
		c.Answered, c.Answer = time.Now(), "500 Internal Server Error"
		s.RecordConfirms([]Confirm{c})
		for range 3 {
			time.Sleep(time.Second)
			read()
		}
		if got := confirmsOf(t, s, "A"); !got.Unknown(time.Now()) || got.Reads != 3 || got.Shown != api.AwaitingConfirmation {
			t.Errorf("after a lost answer it is %+v", got)
		}
		time.Sleep(40 * time.Minute) // the intent's own window closes, and its alerts are as old
		s.tick(time.Now())
		alerts := s.Summary().Alerts
		if alerts[0].Kind != AlertConfirm || alerts[0].Intent != "ci_1" || len(alerts) < 2 {
			t.Errorf("the alerts are %+v", alerts)
		}
		c.Ended, c.End = time.Now(), ConfirmNotDone
		s.RecordConfirms([]Confirm{c})
		if got := confirmsOf(t, s, "A"); !got.WasUnknown() || got.Reads != 3 || hasAlert(s, AlertConfirm) {
			t.Errorf("once it is settled it is %+v, with alerts %+v", got, s.Summary().Alerts)
		}
		s.RecordConfirms([]Confirm{c}) // as after a restart
		if got, want := timelineOf(t, s, "ci_1"), []What{ReadShowed, ConfirmSent, ConfirmOpen, Unchanged, ConfirmEnded}; !slices.Equal(got, want) {
			t.Errorf("the timeline is %v, want %v", got, want)
		}
	})
}

// A run that was killed leaves a confirm without an answer.
func TestAConfirmWithoutAnAnswerIsUnknownAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		s.RecordConfirms([]Confirm{{Attempt: "A", Intent: "ci_1", Sent: time.Now()}})
		time.Sleep(ConfirmAnswerWithin)
		s.tick(time.Now())
		if !hasAlert(s, AlertConfirm) {
			t.Error("no alert is raised")
		}
		if _, ok := s.Intent("ci_1"); ok {
			t.Error("the audit log alone makes an intent known")
		}
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.PlacingOrder}, time.Now(), ByRead)
		if got := timelineOf(t, s, "ci_1"); !slices.Contains(got, ConfirmSent) {
			t.Errorf("the timeline is %v", got)
		}
	})
}

func TestOpenConfirmsComeFirstAndEndedOnesAreBounded(t *testing.T) {
	s := NewStore(StoreConfig{})
	now := time.Now()
	var all []Confirm
	for i := range 2 * mostConfirms {
		at := now.Add(time.Duration(i-1000) * time.Second)
		all = append(all, Confirm{Attempt: at.String(), Intent: "ci_1", Sent: at, Ended: at.Add(time.Second), End: ConfirmPlaced})
	}
	all = append(all, Confirm{Attempt: "new", Intent: "ci_2", Sent: now}, Confirm{Attempt: "old", Intent: "ci_3", Sent: now.Add(-time.Hour)})
	s.RecordConfirms(all)
	list := s.Summary().Confirms
	if len(list) != mostConfirms+2 || list[0].Attempt != "old" || list[1].Attempt != "new" || !list[2].Ended.After(list[3].Ended) {
		t.Errorf("%d are listed, the first %+v", len(list), list[0])
	}
}

// What reads show now is the truth, whatever the audit log says.
func TestReadsCorrectHowAConfirmEnded(t *testing.T) {
	for _, c := range []struct {
		name string
		end  ConfirmEnd
		read api.IntentState
		want ConfirmEnd
	}{
		{"not taken, and an order now", ConfirmNotDone, api.PlacingOrder, ConfirmLate},
		{"refused, and an order now", ConfirmRefused, api.Completed, ConfirmLate},
		{"never sent, and an order now", ConfirmNotSent, api.PlacingOrder, ConfirmNotSent},
		{"not taken, and still awaiting", ConfirmNotDone, api.AwaitingConfirmation, ConfirmNotDone},
		{"taken, and the order failed", ConfirmPlaced, api.Failed, ConfirmFailed},
		{"taken, and placed", ConfirmPlaced, api.Completed, ConfirmPlaced},
		{"unknown to the log, and an order now", "", api.PlacingOrder, ConfirmPlaced},
		{"unknown to the log, and still awaiting", "", api.AwaitingConfirmation, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			sent := time.Now().Add(-10 * time.Minute)
			told := Confirm{Attempt: "A", Intent: "ci_1", Sent: sent, Answered: sent.Add(time.Second), End: c.end}
			if c.end != "" {
				told.Ended = sent.Add(5 * time.Minute)
			}
			s.RecordConfirms([]Confirm{told})
			s.ApplyRead(api.Intent{ID: "ci_1", State: c.read, CreatedAt: sent.Add(-time.Minute)}, time.Now(), ByRead)
			if got := confirmsOf(t, s, "A"); got.End != c.want {
				t.Errorf("it is %q, want %q", got.End, c.want)
			}
			if loud := c.want == "" || c.want == ConfirmLate; hasAlert(s, AlertConfirm) != loud {
				t.Errorf("an alert stands: %t", !loud)
			}
			s.RecordConfirms([]Confirm{told}) // the log says the same again
			if got := confirmsOf(t, s, "A"); got.End != c.want {
				t.Errorf("told again it is %q, want %q", got.End, c.want)
			}
		})
	}
}

func TestAConfirmThatAnotherRunSettledWasInDoubt(t *testing.T) {
	now := time.Now()
	own := Confirm{Attempt: "A", Sent: now.Add(-time.Second), Ended: now, End: ConfirmPlaced}
	other := own
	other.ByOther = true // its sender was killed, and the next run began at once
	if own.WasUnknown() || !other.WasUnknown() {
		t.Errorf("in doubt was its own: %t, that of a killed run: %t", own.WasUnknown(), other.WasUnknown())
	}
}

func TestAConfirmThatSeemsToComeFromTheFutureIsUnknown(t *testing.T) {
	now := time.Now()
	ahead := Confirm{Attempt: "A", Sent: now.Add(time.Hour)}
	if ahead.UnderWay(now) || !ahead.Unknown(now) {
		t.Error("once the clock was set back, a confirm stays under way")
	}
}

// A read that shows the outcome of one confirm leaves the others counting.
func TestReadsCountForEveryOpenConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		s.RecordConfirms([]Confirm{
			{Attempt: "A", Intent: "ci_1", Sent: time.Now()},
			{Attempt: "B", Intent: "ci_2", Sent: time.Now().Add(time.Second)},
		})
		time.Sleep(time.Minute)
		s.ApplyRead(api.Intent{ID: "ci_1", State: api.PlacingOrder}, time.Now(), ByRead)
		s.ApplyRead(api.Intent{ID: "ci_2", State: api.AwaitingConfirmation}, time.Now(), ByRead)
		if a, b := confirmsOf(t, s, "A"), confirmsOf(t, s, "B"); a.End != ConfirmPlaced || b.Reads != 1 {
			t.Errorf("A ended %q; of B %d reads are counted, want 1", a.End, b.Reads)
		}
	})
}
