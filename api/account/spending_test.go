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

func TestTheDaysIntentsAreCountedFromBelowAndAsTheServiceTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := quota.NewPacer(quota.PacerConfig{})
		s := NewStore(StoreConfig{Quota: pacer.Buckets})
		s.learn(7, time.Now().Add(-30*time.Hour)) // of another day
		s.learn(6, time.Now().Add(-3*time.Hour))
		if d := s.Summary().Day; d.Used() != 6 || d.Limit != 50 || d.Told || d.Exhausted != 0 {
			t.Errorf("by what is known: %+v, want 6 of 50 and no end in sight", d)
		}
		s.learn(8, time.Now().Add(-10*time.Minute))
		if d := s.Summary().Day; d.Used() != 14 || d.Exhausted != 36*time.Hour/8 {
			t.Errorf("at 8 an hour: %+v, want the 36 that are left to last 4.5 hours", d)
		}
		answered(t, pacer, `"m";r=4;t=1, "day";r=20;t=7200`, `"m";q=5;w=1, "day";q=60;w=86400`)
		if d := s.Summary().Day; d.Used() != 40 || d.Limit != 60 || !d.Told || d.Left != 20 || d.Exhausted != 0 {
			t.Errorf("as told: %+v, want 40 of 60, which last until the reset", d)
		}
		pass(5 * time.Minute)
		s.learn(3, time.Now())
		if d := s.Summary().Day; d.Used() != 43 {
			t.Errorf("%d used, want the 40 that were told and 3 that came since", d.Used())
		}
		pass(2 * time.Hour)
		if d := s.Summary().Day; d.Told || d.Used() != 17 || d.Limit != 60 {
			t.Errorf("when the window that was told of is over: %+v, want 17 known of 60", d)
		}
		s.learn(43, time.Now())
		if d := s.Summary().Day; d.Exhausted != 1 {
			t.Errorf("%+v, want none left", d)
		}
	})
}

func TestWhatWasSpentIsKeptWithThePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open := func() *Store {
			pacer := quota.NewPacer(quota.PacerConfig{})
			saved, err := OpenSaved(SavedConfig{Dir: dir, Account: "a", Quota: pacer})
			if err != nil {
				t.Fatal(err)
			}
			s := NewStore(StoreConfig{Quota: pacer.Buckets})
			if _, err := saved.Restore(s); err != nil {
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

func TestTheDayThatWasToldOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := quota.NewPacer(quota.PacerConfig{}), quota.NewPacer(quota.PacerConfig{})
		answered(t, first, `"day";r=20;t=7200`, `"day";q=50;w=86400`)
		pass(time.Hour)
		second.Recall(first.Memories(time.Now()), time.Now())
		s := NewStore(StoreConfig{Quota: second.Buckets})
		if d := s.Summary().Day; !d.Told || d.Used() != 30 {
			t.Errorf("%+v, want the 30 that were told an hour ago", d)
		}
	})
}
