package account

import (
	"fmt"
	"os"
	"testing"
	"time"

	"tillwatch/api"
)

// BenchmarkApplyEvent is a batch of events as the feed brings it, of 100,000 intents that are known, in scattered order.
func BenchmarkApplyEvent(b *testing.B) {
	const intents, batch = 100_000, 100
	s, n := filled(intents), intents
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var all []Delivery
		for range batch {
			n++
			all = append(all, intentEvent(n, benchID(n*7919%intents), "checkout_intent.noted", noon))
		}
		b.StartTimer()
		s.ApplyEvents(all, noon)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/event")
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
