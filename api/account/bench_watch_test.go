package account

import (
	"fmt"
	"testing"
	"time"

	"tillwatch/api"
)

// BenchmarkWatchedEvent is an event as the feed brings it, where a watcher plans its
// reads by it: of 100,000 intents that have ended, of which one in ten is new and
// has an offer.
func BenchmarkWatchedEvent(b *testing.B) {
	const intents = 100_000
	known, next := scattered("ci", intents, 0, benchRun), scattered("ci", benchRun, intents, benchRun)
	for _, size := range []int{100, 1} {
		b.Run(fmt.Sprint(size, " a batch"), func(b *testing.B) {
			benchBatches(b, size, func() *Store {
				s := filled(intents)
				s.SetFeed(FeedStatus{State: FeedLive, Since: time.Now()})
				w := NewWatcher(WatcherConfig{Store: s})
				w.feed = FeedLive
				s.observe(w.signalled)
				return s
			}, func(n int) api.Event {
				ids, kind := known, api.EventType("checkout_intent.noted")
				if n%10 == 0 {
					ids, kind = next, api.OfferRetrieved
				}
				return api.Event{ID: ids.at(n), Type: kind, Source: api.EventSource{ID: ids.source(n), Type: api.SourceIntent}}
			})
		})
	}
}
