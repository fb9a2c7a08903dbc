package account

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"tillwatch/api"
)

// BenchmarkHeap tells what a picture costs in memory: 100,000 intents that were
// read through to their end, and 1,000,000 events of them.
func BenchmarkHeap(b *testing.B) {
	const intents, events = 100_000, 1_000_000
	for _, reads := range []bool{false, true} {
		b.Run(fmt.Sprint("read ", reads), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := NewStore(StoreConfig{})
				for i := range intents {
					liveThrough(s, i, events/intents, reads)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
				if got := s.Summary().Events; got.Received != events || got.Duplicate != 0 {
					b.Fatalf("%+v, want %d events known", got, events)
				}
				runtime.KeepAlive(s)
			}
		})
	}
}

// BenchmarkHeapOfShipments tells what 100,000 shipments cost in memory that were
// read on their way.
func BenchmarkHeapOfShipments(b *testing.B) {
	const shipments = 100_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := NewStore(StoreConfig{})
		for i := range shipments {
			s.ApplyShipments([]api.Shipment{benchShipment(i)}, noon.Add(time.Hour))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		runtime.KeepAlive(s)
	}
}

// BenchmarkHeapOfShipmentEvents tells what 300,000 events of 10,000 shipments cost
// in memory that stand in the timelines of their intents.
func BenchmarkHeapOfShipmentEvents(b *testing.B) {
	const shipments, events = 10_000, 300_000
	for _, form := range []struct {
		name string
		id   func(n int, shipment api.ID) api.ID
	}{
		{"ids of 32 digits", func(n int, _ api.ID) api.ID {
			return api.ID(fmt.Sprintf("evt_%016x%016x", uint64(n)*0x9e3779b97f4a7c15, n))
		}},
		{"ids of 40 digits", func(n int, _ api.ID) api.ID { return api.ID(fmt.Sprintf("evt_%040x", n)) }},
		{"ids of the shipment's", func(n int, of api.ID) api.ID { return api.ID(fmt.Sprintf("evt_%s_updated_%d", of, n/shipments)) }},
	} {
		b.Run(form.name, func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				s := NewStore(StoreConfig{})
				list := make([]api.Shipment, shipments)
				for i := range list {
					list[i] = api.Shipment{ID: api.ID(fmt.Sprintf("shp_%032x", i)), IntentID: benchID(i), Status: api.Shipped}
				}
				s.ApplyShipments(list, noon)
				runtime.GC()
				runtime.ReadMemStats(&before)
				for n := range events {
					at, of := noon.Add(time.Duration(n)*time.Millisecond), list[n%shipments].ID
					s.ApplyEvents([]Delivery{{Seq: int64(n + 1), Received: at, Origin: "webhook", Event: api.Event{
						ID: form.id(n, of), Type: api.ShipmentUpdated, CreatedAt: at, Source: api.EventSource{ID: of, Type: api.SourceShipment},
					}}}, time.Now())

				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/events, "B/event")
				runtime.KeepAlive(list)
				runtime.KeepAlive(s)
			}
		})
	}
}

// benchShipment is a shipment as the service answers it.
func benchShipment(n int) api.Shipment {
	body := fmt.Sprintf(`{"id":"shp_%032x","checkoutIntentId":"%s","marketplaceOrderId":"m-%d","externalId":"x-%d","status":"shipped",
"createdAt":"2026-06-18T11:00:00Z","updatedAt":"2026-06-18T11:30:00Z","shippedAt":"2026-06-18T11:20:00Z",
"tracking":{"number":"1Z9999W%d","carrierName":"UPS","url":"https://track.example/1Z9999W%d","deliveryDate":{"estimated":"2026-06-21T00:00:00Z"}},
"trackingEvents":[{"status":"ordered","description":"label made","location":{"city":"Austin","province":"TX","country":"US"},"timestamp":{"utc":"2026-06-18T11:05:00Z"}},
{"status":"shipped","description":"left the hub","location":{"city":"Dallas","province":"TX","country":"US"},"timestamp":{"utc":"2026-06-18T11:25:00Z"}}]}`,
		n, benchID(n), n, n, n, n)
	sh, err := api.DecodeShipment([]byte(body))
	if err != nil {
		panic(err)
	}
	return sh
}

// liveThrough lets the store hear so many events of an intent, and read it after
// the two that move it.
func liveThrough(s *Store, i, events int, reads bool) {
	id, at := benchID(i), noon.Add(time.Duration(i)*time.Second)
	deliver := func(n int, t api.EventType, suffix string) {
		at = at.Add(time.Minute)
		s.ApplyEvents([]Delivery{{Seq: int64(i*events + n), Received: at, Origin: "webhook", Event: api.Event{
			ID: "evt_" + id + "_" + api.ID(suffix), Type: t, CreatedAt: at,
			Source: api.EventSource{ID: id, Type: api.SourceIntent}, Raw: make([]byte, 230),
		}}}, time.Now())

	}
	read := func(completed bool) {
		if reads {
			s.ApplyRead(benchRead(id, i, completed), at.Add(time.Second), ByRead)
		}
	}
	deliver(0, api.OfferRetrieved, "awaiting_confirmation")
	read(false)
	for n := 1; n < events-1; n++ {
		deliver(n, "checkout_intent.noted", fmt.Sprint("noted_", n))
	}
	deliver(events-1, api.IntentCompleted, "completed")
	read(true)
}
