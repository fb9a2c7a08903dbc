package account

import (
	"slices"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// took is a request of tillwatch that was answered.
func took(d time.Duration) api.Exchange {
	return api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/ci_1", Class: quota.Reads, Sent: time.Now().Add(-d), Latency: d, Status: 200}
}

func TestLatencyIsThatOfTheNewestRequests(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i := range 300 {
		s.RecordExchange(took(time.Duration(i+1) * time.Millisecond))
		s.RecordExchange(api.Exchange{Class: quota.Reads, Sent: time.Now(), Latency: time.Millisecond, Status: 429})
	}
	for range 6 {
		s.RecordExchange(api.Exchange{Class: quota.Reads, Sent: time.Now(), Latency: 30 * time.Second})
	}
	var answered []time.Duration
	for i := 50; i < 300; i++ { // the newest 256, of which 6 have no answer
		answered = append(answered, time.Duration(i+1)*time.Millisecond)
	}
	want := Latency{Class: quota.Reads, Recent: paceOf(answered), Unanswered: 6}
	if told := s.Summary().Latency; !slices.Equal(told, []Latency{want}) {
		t.Errorf("latency %+v, want %+v", told, want)
	}
}

func TestLatencyOfOthersIsApart(t *testing.T) {
	s := NewStore(StoreConfig{})
	now := time.Now()
	s.RecordExchange(took(10 * time.Millisecond))
	for _, o := range []quota.Observation{
		{ID: "a", Sent: now.Add(-50 * time.Minute), Class: quota.Mutations, Latency: 900 * time.Millisecond, Status: 200},
		{ID: "b", Sent: now.Add(-time.Second), Class: quota.Mutations, Latency: 300 * time.Millisecond, Status: 500},
		{ID: "refused", Sent: now, Class: quota.Mutations, Latency: time.Millisecond, Status: 429},
		{ID: "untimed", Sent: now, Class: quota.Mutations, Status: 200},
		{ID: "unknown", Sent: now, Class: "elsewhere", Latency: time.Second, Status: 200},
	} {
		o.Method, o.Endpoint, o.Spender = "POST", "/api/v1/checkout-intents", "shop"
		s.Observe([]quota.Observation{o, o})
	}
	told := s.Summary().Latency
	if len(told) != 3 || told[0].Others || told[1].Class != quota.Mutations || told[2].Class != "" {
		t.Fatalf("got %+v, want own reads, others' mutations and the others' rest", told)
	}
	if got, want := told[1].Recent, (Pace{2, 900 * time.Millisecond, 900 * time.Millisecond}); got != want {
		t.Errorf("mutations of others took %+v, want %+v", got, want)
	}
}
