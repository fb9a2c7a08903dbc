package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// life is the whole truth of one intent: its state at any moment.
type life struct {
	id      api.ID
	created time.Time
	moves   []move // in order; the first is the creation
	total   int64
	failure api.FailureCode

	reference api.Text
}

type move struct {
	at    time.Time
	state api.IntentState
	event api.EventType // "" when no event reports it
}

func (l *life) at(t time.Time) api.IntentState {
	state := l.moves[0].state
	for _, m := range l.moves {
		if !m.at.After(t) {
			state = m.state
		}
	}
	return state
}

func (l *life) read(t time.Time) api.Intent {
	in := api.Intent{ID: l.id, State: l.at(t), CreatedAt: l.created, ReferenceID: l.reference, ProductURL: api.Text("https://shop.example/products/mug-" + string(l.id))}
	if in.State != api.RetrievingOffer {
		in.Offer = &api.Offer{Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: l.total}}}
	}
	switch in.State {
	case api.Completed:
		in.OrderIDs = []api.Text{"order-1"}
	case api.Failed:
		in.Failure = &api.FailureReason{Code: cmp.Or(l.failure, "product_out_of_stock")}
	}
	return in
}

func (l *life) events() []api.Event {
	var list []api.Event
	for _, m := range l.moves {
		if m.event != "" {
			list = append(list, api.Event{
				ID:   api.ID(fmt.Sprintf("evt_%s_%s", l.id, m.state)),
				Type: m.event, CreatedAt: m.at,
				Source: api.EventSource{ID: l.id, Type: api.SourceIntent},
			})
		}
	}
	return list
}

// sold is the life of an intent that is confirmed after wait and completes.
func sold(id api.ID, created time.Time, offer, wait, placing time.Duration) *life {
	return &life{id: id, created: created, total: 4452, moves: []move{
		{created, api.RetrievingOffer, ""},
		{created.Add(offer), api.AwaitingConfirmation, api.OfferRetrieved},
		{created.Add(offer + wait), api.PlacingOrder, ""},
		{created.Add(offer + wait + placing), api.Completed, api.IntentCompleted},
	}}
}

// expired is the life of an intent that nobody confirms.
func expired(id api.ID, created time.Time, offer time.Duration) *life {
	return &life{id: id, created: created, total: 1290, failure: api.Expired, moves: []move{
		{created, api.RetrievingOffer, ""},
		{created.Add(offer), api.AwaitingConfirmation, api.OfferRetrieved},
		{created.Add(api.ConfirmWindow), api.Failed, ""},
	}}
}

// shipmentLife is the whole truth of one shipment.
type shipmentLife struct {
	id, intent api.ID
	moves      []shipmentMove // in order; the first is the creation
}

type shipmentMove struct {
	at     time.Time
	status api.ShipmentStatus
}

// at is the status at a moment; "" before the creation.
func (p *shipmentLife) at(t time.Time) api.ShipmentStatus {
	var status api.ShipmentStatus
	for _, m := range p.moves {
		if !m.at.After(t) {
			status = m.status
		}
	}
	return status
}

func (p *shipmentLife) read(t time.Time) api.Shipment {
	sh := api.Shipment{ID: p.id, IntentID: p.intent, Status: p.at(t), CreatedAt: p.moves[0].at}
	for _, m := range p.moves {
		if !m.at.After(t) {
			sh.UpdatedAt = m.at
			sh.TrackingEvents = append(sh.TrackingEvents, api.TrackingEvent{Status: m.status, At: m.at})
		}
	}
	return sh
}

func (p *shipmentLife) events() []api.Event {
	var list []api.Event
	for i, m := range p.moves {
		e := api.Event{ID: api.ID(fmt.Sprintf("evt_%s_%s", p.id, m.status)), Type: api.ShipmentUpdated, CreatedAt: m.at, Source: api.EventSource{ID: p.id, Type: api.SourceShipment}}
		if i == 0 {
			e.Type = api.ShipmentCreated
		}
		list = append(list, e)
	}
	return list
}

// fakeService answers reads from the truth of the moment, after its latency.
type fakeService struct {
	latency time.Duration
	lists   bool        // it serves the list of intents
	page    int         // intents on a page of the list; 0: all of them
	garbled bool        // each list begins with an item that cannot be read
	cut     atomic.Bool // each list ends before its last page
	refused int         // lists that were asked for and not served

	pacer  *quota.Pacer       // nil: requests go out at once
	header func() http.Header // of the next answer; of use with a pacer

	mu        sync.Mutex
	lives     map[api.ID]*life
	shipments map[api.ID]api.Shipment
	underWay  map[api.ID]*shipmentLife
	fail      func(path string, n int) error // decides on the n-th call
	calls     []call
}

type call struct {
	path     string
	at       time.Time
	priority quota.Priority
}

func newService(lives ...*life) *fakeService {
	f := &fakeService{latency: 20 * time.Millisecond, lives: map[api.ID]*life{}, shipments: map[api.ID]api.Shipment{}, underWay: map[api.ID]*shipmentLife{}}
	for _, l := range lives {
		f.lives[l.id] = l
	}
	return f
}

func (f *fakeService) begin(ctx context.Context, path string) error {
	if f.pacer != nil {
		permit, err := f.pacer.Acquire(ctx, quota.Reads)
		if err != nil {
			return err
		}
		defer func() { permit.Done(quota.Outcome{Status: http.StatusOK, Header: f.header()}) }()
	}
	f.mu.Lock()
	f.calls = append(f.calls, call{path, time.Now(), quota.PriorityOf(ctx)})
	n, fail := len(f.calls), f.fail
	f.mu.Unlock()
	select {
	case <-time.After(f.latency):
	case <-ctx.Done():
		return ctx.Err()
	}
	if fail != nil {
		return fail(path, n)
	}
	return nil
}

func (f *fakeService) Intent(ctx context.Context, id api.ID) (api.Intent, error) {
	if err := f.begin(ctx, "intent "+string(id)); err != nil {
		return api.Intent{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lives[id]
	if l == nil || time.Now().Before(l.created) {
		return api.Intent{}, fmt.Errorf("read intent: %w", api.ErrMissing)
	}
	return l.read(time.Now()), nil
}

func (f *fakeService) Shipment(ctx context.Context, id api.ID) (api.Shipment, error) {
	if err := f.begin(ctx, "shipment "+string(id)); err != nil {
		return api.Shipment{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	sh, ok := f.shipments[id]
	if p := f.underWay[id]; p != nil && !time.Now().Before(p.moves[0].at) {
		sh, ok = p.read(time.Now()), true
	}
	if !ok {
		return api.Shipment{}, fmt.Errorf("read shipment: %w", api.ErrMissing)
	}
	return sh, nil
}

func (f *fakeService) Shipments(ctx context.Context, q api.ShipmentQuery) iter.Seq2[api.Shipment, error] {
	return f.list(ctx, fmt.Sprintf("shipments %d", len(q.IDs)), func(sh api.Shipment) bool { return len(q.IDs) == 0 || slices.Contains(q.IDs, sh.ID) })
}

func (f *fakeService) IntentShipments(ctx context.Context, id api.ID) iter.Seq2[api.Shipment, error] {
	return f.list(ctx, "shipments of "+string(id), func(sh api.Shipment) bool { return sh.IntentID == id })
}

func (f *fakeService) list(ctx context.Context, path string, wanted func(api.Shipment) bool) iter.Seq2[api.Shipment, error] {
	return func(yield func(api.Shipment, error) bool) {
		if err := f.begin(ctx, path); err != nil {
			yield(api.Shipment{}, err)
			return
		}
		f.mu.Lock()
		var found []api.Shipment
		for _, sh := range f.shipments {
			if wanted(sh) {
				found = append(found, sh)
			}
		}
		for _, p := range f.underWay {
			if sh := p.read(time.Now()); sh.Status != "" && wanted(sh) {
				found = append(found, sh)
			}
		}
		slices.SortFunc(found, func(a, b api.Shipment) int { return b.CreatedAt.Compare(a.CreatedAt) })
		f.mu.Unlock()
		if f.garbled && !yield(api.Shipment{}, &api.ItemError{Path: path, Err: errBroken}) {
			return
		}
		for _, sh := range found {
			if !yield(sh, nil) {
				return
			}
		}
		if f.cut.Load() {
			yield(api.Shipment{}, api.ErrIncomplete)
		}
	}
}

func (f *fakeService) Intents(ctx context.Context) iter.Seq2[api.Intent, error] {
	return func(yield func(api.Intent, error) bool) {
		if !f.lists {
			f.refused++
			yield(api.Intent{}, fmt.Errorf("list intents: %w", api.ErrNotServed))
			return
		}
		if err := f.begin(ctx, "intents"); err != nil {
			yield(api.Intent{}, err)
			return
		}
		f.mu.Lock()
		var all []api.Intent
		for _, l := range f.lives {
			if now := time.Now(); !now.Before(l.created) {
				all = append(all, l.read(now))
			}
		}
		f.mu.Unlock()
		slices.SortFunc(all, func(a, b api.Intent) int { return b.CreatedAt.Compare(a.CreatedAt) })
		if f.garbled && !yield(api.Intent{}, &api.ItemError{Path: "intents", Err: errBroken}) {
			return
		}
		for i, in := range all {
			if f.page > 0 && i > 0 && i%f.page == 0 {
				if err := f.begin(ctx, "intents"); err != nil {
					yield(api.Intent{}, err)
					return
				}
			}
			if !yield(in, nil) {
				return
			}
		}
		if f.cut.Load() {
			yield(api.Intent{}, api.ErrIncomplete)
		}
	}
}

// callsTo lists the calls to paths that begin so, in order.
func (f *fakeService) callsTo(prefix string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []call
	for _, c := range f.calls {
		if strings.HasPrefix(c.path, prefix) {
			list = append(list, c)
		}
	}
	return list
}

func (f *fakeService) ship(sh api.Shipment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shipments[sh.ID] = sh
}

// fakeFeed does to its sink what a test tells it to.
type fakeFeed struct {
	steps chan func(Sink)
	seq   int64
}

func newFeed() *fakeFeed { return &fakeFeed{steps: make(chan func(Sink))} }

func (f *fakeFeed) Follow(ctx context.Context, sink Sink) error {
	for {
		select {
		case step := <-f.steps:
			step(sink)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *fakeFeed) state(state FeedState) {
	f.status(FeedStatus{State: state, Since: time.Now(), Epoch: "one"})
}

func (f *fakeFeed) status(status FeedStatus) { f.steps <- func(s Sink) { s.FeedChanged(status) } }

func (f *fakeFeed) deliver(events ...api.Event) {
	var batch []Delivery
	for _, e := range events {
		f.seq++
		batch = append(batch, Delivery{Seq: f.seq, Event: e, Received: time.Now(), Origin: "webhook"})
	}
	f.steps <- func(s Sink) { s.Deliver(batch, time.Now()) }
}

var errBroken = errors.New("connection broken")
