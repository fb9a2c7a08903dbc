package account

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"tillwatch/api"
)

func BenchmarkApplyEvent(b *testing.B) {
	s := NewStore(StoreConfig{})
	batch := make([]Delivery, 1)
	ids := make([]api.ID, b.N)
	intents := make([]api.ID, b.N/3+1)
	for i := range ids {
		ids[i] = api.ID(fmt.Sprintf("evt_ci_%032x_awaiting_confirmation", i))
	}
	for i := range intents {
		intents[i] = api.ID(fmt.Sprintf("ci_%032x", i))
	}
	types := []api.EventType{api.OfferRetrieved, api.IntentCompleted, api.ShipmentCreated}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		kind := api.SourceIntent
		if i%3 == 2 {
			kind = api.SourceShipment
		}
		batch[0] = Delivery{Seq: int64(i), Received: noon, Event: api.Event{
			ID: ids[i], Type: types[i%3], CreatedAt: noon.Add(time.Duration(i)),
			Source: api.EventSource{ID: intents[i/3], Type: kind},
		}}
		s.ApplyEvents(batch)
	}
}

// BenchmarkApplyEventOfKnown is an event of a shipment that is known already.
func BenchmarkApplyEventOfKnown(b *testing.B) {
	s := NewStore(StoreConfig{})
	ids := make([]api.ID, b.N)
	for i := range ids {
		ids[i] = api.ID(fmt.Sprintf("evt_shp_%032x_updated", i))
	}
	known := make([]api.ID, 1000)
	for i := range known {
		known[i] = api.ID(fmt.Sprintf("shp_%032x", i))
		s.ApplyShipments([]api.Shipment{{ID: known[i], IntentID: "ci_1", Status: api.Shipped}}, noon)
	}
	s.ApplyRead(api.Intent{ID: "ci_1", State: api.Completed, ProductURL: "https://shop.example/mug"}, noon, ByRead)
	batch := make([]Delivery, 1)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		batch[0] = Delivery{Seq: int64(i), Received: noon, Event: api.Event{
			ID: ids[i], Type: api.ShipmentUpdated, CreatedAt: noon.Add(time.Duration(i)),
			Source: api.EventSource{ID: known[i%len(known)], Type: api.SourceShipment},
		}}
		s.ApplyEvents(batch)
	}
}

// BenchmarkApplyEventAgain is the cost of a duplicate.
func BenchmarkApplyEventAgain(b *testing.B) {
	s := NewStore(StoreConfig{})
	batch := []Delivery{intentEvent(1, "ci_1", api.OfferRetrieved, noon)}
	b.ReportAllocs()
	for b.Loop() {
		s.ApplyEvents(batch)
	}
}

func BenchmarkApplyRead(b *testing.B) {
	s := NewStore(StoreConfig{})
	ids := make([]api.ID, 10_000)
	for i := range ids {
		ids[i] = api.ID(fmt.Sprintf("ci_%032x", i))
	}
	lives := sold("ci_1", noon, time.Second, time.Hour, time.Second)
	in := lives.read(noon.Add(time.Minute))
	sent := noon
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in.ID = ids[i%len(ids)]
		sent = sent.Add(time.Millisecond)
		s.ApplyRead(in, sent, ByRead)
	}
}

// BenchmarkChanges is what a screen pays after 10,000 intents have changed, in a
// picture of 100,000.
func BenchmarkChanges(b *testing.B) {
	s := filled(100_000)
	for _, changed := range []int{0, 10, 10_000} {
		b.Run(fmt.Sprint(changed, " changed"), func(b *testing.B) {
			at := noon
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				since := s.Changes(s.version).Version
				at = at.Add(time.Second)
				for i := range changed {
					s.ApplyRead(api.Intent{ID: benchID(i), State: api.AwaitingConfirmation, CreatedAt: noon}, at, ByRead)
				}
				b.StartTimer()
				if c := s.Changes(since); len(c.Intents) != changed {
					b.Fatalf("%d changes, want %d", len(c.Intents), changed)
				}
			}
		})
	}
}

func benchID(i int) api.ID { return api.ID(fmt.Sprintf("ci_%032x", i)) }

func filled(intents int) *Store {
	s := NewStore(StoreConfig{})
	for i := range intents {
		s.ApplyEvents([]Delivery{intentEvent(i, benchID(i), api.OfferRetrieved, noon)})
	}
	return s
}

// BenchmarkHeap tells what an intent costs in memory: one event and no read.
func BenchmarkHeap(b *testing.B) {
	const intents = 100_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := filled(intents)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/intents, "B/intent")
		runtime.KeepAlive(s)
	}
}

// BenchmarkRestart is what a start costs with 100,000 ended intents in the file,
// each with the timeline of a life.
func BenchmarkRestart(b *testing.B) {
	const intents = 100_000
	f, err := OpenSaved(SavedConfig{Dir: b.TempDir(), Account: "a", MaxAge: forEver, MaxEnded: intents})
	if err != nil {
		b.Fatal(err)
	}
	s := NewStore(StoreConfig{})
	for i := range intents {
		l := sold(benchID(i), noon, time.Second, time.Minute, time.Minute)
		events := l.events()
		s.ApplyEvents([]Delivery{{Seq: int64(2*i + 1), Event: events[0], Received: noon}})
		s.ApplyRead(l.read(noon.Add(2*time.Second)), noon.Add(2*time.Second), ByRead)
		s.ApplyEvents([]Delivery{{Seq: int64(2*i + 2), Event: events[1], Received: noon}})
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
			if r, err := f.Restore(again); err != nil || r.Intents != intents {
				b.Fatal(r, err)
			}
			if all := again.Changes(0); len(all.Intents) != intents {
				b.Fatal("the picture is not whole")
			}
		}
	})
}
