package account

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tillwatch/api"
)

func TestManyFeedersAndReadersSeeOnePicture(t *testing.T) {
	defer goleak.VerifyNone(t)
	const feeders, readers, rounds, intents = 16, 4, 200, 50
	s := NewStore(StoreConfig{KeepEvents: 100})
	s.SetFeed(FeedStatus{State: FeedLive})
	ctx, cancel := context.WithCancel(context.Background())
	var feeding, reading sync.WaitGroup
	for f := range feeders {
		feeding.Go(func() {
			for i := range rounds {
				id := api.ID(fmt.Sprint("ci_", i%intents))
				at := noon.Add(time.Duration(i) * time.Second)
				switch f % 4 {
				case 0:
					s.ApplyEvents([]Delivery{intentEvent(f*rounds+i, id, api.OfferRetrieved, at)}, time.Now())
				case 1:
					s.ApplyRead(api.Intent{ID: id, State: api.PlacingOrder, CreatedAt: noon, ProductURL: "https://shop.example/mug"}, at, ByRead)
				case 2:
					s.ApplyShipments([]api.Shipment{{ID: "shp_" + id, IntentID: id, Status: api.Shipped, UpdatedAt: at}}, at)
				case 3:
					s.RecordExchange(api.Exchange{Status: 200})
					s.tick(at)
				}
			}
		})
	}
	for range readers {
		reading.Go(func() {
			// A reader that keeps what it was told has the whole picture.
			picture := map[api.ID]*Intent{}
			version := uint64(0)
			take := func() {
				c := s.Changes(version)
				if c.Version < version {
					t.Error("the version went back")
				}
				version = c.Version
				for _, in := range c.Intents {
					if old := picture[in.ID]; old != nil && in.State.Rank() < old.State.Rank() {
						t.Errorf("%s went back from %s to %s", in.ID, old.State, in.State)
					}
					picture[in.ID] = in
				}
				if len(c.Intents) > 0 {
					in, _ := s.Intent(c.Intents[0].ID)
					for _, m := range in.Timeline {
						if m.What == "" {
							t.Error("a moment says nothing")
						}
					}
				}
			}
			for s.Wait(ctx, version) == nil {
				take()
			}
			take()
			for _, in := range s.Changes(0).Intents {
				if *picture[in.ID] != *in {
					t.Errorf("%s differs from what was told of it", in.ID)
				}
			}
			if len(picture) != intents {
				t.Errorf("%d intents were told of, want %d", len(picture), intents)
			}
		})
	}
	feeding.Wait()
	cancel()
	reading.Wait()
}
