package account

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// tookNow is a request of tillwatch that is answered now.
func tookNow(took time.Duration) api.Exchange {
	return api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/ci_1", Class: quota.Reads, Sent: time.Now().Add(-took), Latency: took, Status: 200}
}

func TestLatencyIsThatOfTheLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(StoreConfig{})
		dice := rand.New(rand.NewPCG(4, 1))
		start := time.Now()
		time.Sleep(time.Minute) // what is sent before midnight is of another day
		type sample struct {
			at   time.Time
			took time.Duration
		}
		var all []sample
		for i := range 3000 { // two hours
			took := time.Duration(math.Exp(dice.NormFloat64()/2) * float64(200*time.Millisecond)).Round(time.Microsecond)
			e := tookNow(took)
			all = append(all, sample{e.Sent, took})
			s.RecordExchange(e)
			if i%50 == 0 {
				s.RecordExchange(api.Exchange{Class: quota.Reads, Sent: time.Now(), Latency: time.Millisecond, Status: 429})
			}
			time.Sleep(2400 * time.Millisecond)
		}
		s.RecordExchange(api.Exchange{Class: quota.Reads, Sent: time.Now(), Latency: 30 * time.Second})
		time.Sleep(latencyRefresh)
		var hour []time.Duration
		for _, s := range all {
			if time.Since(s.at) < time.Hour {
				hour = append(hour, s.took)
			}
		}
		slices.Sort(hour)
		told := s.Summary().Latency
		if len(told) != 1 {
			t.Fatalf("got %d classes, want the reads of tillwatch alone", len(told))
		}
		l := told[0]
		if l.Recent != paceOf(hour) || l.Unanswered != 1 || !l.Since.Equal(time.Now().Add(-time.Hour)) {
			t.Errorf("the last hour is %+v since %v with %d unanswered, want %+v", l.Recent, l.Since.Sub(start), l.Unanswered, paceOf(hour))
		}
		sum, shortest := 0, time.Duration(0)
		for _, b := range l.Buckets {
			want := 0
			for _, took := range hour {
				if took > shortest && took <= b.UpTo {
					want++
				}
			}
			if b.Recent != want {
				t.Errorf("%d took from %v to %v, want %d", b.Recent, shortest, b.UpTo, want)
			}
			sum, shortest = sum+b.Recent, b.UpTo
		}
		if sum != len(hour) || l.Days != 0 || l.Past != (Pace{}) {
			t.Errorf("%d are in buckets, want %d; of %d days before %+v", sum, len(hour), l.Days, l.Past)
		}
	})
}

func TestLatencyIsComparedWithTheDaysBeforeAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openSaved(t, t.TempDir())
		s := NewStore(StoreConfig{})
		var past, last []time.Duration
		for day := range 9 { // the first is too long ago
			for i := range 100 {
				took := time.Duration(100+10*day+i) * time.Millisecond
				s.RecordExchange(tookNow(took))
				switch {
				case day == 8:
					last = append(last, took)
				case day > 0:
					past = append(past, took)
				}
				time.Sleep(time.Second)
			}
			if day < 8 {
				time.Sleep(24*time.Hour - 100*time.Second)
			}
		}
		if err := f.Save(s); err != nil {
			t.Fatal(err)
		}
		before := s.Summary().Latency
		restored := mustRestore(t, f)
		after := restored.Summary().Latency
		if len(after) != 1 || after[0].Recent.Count != 100 || after[0].Days != 7 {
			t.Fatalf("after the restart it is %+v, before it was %+v", after, before)
		}
		l, exact := after[0], paceOf(past)
		if l.Past.Count != exact.Count || !near(l.Past.P50, exact.P50) || !near(l.Past.P95, exact.P95) {
			t.Errorf("the days before had %+v, want %+v", l.Past, exact)
		}
		if want := paceOf(last); l.Recent != want {
			t.Errorf("the last hour has %+v, want %+v", l.Recent, want)
		}
	})
}

// near reports whether two durations are less than a bucket apart.
func near(a, b time.Duration) bool { return math.Abs(math.Log10(float64(a)/float64(b))) < 0.1 }

func TestLatencyOfOthersIsApart(t *testing.T) {
	s := NewStore(StoreConfig{})
	now := time.Now()
	s.RecordExchange(tookNow(10 * time.Millisecond))
	for _, o := range []quota.Observation{
		{ID: "late", Sent: now.Add(-50 * time.Minute), Class: quota.Mutations, Latency: 900 * time.Millisecond, Status: 200},
		{ID: "new", Sent: now.Add(-time.Second), Class: quota.Mutations, Latency: 300 * time.Millisecond, Status: 500},
		{ID: "refused", Sent: now, Class: quota.Mutations, Latency: time.Millisecond, Status: 429},
		{ID: "untimed", Sent: now, Class: quota.Mutations, Status: 200},
		{ID: "too old", Sent: now.Add(-2 * time.Hour), Class: quota.Mutations, Latency: time.Second, Status: 200},
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

func TestLatenciesAreBounded(t *testing.T) {
	var l latencies
	now := noon
	for i := range keptLatencies + 100 {
		now = now.Add(time.Second / 2)
		l.add(&api.Exchange{Class: quota.Reads, Sent: now, Latency: time.Duration(i+1) * time.Microsecond, Status: 200}, now)
	}
	told := l.list(noon, now)
	if told[0].Recent.Count != keptLatencies || !told[0].Since.Equal(noon.Add(50*time.Second)) {
		t.Errorf("%d are kept, since %v: want the newest %d and when they begin", told[0].Recent.Count, told[0].Since.Sub(noon), keptLatencies)
	}
}
