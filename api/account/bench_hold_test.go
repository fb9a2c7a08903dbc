package account

import (
	"slices"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
)

// holdCases are what a screen takes a picture of 100,000 after.
func holdCases() []holdCase {
	return []holdCase{
		{"10,000 intents changed", func(*Store) {}, func(s *Store, at time.Time) {
			for i := range holdAll / 10 {
				s.ApplyRead(benchRead(benchID(i*10), i, true), at, ByRead)
			}
		}},
		{"100,000 shipments changed", func(*Store) {}, func(s *Store, at time.Time) {
			for i := range holdAll {
				s.ApplyShipments([]api.Shipment{{ID: "shp_" + benchID(i), IntentID: benchID(i), Status: api.Shipped, UpdatedAt: at}}, at)
			}
		}},
		{"an alert of 100,000 changed", func(s *Store) {
			for i := range holdAll {
				in := benchRead("ci_late_"+benchID(i), i, false)
				in.CreatedAt = time.Now().Add(time.Minute - api.ConfirmWindow)
				s.ApplyRead(in, time.Now(), ByRead)
			}
		}, func(s *Store, at time.Time) {
			s.ApplyRead(benchRead("ci_late_"+benchID(int(at.Unix()%holdAll)), 0, true), time.Now(), ByRead)
		}},
	}
}

const holdAll = 100_000

type holdCase struct {
	name   string
	fill   func(s *Store)
	change func(s *Store, at time.Time)
}

// BenchmarkChangesHold is how long a screen that takes a picture of 100,000 keeps
// writers out: how long the lock is held at the longest, how long one writer waits
// for it at the longest, and how long it would where nobody shares the lock. That is
// the machine's part: whoever holds a lock, or gets it, may wait for a processor.
func BenchmarkChangesHold(b *testing.B) {
	for _, c := range holdCases() {
		b.Run(c.name, func(b *testing.B) {
			s := filled(holdAll)
			c.fill(s)
			at := noon
			picture := func(try func() bool) time.Duration {
				b.StopTimer()
				at = at.Add(time.Second)
				since := s.picture()
				c.change(s, at)
				b.StartTimer()
				return longest(func() { s.Changes(since) }, try)
			}
			var held, waited, elsewhere []time.Duration
			var other sync.Mutex
			for b.Loop() {
				held = append(held, picture(func() bool {
					free := s.mu.TryLock()
					if free {
						s.mu.Unlock()
					}
					return free
				}))
				waited = append(waited, picture(func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return true
				}))
				elsewhere = append(elsewhere, picture(func() bool {
					other.Lock()
					defer other.Unlock()
					return true
				}))
			}
			reportWaits(b, "held", held)
			reportWaits(b, "waited", waited)
			reportWaits(b, "elsewhere", elsewhere)
		})
	}
}

func reportWaits(b *testing.B, name string, list []time.Duration) {
	slices.Sort(list)
	b.ReportMetric(float64(list[len(list)/2].Microseconds()), "p50-µs-"+name)
	b.ReportMetric(float64(list[len(list)*19/20].Microseconds()), "p95-µs-"+name)
	b.ReportMetric(float64(list[len(list)-1].Microseconds()), "max-µs-"+name)
}

// longest is how long it took at the longest, while something is done, until try
// succeeded.
func longest(do func(), try func() bool) (most time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for began := time.Now(); ; {
		select {
		case <-done:
			return most
		default:
		}
		if try() {
			now := time.Now()
			most, began = max(most, now.Sub(began)), now
		}
	}
}
