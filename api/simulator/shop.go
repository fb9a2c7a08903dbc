package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync"
	"time"

	"tillwatch/api"
)

// shop is the seller's own system on the same account: a client like any other. It creates intents, confirms a share
// of them, looks up products and reads; all of that spends the account's quota. It works in real time, whatever the
// speed.
type shop struct {
	cfg        *Config
	goroutines *goroutines
	agenda     *agenda
	catalogue  *catalogue
	buckets    *buckets
	webhooks   *webhooks
	fulfilment *fulfilment
	client     *http.Client
	url        string // at which it calls the service

	mu     *sync.Mutex // the simulator's; guards all below
	dice   dice
	orders int
	fates  map[string]Fate // of intents about to be created, by fateKey
}

// The User-Agents of the shop's programs.
const (
	storefront = "storefront/2.4"
	orderDesk  = "order-desk/1.9"
	backOffice = "back-office/0.3"
)

// connect makes the shop call the service: at its URL if it has one, as through a proxy, otherwise within the
// process.
func (s *shop) connect(service http.Handler) {
	s.url, s.client = s.cfg.ShopURL, &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{}}
	if s.url == "" {
		s.url, s.client.Transport = "http://stand-in.invalid", RoundTripper{service}
	}
}

// open begins the shop's day. The caller holds the lock.
func (s *shop) open(ctx context.Context) {
	if s.cfg.IntentsPerMinute == 0 {
		return
	}
	s.keep(ctx, 300*time.Millisecond, s.sell)
	s.keep(ctx, 2*time.Second, s.browse)
	if s.cfg.ProductEventsPerMinute > 0 {
		s.keep(ctx, s.productPause(), s.changeProduct)
	}
}

// keep takes a step, under the lock, after each pause that the one before returned.
func (s *shop) keep(ctx context.Context, pause time.Duration, step func(context.Context) time.Duration) {
	s.goroutines.spawn(ctx, "the shop", func(ctx context.Context) {
		for api.Sleep(ctx, pause) == nil {
			s.mu.Lock()
			pause = step(ctx)
			s.mu.Unlock()
		}
	})
}

// sell serves a customer, and returns the pause until the next one comes: at random intervals in slow waves.
func (s *shop) sell(ctx context.Context) time.Duration {
	mean := float64(time.Minute) / s.cfg.IntentsPerMinute
	wave := 1 + 0.5*math.Sin(float64(time.Now().Unix()%600)/600*2*math.Pi)
	gap := s.dice.ExpFloat64() * mean / wave
	items := s.items(newDice(s.cfg.Seed, diceBasket, uint64(s.orders)))
	basket := s.basket(items)
	s.goroutines.spawn(ctx, "the shop", func(ctx context.Context) { s.serveCustomer(ctx, basket) })
	return time.Duration(items) * time.Duration(min(gap, 5*mean))
}

// items returns the number of items of the next order. Each is an intent (contract, What the service does).
func (s *shop) items(d dice) int {
	if s.cfg.ManyItems > 0 && d.chance(s.cfg.ManyItems) {
		return d.between(2, 4)
	}
	return 1
}

// item is what the shop does for one item of an order.
type item struct {
	order         orderWire
	purchase      bool
	looksUp       bool
	confirms      bool
	polls, ponder time.Duration // between two reads of the intent; from its offer to the confirm
}

// orderWire is the body of a create or a purchase.
type orderWire struct {
	ProductURL        string                 `json:"productUrl"`
	Quantity          int                    `json:"quantity"`
	Buyer             *buyerWire             `json:"buyer"`
	ReferenceID       string                 `json:"referenceId"`
	VariantSelections []variantSelectionWire `json:"variantSelections,omitempty"`
	PaymentMethod     *paymentWire           `json:"paymentMethod"`
}

// basket makes up an order of several items. They have the reference, the buyer and the confirm of the first.
func (s *shop) basket(items int) []item {
	d := s.dice
	var all []item
	for i := range items {
		w, payment := s.inventOrder(d)
		fate := Fate{Purchase: d.chance(0.08)}
		if d.chance(max(0, s.cfg.FailureShare)) {
			fate.Failure, fate.WhilePlacing = randomFailure(d)
		}
		confirms := d.chance(max(0, s.cfg.AutoConfirm))
		if i > 0 {
			w.ReferenceID, w.Buyer, confirms = all[0].order.ReferenceID, all[0].order.Buyer, all[0].confirms
		}
		fate.Purchase = fate.Purchase && items == 1
		s.fates[fateKey(w.ReferenceID, w.ProductURL)] = fate
		all = append(all, item{
			order:    orderWire{w.ProductURL, w.Quantity, w.Buyer, w.ReferenceID, w.VariantSelections, payment},
			purchase: fate.Purchase, looksUp: d.chance(0.6), confirms: confirms && !fate.Purchase,
			polls: s.cfg.vary(d, 3*time.Second), ponder: s.cfg.vary(d, 6*time.Second),
		})
	}
	return all
}

// fateKey identifies an item of an order.
func fateKey(reference, product string) string { return reference + " " + product }

// inventOrder makes up a customer's order.
func (s *shop) inventOrder(d dice) (intentWire, *paymentWire) {
	p := s.catalogue.random(d)
	s.orders++
	w := intentWire{
		ProductURL: p.url(), Quantity: 1, Buyer: inventBuyer(d), VariantSelections: p.anySelection(d),
		ReferenceID: "order-" + strconv.Itoa(s.orders),
	}
	if p.Price < 10_000 && d.chance(0.25) {
		w.Quantity = d.between(2, 4)
	}
	payment := &paymentWire{Type: api.Drawdown}
	if d.chance(0.6) {
		payment = &paymentWire{api.VaultToken, d.uuid().String()}
	}
	return w, payment
}

// serveCustomer creates the intents of an order, polls them as a backend would, and confirms them once they have
// their offers. It gives up what is rejected.
func (s *shop) serveCustomer(ctx context.Context, basket []item) {
	const path = "/api/v1/checkout-intents"
	made := make([]intentWire, len(basket))
	for i, of := range basket {
		if of.looksUp {
			s.lookUp(ctx, of.order.ProductURL)
		}
		to := path
		if of.purchase {
			to += "/purchase"
		}
		s.call(ctx, storefront, http.MethodPost, to, of.order, &made[i])
		s.mu.Lock()
		delete(s.fates, fateKey(of.order.ReferenceID, of.order.ProductURL))
		s.mu.Unlock()
	}
	for i, of := range basket {
		in, own := made[i], path+"/"+made[i].ID
		for of.confirms && in.State == api.RetrievingOffer {
			if api.Sleep(ctx, of.polls) != nil {
				return
			}
			s.call(ctx, orderDesk, http.MethodGet, own, nil, &in)
		}
		for pause := of.ponder; of.confirms && in.State == api.AwaitingConfirmation; pause = time.Second {
			if api.Sleep(ctx, pause) != nil {
				return
			}
			status := s.call(ctx, orderDesk, http.MethodPost, own+"/confirm", struct{}{}, &in)
			if status != http.StatusTooManyRequests {
				break
			}
		}
	}
}

// call sends one request and returns its status, 0 if there was no answer. It decodes a successful answer into into
// unless that is nil.
func (s *shop) call(ctx context.Context, program, method, path string, body, into any) (status int) {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(encode(body))
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, sent)
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+s.cfg.Key.Reveal())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", program)
	answer, err := s.client.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err == nil && into != nil && answer.StatusCode/100 == 2 {
		err = json.Unmarshal(read, into)
	}
	if err != nil {
		return 0
	}
	return answer.StatusCode
}

// lookUp looks up the price for a page of the shop.
func (s *shop) lookUp(ctx context.Context, productURL string) {
	s.call(ctx, storefront, http.MethodGet, s.cfg.LookupPath+"?url="+url.QueryEscape(productURL), nil, nil)
}

// browse makes a lookup and a few reads, as the shop's own screens do.
func (s *shop) browse(ctx context.Context) time.Duration {
	reads, productURL := s.dice.between(1, 4), s.catalogue.random(s.dice).url()
	s.goroutines.spawn(ctx, "the shop", func(ctx context.Context) {
		s.lookUp(ctx, productURL)
		for range reads {
			s.call(ctx, backOffice, http.MethodGet, "/api/v1/shipments?limit=20", nil, nil)
		}
	})
	return time.Duration(s.dice.between(1500, 7000)) * time.Millisecond
}

func (s *shop) productPause() time.Duration {
	return time.Duration(s.dice.ExpFloat64() * float64(time.Minute) / s.cfg.ProductEventsPerMinute)
}

// changeProduct changes a product's price or stock, removes a product, or brings one back.
func (s *shop) changeProduct(context.Context) time.Duration {
	p, now := s.catalogue.random(s.dice), s.agenda.now()
	if !p.removed && s.dice.chance(0.08) {
		s.removeProduct(p, now)
	} else {
		p.revise(s.dice)
		s.updateProduct(p, now)
	}
	return s.productPause()
}

// updateProduct emits product.updated, which carries a snapshot (contract, Payload rules).
func (s *shop) updateProduct(p *product, at time.Time) event {
	return s.emitOfProduct(at, api.ProductUpdated, p, "", p.wire())
}

func (s *shop) removeProduct(p *product, at time.Time) event {
	p.removed = true
	return s.emitOfProduct(at, api.ProductRemoved, p, "removed_", nil)
}

// emitOfProduct emits an event of a product and keeps the product: lookups and offers agree with the event. The
// suffix of the event's id is the time; further events in the same millisecond get a number.
func (s *shop) emitOfProduct(at time.Time, kind api.EventType, p *product, prefix string, data any) event {
	s.catalogue.keep(p)
	moment := prefix + at.UTC().Format("20060102T150405.000Z")
	suffix := moment
	for n := 2; s.webhooks.events.has(event{source: p.id(), suffix: suffix}); n++ {
		suffix = moment + "_" + strconv.Itoa(n)
	}
	return s.webhooks.emit(at, kind, p.id(), suffix, data)
}

// writeHistory simulates the past hours, with the same state machine on an agenda that begins before now. Most
// intents have ended; a few are open: each lane of a dashboard has something to show at the start.
func (s *shop) writeHistory(now time.Time) {
	n := s.cfg.History
	if n <= 0 {
		return
	}
	awaiting, placing, retrieving := min(n/5, 40), min((n+8)/10, 4), min(n/12, 3)
	for i := range n {
		d := newDice(s.cfg.Seed, diceHistory, uint64(i))
		w, payment := s.inventOrder(d)
		age, fate := s.finished(d, i, n)
		switch left := n - 1 - i; {
		case left < retrieving:
			begun := d.later(3 * time.Second)
			age, fate = s.cfg.scaled(begun), Fate{OfferAfter: begun + d.later(s.cfg.Timings.Offer)}
		case left < retrieving+placing:
			begun := d.later(10 * time.Second)
			age = s.cfg.scaled(35*time.Second + begun)
			fate = Fate{OfferAfter: 10 * time.Second, ConfirmAfter: 25 * time.Second, PlacingAfter: begun + d.later(s.cfg.Timings.Placing)}
		case left < retrieving+placing+awaiting:
			share := 0.96 - 0.88*float64(left-retrieving-placing)/float64(awaiting)
			age = s.cfg.scaled(time.Duration(share * float64(s.cfg.Timings.ConfirmWindow)))
			fate = Fate{OfferAfter: min(s.cfg.Timings.Offer, time.Duration(float64(age)*s.cfg.Speed/2))}
		}
		at := now.Add(-age)
		if at.After(now.UTC().Truncate(day)) {
			s.buckets.intents.take(now)
		}
		fate.legsBy = now
		fate.legsDone = pick(d, []int{0, 1, 2, 2, 3, 3, 4, 5})
		s.agenda.plan(at, func(at time.Time) { s.fulfilment.open(at, w, payment, fate) })
	}
	for s.agenda.runDue(1<<20) == 0 {
	}
}

// finished returns the age and the fate of an intent that has ended.
func (s *shop) finished(d dice, i, n int) (time.Duration, Fate) {
	oldest := float64(9 * time.Hour)
	newest := float64(s.cfg.scaled(2 * time.Minute))
	share := math.Pow(float64(n-i)/float64(n), 1.5)
	age := time.Duration(max(newest, oldest*share) * (0.9 + 0.2*d.Float64()))
	fate := Fate{ConfirmAfter: time.Second * time.Duration(d.between(3, 40)), Purchase: d.chance(0.08)}
	switch {
	case i%6 == 4 && s.cfg.FailureShare > 0:
		fate.Failure, fate.WhilePlacing = randomFailure(d)
	case i%13 == 7: // nobody confirmed it: it expired
		fate.ConfirmAfter, fate.Purchase = 0, false
		age = max(age, s.cfg.window()*11/10)
	}
	return age, fate
}

// later returns a random time from 0.3 to 1.3 of a duration, at speed 1.
func (d dice) later(within time.Duration) time.Duration {
	return time.Duration((0.3 + d.Float64()) * float64(within))
}

// RoundTripper calls a handler within the process, with a network's rough edges: a request goes on when its caller
// stops waiting, and an aborted answer is a broken connection. It works within a bubble of [testing/synctest].
type RoundTripper struct{ Handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (w RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	answered := make(chan *http.Response, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
			close(answered)
		}()
		asked := r.Clone(context.WithoutCancel(r.Context()))
		asked.Header = onTheWire(r.Header)
		asked.Body = io.NopCloser(bytes.NewReader(body))
		recorder := httptest.NewRecorder()
		w.Handler.ServeHTTP(recorder, asked)
		answered <- recorder.Result()
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case response, ok := <-answered:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return response, nil
	}
}

// onTheWire returns a header as a server reads it, with canonical names.
func onTheWire(sent http.Header) http.Header {
	read := http.Header{}
	for name, values := range sent {
		for _, value := range values {
			read.Add(name, value)
		}
	}
	return read
}
