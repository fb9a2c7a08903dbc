package account

import (
	"testing"
	"time"

	"tillwatch/api"
)

func TestAnEventIsLearntWhenTheRelayReceivedIt(t *testing.T) {
	created := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	now := created.Add(time.Hour)
	for _, c := range []struct {
		name     string
		received time.Time
		want     time.Time
	}{
		{"before this run", created.Add(time.Second), created.Add(time.Second)},
		{"by a relay whose clock is ahead", now.Add(time.Minute), now},
		{"at an unknown time", time.Time{}, now},
	} {
		s := NewStore(StoreConfig{})
		s.ApplyEvents([]Delivery{
			{Seq: 1, Received: c.received, Event: api.Event{ID: "evt_1", Type: api.IntentCompleted, Source: api.EventSource{ID: "ci_1", Type: api.SourceIntent}, CreatedAt: created}},
		}, now)
		in, _ := s.Intent("ci_1")
		if got := in.Timeline[0].Learnt; !got.Equal(c.want) {
			t.Errorf("received %s: learnt at %s, want %s", c.name, got, c.want)
		}
	}
}
