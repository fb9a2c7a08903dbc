package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
)

// monkeyAccount is the picture behind a board, and what becomes of it.
type monkeyAccount struct {
	store   *account.Store
	ids     []api.ID
	parcels []api.ID
	seq     int64
	feed    account.FeedStatus

	mu      sync.Mutex
	buckets []quota.Bucket
}

func newMonkeyAccount() *monkeyAccount {
	a := &monkeyAccount{}
	a.store = account.NewStore(account.StoreConfig{KeepEvents: 300, KeepRequests: 60, Quota: func(time.Time) []quota.Bucket {
		a.mu.Lock()
		defer a.mu.Unlock()
		return append([]quota.Bucket(nil), a.buckets...)
	}})
	return a
}

// known are the intents that it may have.
func (a *monkeyAccount) known() (ids []string) {
	for _, id := range a.ids {
		ids = append(ids, string(id))
	}
	return ids
}

// addAccount adds what becomes of the account.
func (k *monkey) addAccount() {
	for name, step := range map[string]func(*rapid.T){
		"an intent is read": k.read, "many are read": k.readMany, "an intent is gone": k.lose,
		"an event": k.event, "many events": k.storm, "an event again": k.repeat,
		"the relay": k.relay, "a gap": k.gap, "a call": k.call, "the quota": k.spend,
		"a parcel": k.parcel, "a parcel is gone": func(t *rapid.T) { k.account.store.ApplyMissingShipment(k.someParcel(t), time.Now()) },
		"the key's file":      func(t *rapid.T) { k.account.store.Report(account.AlertKey, k.trouble(t)) },
		"the list of intents": func(t *rapid.T) { k.account.store.Report(account.AlertList, k.trouble(t)) },
	} {
		k.steps[name] = func() {
			step(k.t)
			k.pass(rapid.SampledFrom([]time.Duration{0, 40 * time.Millisecond, 300 * time.Millisecond}).Draw(k.t, "and a while"))
		}
	}
	k.steps["yes"], k.steps["an order"] = k.agree, k.buy
	k.steps["it starts over"] = func() { k.handle(changesMsg{k.account.store.Changes(0)}) }
	k.steps["what a confirm will come to"] = func() {
		v := monkeyVerdict{after: rapid.SampledFrom([]time.Duration{0, 200 * time.Millisecond, 20 * time.Second}).Draw(k.t, "after")}
		v.outcome.Verdict = rapid.SampledFrom([]confirm.Verdict{confirm.Accepted, confirm.Accepted, confirm.Changed, confirm.NotConfirmable, confirm.Already, confirm.Overtaken, confirm.Refused, confirm.Unknown, confirm.NotSent}).Draw(k.t, "verdict")
		v.outcome.Err = k.trouble(k.t)
		select {
		case k.guard.verdicts <- v:
		default:
		}
	}
}

// fill begins with an account that has something of everything.
func (k *monkey) fill(t *rapid.T) {
	k.readMany(t)
	for range 3 {
		k.event(t)
		k.parcel(t)
		k.call(t)
		k.read(t)
	}
	k.spend(t)
	k.pass(100 * time.Millisecond)
}

// someID is that of an intent that is known, or of a new one.
func (k *monkey) someID(t *rapid.T) api.ID {
	a := k.account
	if len(a.ids) > 0 && rapid.IntRange(0, 2).Draw(t, "known") > 0 {
		return rapid.SampledFrom(a.ids).Draw(t, "intent")
	}
	if rapid.IntRange(0, 9).Draw(t, "of another form") == 0 {
		id := api.ScrubID(fmt.Sprintf("other/%d %s", len(a.ids), k.text("id")))
		a.ids = append(a.ids, id)
		return id
	}
	return k.newID()
}

func (k *monkey) newID() api.ID {
	a := k.account
	id := api.ID(fmt.Sprintf("ci_%08x%024x", len(a.ids)*2654435761%0xffffffff, len(a.ids)))
	a.ids = append(a.ids, id)
	return id
}

func (k *monkey) aState(t *rapid.T) api.IntentState {
	return rapid.SampledFrom(append(api.IntentStates(), api.AwaitingConfirmation, "requires_action", "wei\x1brd")).Draw(t, "state")
}

func (k *monkey) moneyOf(t *rapid.T) *api.Money {
	return &api.Money{Currency: rapid.SampledFrom([]string{"USD", "EUR", "JPY", "", "XTS"}).Draw(t, "currency"),
		Subunits: rapid.Int64Range(-5, 1<<40).Draw(t, "subunits")}
}

// anIntent is one as the service might tell it.
func (k *monkey) anIntent(t *rapid.T, id api.ID, state api.IntentState) api.Intent {
	in := api.Intent{ID: id, State: state, CreatedAt: time.Now().Add(-time.Duration(rapid.IntRange(0, 60*60).Draw(t, "seconds old")) * time.Second),
		ProductURL: api.Scrub("https://acme.example/" + k.text("path")), Quantity: rapid.IntRange(0, 3).Draw(t, "quantity"),
		ReferenceID: api.Scrub(k.text("reference")), Buyer: &api.Buyer{FirstName: "Ann", City: "Austin"},
		Raw: []byte(fmt.Sprintf(`{"id":%q,"state":%q,"buyer":{"firstName":"Ann","address1":"1 Main St"},"list":[1,{"a":null},[]],"paymentMethod":{"token":"tok_secret_1"}}`, id, state))}
	if state != api.RetrievingOffer && rapid.IntRange(0, 5).Draw(t, "without an offer") > 0 {
		in.Offer = &api.Offer{ProductTitle: api.Scrub(k.text("product")), Cost: api.Cost{Total: k.moneyOf(t)}}
		if rapid.Bool().Draw(t, "in parts") {
			in.Offer.Cost.Tax, in.Offer.Cost.Shipping, in.Offer.Cost.Subtotal = k.moneyOf(t), k.moneyOf(t), k.moneyOf(t)
		}
	}
	if state == api.Failed && rapid.Bool().Draw(t, "with a reason") {
		in.Failure = &api.FailureReason{Code: rapid.SampledFrom([]api.FailureCode{"product_out_of_stock", "checkout_intent_expired", "never_heard_of"}).Draw(t, "reason"), Message: api.Scrub(k.text("message"))}
	}
	return in
}

func (k *monkey) read(t *rapid.T) {
	id := k.someID(t)
	k.account.store.ApplyRead(k.anIntent(t, id, k.aState(t)), time.Now(), account.ByRead)
}

func (k *monkey) readMany(t *rapid.T) {
	var page []api.Intent
	for range rapid.IntRange(2, 90).Draw(t, "intents") {
		id := k.newID()
		g := goods[len(k.account.ids)%len(goods)]
		state := api.IntentStates()[len(k.account.ids)%5]
		page = append(page, api.Intent{ID: id, State: state, CreatedAt: time.Now().Add(-time.Duration(len(k.account.ids)) * 13 * time.Second), Quantity: 1,
			ProductURL: api.Text("https://" + g.merchant + "/x"), Offer: &api.Offer{ProductTitle: api.Text(g.name), Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: g.cents}}}})
	}
	k.account.store.ApplyList(page, time.Now())
}

func (k *monkey) lose(t *rapid.T) { k.account.store.ApplyMissing(k.someID(t), time.Now()) }

// delivery is an event at a place of the stream, or out of its order.
func (k *monkey) delivery(t *rapid.T) account.Delivery {
	a := k.account
	a.seq++
	late := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 5, 400, 90000}).Draw(t, "seconds late")) * time.Second
	kinds := []api.EventType{api.OfferRetrieved, api.OfferFailed, api.IntentCompleted, api.OrderFailed, api.ShipmentCreated, api.ShipmentUpdated, api.ProductUpdated, api.ProductRemoved, "checkout_intent.requires_action", "odd"}
	e := api.Event{ID: api.ID(fmt.Sprintf("evt_%d", a.seq)), Type: rapid.SampledFrom(kinds).Draw(t, "type"), CreatedAt: time.Now().Add(-late)}
	e.Source = api.EventSource{ID: k.someID(t), Type: api.SourceIntent}
	switch e.Type {
	case api.ShipmentCreated, api.ShipmentUpdated:
		e.Source = api.EventSource{ID: k.someParcel(t), Type: api.SourceShipment}
	case api.ProductUpdated, api.ProductRemoved:
		e.Source = api.EventSource{ID: "prd_1", Type: api.SourceProduct}
	}
	e.Raw = []byte(fmt.Sprintf(`{"id":%q,"object":"event","type":%q,"source":{"id":%q}}`, e.ID, e.Type, e.Source.ID))
	seq := a.seq
	if rapid.IntRange(0, 4).Draw(t, "out of order") == 0 {
		seq = max(seq-rapid.Int64Range(0, 9).Draw(t, "by"), 1)
	}
	return account.Delivery{Seq: seq, Event: e, Received: time.Now().Add(-late / 2), Origin: rapid.SampledFrom([]string{"webhook", "webhook", "backfill", "replay"}).Draw(t, "origin"),
		Duplicates: rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "duplicates")}
}

func (k *monkey) event(t *rapid.T) {
	k.account.store.ApplyEvents([]account.Delivery{k.delivery(t)}, time.Now())
}

func (k *monkey) storm(t *rapid.T) {
	first := k.delivery(t)
	var batch []account.Delivery
	for i := range rapid.IntRange(2, 400).Draw(t, "events") {
		d := first
		k.account.seq++
		d.Seq, d.Event.ID = k.account.seq, api.ID(fmt.Sprintf("evt_%d", k.account.seq))
		d.Received = d.Received.Add(time.Duration(i) * 7 * time.Millisecond)
		batch = append(batch, d)
	}
	k.account.store.ApplyEvents(batch, time.Now())
}

func (k *monkey) repeat(t *rapid.T) {
	d := k.delivery(t)
	d.Event.ID = api.ID(fmt.Sprintf("evt_%d", rapid.Int64Range(1, k.account.seq).Draw(t, "which")))
	k.account.store.ApplyEvents([]account.Delivery{d, d}, time.Now())
}

// trouble is an error as it may come from anywhere, or none.
func (k *monkey) trouble(t *rapid.T) error {
	text := rapid.SampledFrom([]string{"", "connection refused", "a \x1b[31mred\r\nerror that is rather long and tells of a host, a port and a reason for which nothing can be done", "500"}).Draw(t, "trouble")
	if text == "" {
		return nil
	}
	return errors.New(text)
}

func (k *monkey) relay(t *rapid.T) {
	a := k.account
	a.feed = account.FeedStatus{State: rapid.SampledFrom([]account.FeedState{account.FeedOff, account.FeedConnecting, account.FeedReplaying, account.FeedLive, account.FeedLive, account.FeedLost, account.FeedRefused}).Draw(t, "feed"),
		Since: time.Now(), Epoch: "one", Head: a.seq + rapid.Int64Range(0, 5000).Draw(t, "ahead"), Cursor: a.seq}
	if a.feed.State == account.FeedLost || a.feed.State == account.FeedRefused {
		a.feed.Err, a.feed.RetryAt = k.trouble(t), time.Now().Add(time.Duration(rapid.IntRange(-1, 20).Draw(t, "retry in"))*time.Second)
	}
	a.store.SetFeed(a.feed)
}

func (k *monkey) gap(t *rapid.T) {
	a := k.account
	a.feed.State, a.feed.LostFrom, a.feed.LostTo = account.FeedReplaying, a.seq+1, a.seq+rapid.Int64Range(1, 99).Draw(t, "lost")
	a.feed.Reset = rapid.Bool().Draw(t, "another journal")
	if a.feed.Reset {
		a.feed.Epoch += "x"
	}
	a.store.SetFeed(a.feed)
}

// call is an answer of the service, or none; or several that are alike.
func (k *monkey) call(t *rapid.T) {
	status := rapid.SampledFrom([]int{200, 200, 404, 401, 429, 500, 503, 0}).Draw(t, "status")
	e := api.Exchange{Method: "GET", Path: "/api/v1/checkout-intents/" + string(k.someID(t)), Class: rapid.SampledFrom([]quota.Class{quota.Reads, quota.Mutations, quota.Lookup}).Draw(t, "class"),
		Priority: quota.Priority(rapid.IntRange(0, 3).Draw(t, "priority")), Attempt: rapid.IntRange(1, 3).Draw(t, "attempt"),
		Sent: time.Now().Add(-time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms ago")) * time.Millisecond), Latency: time.Duration(rapid.IntRange(0, 12000).Draw(t, "latency")) * time.Millisecond,
		Waited: time.Duration(rapid.IntRange(0, 4000).Draw(t, "waited")) * time.Millisecond, Status: status, RequestID: api.Scrub(k.text("request id"))}
	if rapid.IntRange(0, 3).Draw(t, "from elsewhere") == 0 {
		e.From = api.Environment{Name: "production", Live: true}
	}
	if status != 200 {
		e.Err = errors.New("HTTP " + fmt.Sprint(status))
	}
	for range rapid.IntRange(1, 4).Draw(t, "times") {
		k.account.store.RecordExchange(e)
	}
}

func (k *monkey) spend(t *rapid.T) {
	a := k.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.buckets = nil
	for i := range rapid.IntRange(0, 6).Draw(t, "buckets") {
		limit := rapid.Int64Range(0, 100_000).Draw(t, "limit")
		var history []quota.Sample
		for s := range rapid.IntRange(0, 60).Draw(t, "samples") {
			history = append(history, quota.Sample{At: time.Now().Add(time.Duration(s-60) * time.Second), Known: s%7 > 0, Remaining: int64(s * i), Own: s % 5, Others: s * i % 9, Rejected: s / 50})
		}
		a.buckets = append(a.buckets, quota.Bucket{History: history, Hour: history, Day: history, Class: rapid.SampledFrom([]quota.Class{quota.Reads, quota.Mutations, quota.Lookup, "other"}).Draw(t, "class"), Policy: fmt.Sprint("p", i), Limit: limit,
			Window: time.Second, Remaining: rapid.Int64Range(-3, limit).Draw(t, "remaining"), Reset: time.Duration(rapid.IntRange(0, 90).Draw(t, "reset")) * time.Second, ObservedAt: time.Now(),
			Own: rapid.Float64Range(0, 1e6).Draw(t, "own"), Others: rapid.Float64Range(0, 30).Draw(t, "others"), Rejected: rapid.Int64Range(0, 9).Draw(t, "rejected")})
	}
}

func (k *monkey) someParcel(t *rapid.T) api.ID {
	a := k.account
	if len(a.parcels) == 0 || rapid.IntRange(0, 2).Draw(t, "new") == 0 {
		a.parcels = append(a.parcels, api.ID(fmt.Sprintf("shp_%032x", len(a.parcels))))
	}
	return rapid.SampledFrom(a.parcels).Draw(t, "parcel")
}

func (k *monkey) parcel(t *rapid.T) {
	s := api.Shipment{ID: k.someParcel(t), IntentID: k.someID(t), Status: rapid.SampledFrom(append(api.ShipmentStatuses(), "lost_at_sea")).Draw(t, "status"),
		CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now().Add(-time.Duration(rapid.IntRange(0, 99).Draw(t, "minutes")) * time.Minute)}
	if rapid.Bool().Draw(t, "tracked") {
		s.Tracking = &api.Tracking{Carrier: api.Scrub(k.text("carrier")), Number: api.Scrub(k.text("number")), Estimated: time.Now().Add(time.Duration(rapid.IntRange(-99, 99).Draw(t, "hours")) * time.Hour)}
	}
	k.account.store.ApplyShipments([]api.Shipment{s}, time.Now())
}

// monkeyVerdict is what comes of a confirm, and when.
type monkeyVerdict struct {
	outcome confirm.Outcome
	after   time.Duration
}

// monkeyGuard confirms nothing, and sees that nothing is confirmed twice at a time.
type monkeyGuard struct {
	verdicts chan monkeyVerdict
	mu       sync.Mutex
	underway map[api.ID]bool
	twice    []api.ID
}

func (g *monkeyGuard) check(t *rapid.T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.twice) > 0 {
		t.Fatalf("confirmed while a confirm of it was under way: %v", g.twice)
	}
}

func (g *monkeyGuard) Confirm(ctx context.Context, p confirm.Proposal, progress func(confirm.Progress)) confirm.Outcome {
	g.mu.Lock()
	if g.underway[p.ID] {
		g.twice = append(g.twice, p.ID)
	}
	g.underway[p.ID] = true
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.underway, p.ID)
	}()
	v := monkeyVerdict{outcome: confirm.Outcome{Verdict: confirm.Accepted}}
	select {
	case v = <-g.verdicts:
	default:
	}
	for _, stage := range []confirm.Stage{confirm.Rereading, confirm.Recording, confirm.Sending, confirm.Settling} {
		progress(confirm.Progress{Stage: stage, Until: time.Now().Add(v.after)})
		select {
		case <-time.After(v.after / 4):
		case <-ctx.Done():
			return confirm.Outcome{Verdict: confirm.Unknown, Err: ctx.Err()}
		}
	}
	return v.outcome
}
