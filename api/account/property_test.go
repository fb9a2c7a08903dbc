package account

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
)

var noon = time.Date(2026, 6, 18, 12, 0, 0, 0, time.UTC)

// drawLife draws the truth of an intent, whichever way its life goes.
func drawLife(t *rapid.T) *life {
	l := &life{id: "ci_1", created: noon, total: 4452, moves: []move{{noon, api.RetrievingOffer, ""}}}
	at := noon
	enter := func(state api.IntentState, event api.EventType) {
		at = at.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "seconds")) * time.Second)
		l.moves = append(l.moves, move{at, state, event})
	}
	switch rapid.SampledFrom([]string{"completed", "failed", "no offer", "expired", "open", "purchase", "requires action"}).Draw(t, "way") {
	case "completed":
		enter(api.AwaitingConfirmation, api.OfferRetrieved)
		enter(api.PlacingOrder, "")
		enter(api.Completed, api.IntentCompleted)
	case "failed":
		enter(api.AwaitingConfirmation, api.OfferRetrieved)
		enter(api.PlacingOrder, "")
		enter(api.Failed, api.OrderFailed)
	case "no offer":
		enter(api.Failed, api.OfferFailed)
	case "expired":
		enter(api.AwaitingConfirmation, api.OfferRetrieved)
		enter(api.Failed, "")
	case "open":
		enter(api.AwaitingConfirmation, api.OfferRetrieved)
		enter(api.PlacingOrder, "")
	case "purchase":
		enter(api.PlacingOrder, "")
		enter(api.Completed, api.IntentCompleted)
	case "requires action":
		enter(api.AwaitingConfirmation, api.OfferRetrieved)
		enter("requires_action", "")
		enter(api.PlacingOrder, "")
		enter(api.Completed, api.IntentCompleted)
	}
	return l
}

// arrival is something that reaches the store.
type arrival struct {
	event *Delivery
	read  api.Intent
	sent  time.Time
}

// drawArrivals draws events of a life, some lost and some doubled, and reads of
// it that were sent at any moment and answered from any moment after that, all in
// any order. The clock of the service may be off.
func drawArrivals(t *rapid.T, l *life) []arrival {
	var all []arrival
	skew := time.Duration(rapid.IntRange(-3, 3).Draw(t, "skew")) * time.Second
	for i, e := range l.events() {
		e.CreatedAt = e.CreatedAt.Add(skew)
		copies := rapid.IntRange(0, 3).Draw(t, "copies")
		for c := range copies {
			all = append(all, arrival{event: &Delivery{Seq: int64(i*10 + c), Event: e, Received: noon}})
		}
	}
	for range rapid.IntRange(0, 6).Draw(t, "reads") {
		sent := noon.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "sent")) * time.Second)
		answered := sent.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "took")) * time.Second)
		all = append(all, arrival{read: l.read(answered), sent: sent})
	}
	return rapid.Permutation(all).Draw(t, "order")
}

func TestPictureEqualsTheTruthWhateverArrivesInWhateverOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t)
		s := NewStore(StoreConfig{})
		s.SetFeed(FeedStatus{State: FeedLive})
		read := map[api.IntentState]bool{}
		ranks := 0
		var ended api.IntentState
		var screen *Intent // what a screen holds that takes each change
		version := uint64(0)
		check := func(what string) {
			c := s.Changes(version)
			version = c.Version
			for _, listed := range c.Intents {
				if screen != nil && listed.State.Known() && screen.State.Known() && listed.State.Rank() < screen.State.Rank() {
					t.Fatalf("%s: the screen moved back from %s to %s", what, screen.State, listed.State)
				}
				screen = listed
			}
			in, ok := s.Intent(l.id)
			if !ok {
				return
			}
			if screen == nil || screen.State != in.State || screen.Certainty != in.Certainty || !screen.Since.Equal(in.Since) || screen.Version != in.Version {
				t.Fatalf("%s: the screen shows %+v of %+v", what, screen, in.Intent)
			}
			if in.State.Known() {
				if in.State.Rank() < ranks {
					t.Fatalf("%s: moved back to %s", what, in.State)
				}
				ranks = in.State.Rank()
			}
			if ended != "" && in.State != ended {
				t.Fatalf("%s: left the end %s for %s", what, ended, in.State)
			}
			if in.State.Terminal() {
				ended = in.State
			}
			if in.Certainty == Verified && !read[in.State] {
				t.Fatalf("%s: claims %s to be verified, which no read has said", what, in.State)
			}
			checkTimeline(t, in)
			checkCounts(t, s, in.State)
		}
		for i, a := range drawArrivals(t, l) {
			if a.event != nil {
				s.ApplyEvents([]Delivery{*a.event}, time.Now())
			} else {
				read[a.read.State] = true
				s.ApplyRead(a.read, a.sent, ByRead)
			}
			check(fmt.Sprint("arrival ", i))
		}

		settled := noon.Add(time.Hour)
		truth := l.read(settled)
		read[truth.State] = true
		s.ApplyRead(truth, settled, ByRead)
		check("settled")
		in, _ := s.Intent(l.id)
		if in.State != truth.State || in.Certainty != Verified {
			t.Fatalf("settled on %s (certainty %d), the truth is %s", in.State, in.Certainty, truth.State)
		}
	})
}

func checkTimeline(t *rapid.T, in *IntentDetail) {
	seen := map[api.ID]bool{}
	for i, m := range in.Timeline {
		if i > 0 && m.When.Before(in.Timeline[i-1].When) {
			t.Fatalf("timeline out of order at %d: %v", i, in.Timeline)
		}
		if m.EventID != "" && seen[m.EventID] {
			t.Fatalf("event %s stands twice in the timeline", m.EventID)
		}
		seen[m.EventID] = true
	}
}

func checkCounts(t *rapid.T, s *Store, state api.IntentState) {
	sum := s.Summary()
	if notRead := sum.NotRead == 1; notRead != (state == "") {
		t.Fatalf("%d intents are not read while the only one is %q", sum.NotRead, state)
	}
	for counted, n := range sum.Intents {
		want := 0
		if state != "" && (counted == state || counted == "" && !state.Known()) {
			want = 1
		}
		if n != want {
			t.Fatalf("%d intents counted as %q while the only one is %q", n, counted, state)
		}
	}
}

func TestShipmentEndsAsTheNewestWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		statuses := api.ShipmentStatuses()
		n := rapid.IntRange(1, len(statuses)).Draw(t, "statuses")
		type answer struct {
			sh   api.Shipment
			sent time.Time
		}
		var answers []answer
		for i := range n {
			for range rapid.IntRange(1, 2).Draw(t, "reads") {
				at := noon.Add(time.Duration(i) * time.Minute)
				answers = append(answers, answer{api.Shipment{ID: "shp_1", IntentID: "ci_1", Status: statuses[i], UpdatedAt: at},
					at.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "sent")) * time.Second)})
			}
		}
		s := NewStore(StoreConfig{})
		for _, a := range rapid.Permutation(answers).Draw(t, "order") {
			s.ApplyShipments([]api.Shipment{a.sh}, a.sent)
		}
		sh, _ := s.Shipment("shp_1")
		if sh.Status() != statuses[n-1] {
			t.Fatalf("status %s, want %s", sh.Status(), statuses[n-1])
		}
		counts := s.Summary().Shipments
		if len(counts) != 1 || counts[statuses[n-1]] != 1 {
			t.Fatalf("counts %v", counts)
		}
		in, ok := s.Intent("ci_1")
		if !ok || len(in.Shipments) != 1 || in.Shipments[0] != "shp_1" {
			t.Fatalf("the intent does not know its shipment: %+v", in)
		}
	})
}

func TestOfShipmentsOfOneMomentTheLaterReadWins(t *testing.T) {
	for _, updated := range []time.Time{noon, {}} {
		s := NewStore(StoreConfig{})
		for _, a := range []struct {
			status api.ShipmentStatus
			second int
		}{{api.Shipped, 5}, {api.Delivered, 9}, {api.Delayed, 7}} {
			s.ApplyShipments([]api.Shipment{{ID: "shp_1", Status: a.status, UpdatedAt: updated}}, noon.Add(time.Duration(a.second)*time.Second))
		}
		if sh, _ := s.Shipment("shp_1"); sh.Status() != api.Delivered {
			t.Errorf("updated at %v: %s", updated, sh.Status())
		}
	}
}
