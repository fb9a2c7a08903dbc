package account

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// answered books an answer to a mutation.
func answered(t *testing.T, p *quota.Pacer, limit, policy string) {
	t.Helper()
	permit, err := p.Acquire(t.Context(), quota.Mutations)
	if err != nil {
		t.Fatal(err)
	}
	permit.Done(quota.Outcome{Status: http.StatusOK, Header: http.Header{"Ratelimit": {limit}, "Ratelimit-Policy": {policy}}})
}

func (s *Store) learn(n int, created time.Time) {
	for i := range n {
		s.ApplyRead(awaiting(api.ID(fmt.Sprintf("ci_%d_%d", created.UnixNano(), i)), created), time.Now(), ByRead)
	}
}

func TestTheDaysIntentsAreCountedFromBelowAndAsTheServiceSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		s := NewStore(StoreConfig{Quota: pacer.Buckets})
		s.learn(7, time.Now().Add(-30*time.Hour)) // of another day
		s.learn(6, time.Now().Add(-3*time.Hour))
		if d := s.Summary().Day; d.Used() != 6 || d.Limit != 50 || d.Told || d.Exhausted != 0 {
			t.Errorf("by what is known: %+v, want 6 of 50 and no end in sight", d)
		}
		s.learn(8, time.Now().Add(-10*time.Minute))
		if d := s.Summary().Day; d.Used() != 14 || d.Pace != 32 || d.Exhausted != 36*time.Hour/32 {
			t.Errorf("at 8 in a quarter of an hour: %+v, want the 36 that are left to last 67.5 minutes", d)
		}
		answered(t, pacer, `"m";r=4;t=1, "day";r=20;t=7200`, `"m";q=5;w=1, "day";q=60;w=86400`)
		if d := s.Summary().Day; d.Used() != 40 || d.Limit != 60 || !d.Told || d.Left != 20 || d.Exhausted != 20*time.Hour/32 {
			t.Errorf("as reported: %+v, want 40 of 60, and the 20 that are left to be gone before the reset", d)
		}
		pass(45 * time.Minute)
		s.learn(3, time.Now())
		if d := s.Summary().Day; d.Used() != 43 || d.Exhausted != 0 {
			t.Errorf("%+v, want the 40 that were reported and 3 that came since; the rest lasts until the reset", d)
		}
		pass(2 * time.Hour)
		if d := s.Summary().Day; d.Told || d.Used() != 17 || d.Limit != 60 {
			t.Errorf("when the window that was reported is over: %+v, want 17 known of 60", d)
		}
		s.learn(43, time.Now())
		if d := s.Summary().Day; d.Exhausted != 1 || d.Spent.IsZero() {
			t.Errorf("%+v, want none left", d)
		}
		s.learn(1, time.Now().Add(-time.Second))
		if d := s.Summary().Day; !d.Calendar || d.Limit != 60 || d.Used() != 47 || !d.Spent.IsZero() {
			t.Errorf("%+v, want a day of the calendar with 47 of 60: in the last 24 hours 61 were made", d)
		}
		s.learn(14, time.Now().Add(-2*time.Second))
		if d := s.Summary().Day; d.Limit != 0 || d.Exhausted != 0 || !d.Spent.IsZero() {
			t.Errorf("%+v, want a limit that is not known: 61 were made of 60 since midnight", d)
		}
	})
}

func TestALimitOfTheDayThatWasPassedIsNoneAndAlertsOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open := func(configured int) (*Store, *Saved) {
			saved, err := OpenSaved(SavedConfig{Dir: dir, Account: "a"})
			if err != nil {
				t.Fatal(err)
			}
			s := NewStore(StoreConfig{DayLimit: configured})
			if err := saved.Restore(s); err != nil {
				t.Fatal(err)
			}
			return s, saved
		}
		s, saved := open(0)
		pass(2 * time.Hour) // after midnight
		s.learn(48, time.Now().Add(-time.Hour))
		s.tick(time.Now())
		if d, alerts := s.Summary().Day, alertTexts(s); d.Limit != 50 || !d.Assumed || len(alerts) != 1 ||
			alerts[0] != "at least 48 of the day's 50 intents are used, if day_limit is right" {
			t.Errorf("before it is passed: %+v, %q", d, alerts)
		}
		s.learn(1, time.Now())
		s.tick(time.Now())
		if alerts := alertTexts(s); len(alerts) != 1 || alerts[0] != "at least 49 of the day's 50 intents are used, if day_limit is right" {
			t.Errorf("one more: %q", alerts)
		}
		s.learn(65, time.Now().Add(-time.Minute))
		s.tick(time.Now())
		if d, alerts := s.Summary().Day, alertTexts(s); d.Limit != 0 || d.Used() != 114 || d.Exhausted != 0 || len(alerts) != 0 {
			t.Errorf("once it was passed: %+v, %q", d, alerts)
		}
		pass(25 * time.Hour)
		s.learn(47, time.Now().Add(-time.Hour))
		s.tick(time.Now())
		if d, alerts := s.Summary().Day, alertTexts(s); d.Limit != 0 || d.Used() != 47 || len(alerts) != 0 {
			t.Errorf("a day later: %+v, %q; want it disproved for good", d, alerts)
		}
		mustSave(t, saved, s)
		if s, _ = open(0); s.Summary().Day.Limit != 0 {
			t.Errorf("after a restart: %+v, want it disproved for good", s.Summary().Day)
		}
		if s, _ = open(200); s.Summary().Day.Limit != 200 {
			t.Errorf("configured anew: %+v, want what nothing disproves", s.Summary().Day)
		}
	})
}

// alertTexts are the texts of the alerts that are about no intent.
func alertTexts(s *Store) (texts []string) {
	for _, a := range s.Summary().Alerts {
		if a.Intent == "" {
			texts = append(texts, a.Text)
		}
	}
	return texts
}

func TestARefusalNamesTheDaysLimit(t *testing.T) {
	refusal := func(message string, wait time.Duration) api.Exchange {
		return api.Exchange{Class: quota.Mutations, Status: 429, Err: &api.Error{Status: 429, Message: api.Text(message), RetryAfter: wait}}
	}
	const told = "You have reached the limit of 60 checkout intents per day"
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		pass(2 * time.Hour) // after midnight
		s.learn(59, time.Now().Add(-time.Hour))
		if d := s.Summary().Day; d.Limit != 0 {
			t.Errorf("%+v, want no limit: 59 is more than is assumed", d)
		}
		at := time.Now()
		s.RecordExchange(refusal(told, 2*time.Hour))
		s.tick(time.Now())
		if d := s.Summary().Day; d.Limit != 60 || d.Assumed || !d.Told || d.Used() != 60 || !d.Spent.Equal(at) || !d.Free.Equal(at.Add(2*time.Hour)) {
			t.Errorf("as the refusal says: %+v", d)
		}
		pass(2 * time.Minute)
		s.learn(1, time.Now())
		if d := s.Summary().Day; d.Told || d.Limit != 60 || d.Used() != 60 {
			t.Errorf("once another was made: %+v, want the reported rest to be over", d)
		}
		pass(25 * time.Hour)
		s.learn(61, time.Now().Add(-time.Hour))
		if d := s.Summary().Day; d.Limit != 0 {
			t.Errorf("after 61 in a later day: %+v, want the reported limit to be disproved", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		read := refusal(told, 0)
		read.Class = quota.Reads
		s.RecordExchange(read)
		if d := s.Summary().Day; d.Told || d.Limit != 50 {
			t.Errorf("a refused read: %+v, want nothing reported of intents", d)
		}
		at := time.Now()
		s.RecordExchange(refusal("daily limit", 0))
		if d := s.Summary().Day; !d.Told || d.Limit != 50 || !d.Assumed || !d.Free.Equal(at.Add(24*time.Hour)) {
			t.Errorf("a refusal that names nothing: %+v, want none left for a day at most", d)
		}
	})
}

func TestASpentDayIsReportedWithSinceWhenAndWhenTheFirstIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(21 * time.Hour)
		s := NewStore(StoreConfig{})
		oldest, newest := time.Now().Add(-20*time.Hour), time.Now().Add(-90*time.Minute)
		s.learn(1, oldest)
		s.learn(49, newest)
		for range 3 {
			s.tick(time.Now())
			var spent []Alert
			for _, a := range s.Summary().Alerts {
				if a.Kind == AlertDay {
					spent = append(spent, a)
				}
			}
			if len(spent) != 1 || spent[0].Text != "day limit of 50 (assumed) reached: first slot back" ||
				!spent[0].Since.Equal(newest) || !spent[0].Due.Equal(oldest.Add(24*time.Hour+time.Minute)) {
				t.Fatalf("%+v, want none left since the newest, and the oldest to come back", spent)
			}
			pass(time.Minute)
		}
		pass(4 * time.Hour)
		s.tick(time.Now())
		if alerts := alertTexts(s); len(alerts) != 1 || alerts[0] != "at least 49 of the day's 50 intents are used, if day_limit is right and of 24 hours" {
			t.Errorf("once the oldest is back: %q", alerts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		pass(9 * time.Hour)
		s.learn(30, time.Now().Add(-12*time.Hour))
		newest := time.Now().Add(-time.Hour)
		s.learn(50, newest)
		if d := s.Summary().Day; !d.Calendar || d.Used() != 50 || !d.Spent.Equal(newest) || !d.Free.Equal(midnight(time.Now()).Add(24*time.Hour)) {
			t.Errorf("50 since midnight, and 80 in 24 hours: %+v, want none left until midnight", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		s := NewStore(StoreConfig{Quota: pacer.Buckets})
		first := time.Now()
		for range 3 {
			answered(t, pacer, `"day";r=0;t=7200`, `"day";q=60;w=86400`)
			s.tick(time.Now())
			if d := s.Summary().Day; d.Limit != 60 || d.Assumed || !d.Spent.Equal(first) || !d.Free.Equal(time.Now().Add(2*time.Hour)) {
				t.Errorf("as headers tell: %+v, want it spent since it was first reported", d)
			}
			pass(2 * time.Minute)
		}
	})
}

func TestACapOfAgentsThatIsPassedIsNone(t *testing.T) {
	s := NewStore(StoreConfig{AgentsLimit: 2})
	for i, want := range []AgentCount{{1, 2, true}, {2, 2, true}, {3, 0, false}} {
		in := awaiting(api.ID(fmt.Sprintf("ci_%d", i)), time.Now())
		in.State = api.PlacingOrder
		s.ApplyRead(in, time.Now(), ByRead)
		if got := s.Summary().Agents; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestWhatWasSpentIsKeptWithThePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open := func() *Store {
			pacer := quota.NewPacer(quota.PacerConfig{})
			saved, err := OpenSaved(SavedConfig{Dir: dir, Account: "a", Recall: pacer.Recall})
			if err != nil {
				t.Fatal(err)
			}
			s := NewStore(StoreConfig{Quota: pacer.Buckets})
			if err := saved.Restore(s); err != nil {
				t.Fatal(err)
			}
			answered(t, pacer, `"m";r=4;t=1, "day";r=20;t=7200`, `"m";q=5;w=1, "day";q=50;w=86400`)
			mustSave(t, saved, s)
			return s
		}
		open()
		pass(10 * time.Minute)
		s := open()
		for _, b := range s.Summary().Quota {
			own, _, _ := quota.Sum(b.Hour)
			if own != 2 {
				t.Errorf("%s: %d requests in the last hour, want that of the last run and that of this one", b.Policy, own)
			}
		}
	})
}

func TestALargeLimitOfTheDayIsWrittenAsOnTheBoard(t *testing.T) {
	if got, want := (DayCount{Limit: 2000}).spentWords(), "day limit of 2,000 reached: first slot back"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
