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

func TestAnIntentThatIsOnlyObservedIsNotShownAsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{KeepIntents: 2})
		for i := range 2 {
			s.ApplyRead(api.Intent{ID: api.ID(fmt.Sprint("ci_real_", i)), State: api.Completed, CreatedAt: time.Now().Add(-48 * time.Hour)}, time.Now(), ByRead)
		}
		for i := range 50 {
			for _, endpoint := range []string{intentEndpoint, confirmEndpoint, intentsEndpoint} {
				o := seenBy(fmt.Sprint(endpoint, i), "shop", "", endpoint)
				o.IntentID, o.State = fmt.Sprint("ci_never_", i), string(api.Completed)
				s.Observe([]quota.Observation{o})
			}
		}
		sum := s.Summary()
		if sum.Intents[api.Completed] != 2 || sum.Day.Seen != 0 {
			t.Errorf("%d are completed, %d made in the last day; want 2 and 0", sum.Intents[api.Completed], sum.Day.Seen)
		}
		mustBe(t, s, "ci_real_0", api.Completed, Verified)
		mustBe(t, s, "ci_never_7", "", Hinted)
		pass(time.Second)
		s.ApplyMissing("ci_never_7", time.Now())
		if _, known := s.Intent("ci_never_7"); known {
			t.Error("an intent that only an observation named is known after a read did not find it")
		}
	})
}

func TestAnIntentThatAnAnswerMadeCountsUntilAReadDoesNotFindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		o := seenBy("a", "shop", "", intentsEndpoint)
		o.IntentID, o.State, o.Status = "ci_1", string(api.RetrievingOffer), http.StatusCreated
		s.Observe([]quota.Observation{o})
		mustBe(t, s, "ci_1", api.RetrievingOffer, Reported)
		o.ID, o.State = "b", string(api.Completed)
		s.Observe([]quota.Observation{o})
		mustBe(t, s, "ci_1", api.RetrievingOffer, Reported)
		if d := s.Summary().Day; d.Seen != 1 {
			t.Errorf("%d were made in the last day, want 1", d.Seen)
		}
		pass(time.Second)
		s.ApplyMissing("ci_1", time.Now())
		if sum := s.Summary(); sum.Day.Seen != 0 || sum.Intents[api.RetrievingOffer] != 0 {
			t.Errorf("after it was not found: %d made in the last day, %v", sum.Day.Seen, sum.Intents)
		}
	})
}

func TestUnreadIntentsThatAreObservedAreBounded(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i := range 2 * mostUnread {
		o := seenBy(fmt.Sprint(i), "shop", "", intentEndpoint)
		o.IntentID = fmt.Sprint("ci_", i)
		s.Observe([]quota.Observation{o})
	}
	if n := len(s.openIntents()); n != mostUnread {
		t.Errorf("%d are known, want %d", n, mostUnread)
	}
}
