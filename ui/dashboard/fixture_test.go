package dashboard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/canvas"
)

// shop is a made-up account: an account.Picture that a test builds.
type shop struct {
	mu      sync.Mutex
	now     time.Time
	version uint64
	changes account.Changes // all, as one change
	wake    chan struct{}
	reads   map[api.ID]*api.Intent
	lines   map[api.ID][]*account.Moment
}

func newShop(now time.Time) *shop {
	s := &shop{now: now, wake: make(chan struct{}), reads: map[api.ID]*api.Intent{}, lines: map[api.ID][]*account.Moment{}}
	s.changes.Summary = account.Summary{
		Intents:   map[api.IntentState]int{},
		Shipments: map[api.ShipmentStatus]int{},
		Day:       account.DayCount{Seen: 31, Today: 31, Limit: 50},
		Agents:    account.AgentCount{Limit: 10},
		Feed:      account.FeedStatus{State: account.FeedLive, Since: now.Add(-time.Hour), Head: 1042, Cursor: 1042},
		API:       account.APIStatus{State: account.APIHealthy, Since: now.Add(-time.Hour), Latency: 41 * time.Millisecond},
	}
	return s
}

// Changes returns everything: merging is by identity, so that is allowed. What it
// returns is the reader's, as the store's is.
func (s *shop) Changes(uint64) account.Changes {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.changes
	c.Summary.Intents = maps.Clone(c.Summary.Intents)
	c.Summary.Shipments = maps.Clone(c.Summary.Shipments)
	c.Intents = slices.Clone(c.Intents)
	c.Shipments = slices.Clone(c.Shipments)
	c.Events = slices.Clone(c.Events)
	c.Requests = slices.Clone(c.Requests)
	return c
}

// Intent returns all of one intent.
func (s *shop) Intent(id api.ID) (*account.IntentDetail, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.changes.Intents {
		if in.ID == id {
			return &account.IntentDetail{Intent: *in, Latest: s.reads[id], Timeline: s.lines[id]}, true
		}
	}
	return nil, false
}

// Wait returns after the next touch.
func (s *shop) Wait(ctx context.Context, since uint64) error {
	for {
		s.mu.Lock()
		version, wake := s.version, s.wake
		s.mu.Unlock()
		if version > since {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		}
	}
}

// touch makes the picture newer by what change does to it.
func (s *shop) touch(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.version++
	s.changes.Version = s.version
	close(s.wake)
	s.wake = make(chan struct{})
}

var goods = []struct {
	name, merchant string
	cents          int64
}{
	{"Chili Crisp", "spice-lab.example", 1290}, {"Wool Socks", "acme.example", 4452}, {"Desk Lamp", "lumen.example", 8900},
	{"Mug", "acme.example", 1290}, {"Linen Shirt", "atelier-nord.example", 12900}, {"Trail Runners 2", "stride.example", 13995},
	{"Pour-over Kettle", "brewhaus.example", 16400}, {"Sofa", "lounge.example", 249900}, {"Notebook, dotted, A5", "paperworks.example", 1850},
	{"Cast Iron Skillet", "hearth.example", 6495}, {"USB-C Hub 8-in-1", "voltline.example", 5999}, {"Olive Oil, early harvest", "spice-lab.example", 2750},
	{"Merino Beanie", "acme.example", 2800}, {"Rain Jacket", "stride.example", 18900}, {"Espresso Beans 1 kg", "brewhaus.example", 3125},
}

func (s *shop) id(n int) api.ID {
	return api.ID(fmt.Sprintf("ci_%08x1900f41e1ace4536c%08x", n*2654435761%0xffffffff, n))
}

// intent adds a verified intent that has been in its state for so long.
func (s *shop) intent(n int, state api.IntentState, in time.Duration) *account.Intent {
	g := goods[n%len(goods)]
	created := s.now.Add(-in - 90*time.Second)
	read := &api.Intent{
		ID: s.id(n), State: state, CreatedAt: created, Quantity: 1 + n%7/6,
		ProductURL: api.Text("https://" + g.merchant + "/products/" + fmt.Sprint(n)), ReferenceID: api.Text(fmt.Sprintf("order-%d", 20400+n)),
		Buyer: &api.Buyer{FirstName: "Ann", City: "Austin"}, Payment: &api.PaymentMethod{Type: api.VaultToken, Token: api.NewSecret("tok_live_1")},
		Variants: []api.VariantSelection{{Label: "Size", Value: "M"}, {Label: "Color", Value: "Oat"}},
		Raw:      []byte(fmt.Sprintf(`{"id":%q,"state":%q,"buyer":{"firstName":"Ann"},"quantity":1}`, s.id(n), state)),
	}
	in2 := &account.Intent{
		ID: read.ID, State: state, Certainty: account.Verified, Since: s.now.Add(-in), CreatedAt: created, ReadAt: s.now.Add(-12 * time.Second),
		Product: api.Text(g.name), Merchant: api.Text(g.merchant),
		Quantity: read.Quantity, ReferenceID: read.ReferenceID,
	}
	s.reads[in2.ID] = read
	s.lines[in2.ID] = []*account.Moment{{What: account.ReadShowed, To: api.RetrievingOffer, When: created, Learnt: created}}
	if state != api.RetrievingOffer {
		total := api.Money{Currency: "USD", Subunits: g.cents}
		tax, shipping := api.Money{Currency: "USD", Subunits: g.cents / 12}, api.Money{Currency: "USD", Subunits: 499}
		sub := api.Money{Currency: "USD", Subunits: g.cents - g.cents/12 - 499}
		read.Offer = &api.Offer{ProductTitle: api.Text(g.name), SelectedOptionID: "std", Cost: api.Cost{Subtotal: &sub, Shipping: &shipping, Tax: &tax, Total: &total},
			ShippingOptions: []api.ShippingOption{{ID: "std", EarliestDelivery: s.now.AddDate(0, 0, 3), LatestDelivery: s.now.AddDate(0, 0, 5)}}}
		in2.Total = &total
		s.lines[in2.ID] = append(s.lines[in2.ID], &account.Moment{What: account.EventTold, Type: api.OfferRetrieved, To: state, When: s.now.Add(-in), Learnt: s.now.Add(-in)})
	}
	if state == api.AwaitingConfirmation {
		in2.ExpiresAt = created.Add(api.ConfirmWindow)
	}
	if state == api.Failed {
		codes := []api.FailureCode{"product_out_of_stock", "checkout_intent_expired", "offer_retrieval_failed", "payment_declined"}
		read.Failure = &api.FailureReason{Code: codes[n%len(codes)], Message: "The merchant said no."}
		in2.Failure = read.Failure
	}
	s.put(in2)
	return in2
}

func (s *shop) put(in *account.Intent) {
	for i, old := range s.changes.Intents {
		if old.ID == in.ID {
			s.changes.Summary.Intents[old.State]--
			s.changes.Summary.Intents[in.State]++
			s.changes.Intents[i] = in
			return
		}
	}
	s.changes.Intents = append(s.changes.Intents, in)
	s.changes.Summary.Intents[in.State]++
	s.changes.Summary.Agents.Placing = s.changes.Summary.Intents[api.PlacingOrder]
}

func (s *shop) shipment(n int, status api.ShipmentStatus, in time.Duration) {
	g := goods[n%len(goods)]
	read := &api.Shipment{ID: api.ID(fmt.Sprintf("shp_%032x", n)), IntentID: s.id(n), Status: status,
		CreatedAt: s.now.Add(-72 * time.Hour), UpdatedAt: s.now.Add(-time.Duration(n) * time.Hour)}
	if status != api.Ordered {
		carriers := []api.Text{"DHL", "UPS", "USPS"}
		read.Tracking = &api.Tracking{Carrier: carriers[n%3], Number: api.Text(fmt.Sprintf("00340434161094%06d", n*7919)), Estimated: s.now.Add(in)}
	}
	if status == api.Delivered {
		read.DeliveredAt = s.now.Add(-in)
	}
	s.changes.Shipments = append(s.changes.Shipments, &account.Shipment{ID: read.ID, IntentID: read.IntentID, Product: api.Text(g.name),
		Certainty: account.Verified, ReadAt: s.now.Add(-time.Minute), Latest: read})
	s.changes.Summary.Shipments[status]++
}

func (s *shop) event(n int, kind api.EventType, in time.Duration) *account.Event {
	e := &account.Event{
		Seq: int64(1000 + len(s.changes.Events)), ID: api.ID(fmt.Sprintf("evt_%s_%d", s.id(n), len(s.changes.Events))), Type: kind,
		SourceType: api.SourceIntent, SourceID: s.id(n), Product: api.Text(goods[n%len(goods)].name),
		CreatedAt: s.now.Add(-in - 300*time.Millisecond), Received: s.now.Add(-in), Origin: "webhook",
		Raw: []byte(fmt.Sprintf(`{"id":"evt","object":"event","type":%q,"source":{"type":"checkout_intent","id":%q}}`, kind, s.id(n))),
	}
	s.changes.Events = append(s.changes.Events, e)
	s.changes.Summary.Events.Received++
	s.changes.Summary.LastEvent = e.Received
	return e
}

// calls adds what the client asked for in the last seconds.
func (s *shop) calls() {
	for i := range 24 {
		e := api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/" + string(s.id(i)), Class: quota.Reads, Priority: quota.Priority(i % 4), Attempt: 1,
			Sent: s.now.Add(time.Duration(i-25) * 700 * time.Millisecond), Latency: time.Duration(9+i*7%40) * time.Millisecond, Status: 200, RequestID: api.Text(fmt.Sprintf("req_%d", i))}
		switch i {
		case 9:
			e.Path = "/api/v1/shipments"
		case 17:
			e.Status, e.Err = 429, errors.New("too many requests: 10 per second")
		case 18:
			e.Path, e.Attempt, e.Waited = s.changes.Requests[17].Path, 2, 940*time.Millisecond
		case 20:
			e.Status, e.Latency, e.Err = 0, 5*time.Second, errors.New("connection reset by peer")
		case 22:
			e.Method, e.Class, e.Priority, e.Path, e.Status = "POST", quota.Mutations, quota.Person, e.Path+"/confirm", 201
		}
		s.changes.Requests = append(s.changes.Requests, e)
	}
}

func (s *shop) buckets() {
	history := func(limit int, own, others func(i int) int) []quota.Sample {
		var h []quota.Sample
		for i := range 60 {
			o, t := own(i), others(i)
			h = append(h, quota.Sample{At: s.now.Add(time.Duration(i-59) * time.Second), Known: i > 8, Remaining: int64(limit - o - t), Own: o, Others: t})
		}
		return h
	}
	coarse := func(n int, unit time.Duration, most int) []quota.Sample {
		var h []quota.Sample
		for i := range n {
			h = append(h, quota.Sample{At: s.now.Add(time.Duration(i-n+1) * unit).Truncate(unit), Known: true, Own: i * 7 % most, Others: i * i % most, Rejected: i % 20 / 19})
		}
		return h
	}
	none := func(int) int { return 0 }
	s.changes.Summary.Quota = []quota.Bucket{
		{Class: quota.Reads, Policy: "default", Limit: 10, Window: time.Second, Remaining: 7, Reset: time.Second, ObservedAt: s.now, Own: 1.2, Others: 1.8,
			History: history(10, func(i int) int { return i * 7 % 4 }, func(i int) int { return i * i % 5 }),
			Hour:    coarse(60, time.Minute, 90), Day: coarse(24, time.Hour, 2400)},
		{Class: quota.Mutations, Policy: "default", Limit: 5, Window: time.Second, Remaining: 1, Reset: time.Second, ObservedAt: s.now, Own: 0.1,
			History: history(5, func(i int) int { return i / 50 * 4 }, none), Hour: coarse(40, time.Minute, 9), Exhausted: 3 * time.Second},
		{Class: quota.Lookup, Policy: "default", Limit: 10, Window: time.Second, Remaining: 10, Reset: time.Second, ObservedAt: s.now.Add(-40 * time.Second)},
	}
}

// typicalShop is an account on an ordinary afternoon.
func typicalShop(now time.Time) *shop {
	s := newShop(now)
	n := 0
	add := func(count int, state api.IntentState, age func(i int) time.Duration) {
		for i := range count {
			s.intent(n, state, age(i))
			n++
		}
	}
	add(3, api.RetrievingOffer, func(i int) time.Duration { return time.Duration(12+i*340) * time.Second })
	add(7, api.AwaitingConfirmation, func(i int) time.Duration { return time.Duration(40-i*6) * time.Minute })
	add(4, api.PlacingOrder, func(i int) time.Duration { return time.Duration(9+i*130) * time.Second })
	add(41, api.Completed, func(i int) time.Duration { return time.Duration(2+i*9) * time.Minute })
	add(9, api.Failed, func(i int) time.Duration { return time.Duration(1+i*23) * time.Minute })
	reported := *s.changes.Intents[5]
	reported.Certainty, reported.Total, reported.ReadAt = account.Reported, nil, time.Time{}
	delete(s.reads, reported.ID)
	s.put(&reported)
	for i, status := range []api.ShipmentStatus{api.Shipped, api.OutForDelivery, api.Delivered, api.Ordered, api.Delayed, api.Shipped, api.Canceled} {
		s.shipment(14+i, status, time.Duration(i*20)*time.Hour)
	}
	for i := range 14 {
		s.shipment(21+i, api.Delivered, time.Duration(i*9)*time.Hour)
	}
	kinds := []api.EventType{api.OfferRetrieved, api.IntentCompleted, api.ShipmentCreated, api.ShipmentUpdated, api.OrderFailed, api.OfferRetrieved, api.ProductUpdated, "checkout_intent.requires_action"}
	for i := range 42 {
		e := s.event(i, kinds[i%len(kinds)], time.Duration(42-i)*11*time.Second/10)
		if i == 38 {
			e.Late = true
		}
		if i == 36 {
			e.Duplicates = 1
		}
		if i == 34 {
			e.Origin = "backfill"
		}
		if i == 35 {
			e.Status = api.Delayed
		}
	}
	s.changes.Summary.Events = account.EventCounters{Received: 1042, Duplicate: 2, Late: 3, Backfilled: 1}
	s.changes.Summary.LastEvent = now.Add(-time.Second)
	s.changes.Summary.LastRead = now.Add(-2 * time.Second)
	s.changes.Summary.Alerts = []account.Alert{
		{Kind: account.AlertExpiring, Text: "Desk Lamp for 89.00 USD expires in 4 minutes and nobody has confirmed it", Intent: s.id(3), Since: now.Add(-40 * time.Second)},
		{Kind: account.AlertStuck, Text: "Wool Socks is retrieving for 11 minutes", Intent: s.id(2), Since: now.Add(-80 * time.Second)},
	}
	s.calls()
	s.buckets()
	s.version, s.changes.Version = 1, 1
	return s
}

// drawing is the screen as the model has drawn it.
func drawing(m *Model) string {
	m.View()
	return strings.Join(m.drawn, "\n")
}

// notAsked is of a terminal that is asked nothing: nobody reads an emulator's answers.
const notAsked = "TERM_PROGRAM=Apple_Terminal"

// enter has a canvas take its terminal over, and leave it at the end.
func enter(t testing.TB, c *canvas.Canvas) {
	t.Helper()
	if err := c.Enter(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Leave() })
}
