package account

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"tillwatch/api"
)

// BenchmarkApplyEvent is an event as the feed brings it, in batches or one at a
// time: of 100,000 intents that are known, in scattered order, or of new ones; in
// the mix, every tenth is the first of an intent. One call reads the clock once.
func BenchmarkApplyEvent(b *testing.B) {
	for _, c := range []struct {
		name         string
		batch, fresh int // of ten events, so many are of new intents
	}{
		{"known, 100 a batch", 100, 0},
		{"known, one at a time", 1, 0},
		{"new, 100 a batch", 100, 10},
		{"new, one at a time", 1, 10},
		{"mix, 100 a batch", 100, 1},
		{"mix, one at a time", 1, 1},
	} {
		b.Run(c.name, func(b *testing.B) { benchApply(b, c.batch, c.fresh) })
	}
}

// benchRun is how many events a picture gets before it begins anew.
const benchRun = 1 << 19

func benchApply(b *testing.B, size, fresh int) {
	const intents = 100_000
	known, next := scattered("ci", intents, 0, benchRun), scattered("ci", benchRun, intents, benchRun)
	benchBatches(b, size, func() *Store { return filled(intents) }, func(n int) api.Event {
		ids, kind := known, api.EventType("checkout_intent.noted")
		if n%10 < fresh {
			ids, kind = next, api.OfferRetrieved
		}
		return api.Event{ID: ids.at(n), Type: kind, Source: api.EventSource{ID: ids.source(n), Type: api.SourceIntent}}
	})
}

// benchBatches merges events in batches of a size, benchRun of them into a picture.
func benchBatches(b *testing.B, size int, fill func() *Store, event func(n int) api.Event) {
	at, arrived := time.Now(), time.Now()
	decoded := make([]Delivery, 1<<12) // at a time, while nothing is measured
	var s *Store
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(decoded) {
		b.StopTimer()
		if done%benchRun == 0 {
			s = fill()
			runtime.GC()
		}
		for i := range decoded {
			n := (done + i) % benchRun
			decoded[i] = Delivery{Seq: int64(done + i), Received: at, Event: event(n)}
			decoded[i].Event.CreatedAt = at.Add(time.Duration(n) * time.Millisecond)
		}
		b.StartTimer()
		for rest := decoded[:min(len(decoded), b.N-done)]; len(rest) > 0; {
			n := min(size, len(rest))
			s.ApplyEvents(rest[:n], arrived)
			rest = rest[n:]
		}
	}
}

// eventIDs are ids of events, of the same length, in one piece of memory, so that
// it is not they that the garbage collector is busy with.
type eventIDs struct {
	text   string
	length int
}

func (ids eventIDs) at(n int) api.ID { return api.ID(ids.text[n*ids.length : (n+1)*ids.length]) }

// source is the id of what an event speaks of.
func (ids eventIDs) source(n int) api.ID {
	id := ids.at(n)
	return id[len("evt_") : len(id)-len("_noted_00")]
}

// scattered makes so many ids of events, of so many sources in no order.
func scattered(kind string, sources, from, events int) eventIDs {
	length := len("evt_") + len(kind) + len("_01234567890123456789012345678901_noted_00")
	ids := make([]byte, 0, events*length)
	for n := range events {
		ids = fmt.Appendf(ids, "evt_%s_%032x_noted_%02d", kind, from+n*7919%sources, n/sources)
	}
	return eventIDs{string(ids), length}
}

// BenchmarkChanges is what a screen pays after so many intents have changed, in a
// picture of 100,000, and how long writers wait for it at the most.
func BenchmarkChanges(b *testing.B) {
	s := filled(100_000)
	at := noon
	for _, changed := range []int{0, 10, 10_000, 100_000} {
		b.Run(fmt.Sprint(changed, " changed"), func(b *testing.B) {
			at = at.Add(time.Second)
			since := s.version()
			for i := range changed {
				s.ApplyRead(benchRead(benchID(i), i, true), at, ByRead)
			}
			b.ReportAllocs()
			for b.Loop() {
				if c := s.Changes(since); len(c.Intents) != changed {
					b.Fatalf("%d changes, want %d", len(c.Intents), changed)
				}
			}
		})
	}
}

func benchID(i int) api.ID { return api.ID(fmt.Sprintf("ci_%032x", i)) }

func filled(intents int) *Store {
	s := NewStore(StoreConfig{KeepIntents: intents})
	for i := range intents {
		s.ApplyEvents([]Delivery{intentEvent(i, benchID(i), api.IntentCompleted, noon)}, time.Now())
	}
	return s
}

// benchRead is a read as the service answers it.
func benchRead(id api.ID, n int, completed bool) api.Intent {
	money := func(cents int) *api.Money { return &api.Money{Currency: "USD", Subunits: int64(cents)} }
	in := api.Intent{
		ID: id, State: api.AwaitingConfirmation, CreatedAt: noon, Quantity: 1 + n%2, ReferenceID: api.Text(fmt.Sprint("order-", n)),
		ProductURL: api.Text(fmt.Sprintf("https://shop-%d.example/products/wool-socks-%d?variant=41", n%40, n%2000)),
		Buyer:      &api.Buyer{FirstName: "Ann", LastName: "Lee", Email: "ann@example.com", City: "Austin"},
		Variants:   []api.VariantSelection{{Label: "Size", Value: "M"}},
		Payment:    &api.PaymentMethod{Type: api.VaultToken},
		Offer: &api.Offer{
			Cost:             api.Cost{Subtotal: money(4000), Shipping: money(499), Tax: money(350), Total: money(4000 + n%5000)},
			SelectedOptionID: "standard", ShippingOptions: []api.ShippingOption{
				{ID: "standard", Cost: money(499), EarliestDelivery: noon.AddDate(0, 0, 3), LatestDelivery: noon.AddDate(0, 0, 5)},
				{ID: "express", Cost: money(1499), EarliestDelivery: noon.AddDate(0, 0, 1), LatestDelivery: noon.AddDate(0, 0, 2)}},
		},
		Raw: make([]byte, 1300),
	}
	if completed {
		in.State, in.OrderIDs = api.Completed, []api.Text{api.Text(fmt.Sprintf("#%d", 100000+n))}
	}
	return in
}

// BenchmarkRestart is what a start costs with 10,000 ended intents in the file,
// each with the timeline of a life.
func BenchmarkRestart(b *testing.B) {
	const intents = 10_000
	f, err := OpenSaved(SavedConfig{Dir: b.TempDir(), Account: "a", MaxAge: forEver, MaxEnded: intents})
	if err != nil {
		b.Fatal(err)
	}
	s := NewStore(StoreConfig{KeepIntents: intents})
	for i := range intents {
		l := sold(benchID(i), noon, time.Second, time.Minute, time.Minute)
		events := l.events()
		s.ApplyEvents([]Delivery{{Seq: int64(2*i + 1), Event: events[0], Received: noon}}, time.Now())
		s.ApplyRead(l.read(noon.Add(2*time.Second)), noon.Add(2*time.Second), ByRead)
		s.ApplyEvents([]Delivery{{Seq: int64(2*i + 2), Event: events[1], Received: noon}}, time.Now())
		s.ApplyRead(l.read(noon.Add(time.Hour)), noon.Add(time.Hour), ByRead)
	}
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			mustSave(b, f, s)
		}
		if info, err := os.Stat(f.path); err == nil {
			b.ReportMetric(float64(info.Size())/intents, "B/intent")
		}
	})
	mustSave(b, f, s)
	s = nil
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			again := NewStore(StoreConfig{})
			if err := f.Restore(again); err != nil {
				b.Fatal(err)
			}
			if all := again.Changes(0); len(all.Intents) != intents {
				b.Fatal("the picture is not whole")
			}
		}
	})
}
