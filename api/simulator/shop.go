package simulator

import (
	"math"
	"strconv"
	"sync"
	"time"

	"tillwatch/api"
)

// shop is the seller's own system on the same account. It creates intents, confirms a
// share of them, looks up products and reads; all of that spends the account's quota.
type shop struct {
	cfg        *Config
	goroutines *goroutines
	agenda     *agenda
	catalogue  *catalogue
	buckets    *buckets
	webhooks   *webhooks
	fulfilment *fulfilment
	client     *shopClient // calls the service over HTTP; nil: the shop acts within the process

	mu     *sync.Mutex // the simulator's; guards all below
	dice   dice
	orders int
	fates  map[string]Fate // of intents about to be created over HTTP, by fateKey
}

// open begins the shop's day.
func (s *shop) open(now time.Time) {
	s.agenda.plan(now.Add(300*time.Millisecond), s.createNext)
	s.agenda.plan(now.Add(2*time.Second), s.browse)
	if s.cfg.ProductEventsPerMinute > 0 {
		s.agenda.plan(now.Add(s.productPause()), s.changeProduct)
	}
}

// createNext creates the intents of an order and plans the next order, at random
// intervals in slow waves.
func (s *shop) createNext(at time.Time) {
	mean := float64(time.Minute) / s.cfg.IntentsPerMinute
	wave := 1 + 0.5*math.Sin(float64(at.Unix()%600)/600*2*math.Pi)
	gap := s.dice.ExpFloat64() * mean / wave
	items := s.items(newDice(s.cfg.Seed, diceBasket, uint64(s.orders)))
	s.agenda.plan(at.Add(time.Duration(items)*time.Duration(min(gap, 5*mean))), s.createNext)
	var whole *basket
	if items > 1 {
		whole = &basket{}
	}
	for range items {
		s.sell(at, whole)
	}
}

// items returns the number of items of the next order. Each is an intent (contract, What
// the service does).
func (s *shop) items(d dice) int {
	if s.cfg.ManyItems > 0 && d.chance(s.cfg.ManyItems) {
		return d.between(2, 4)
	}
	return 1
}

// basket holds what the items of an order have in common, taken from the first one.
type basket struct {
	reference string // "" before the first
	buyer     *buyerWire
	confirms  bool
}

// sell creates an intent for a random product and decides its fate and whether the shop
// confirms it. whole is the order that it belongs to; nil if it is the only item.
func (s *shop) sell(at time.Time, whole *basket) {
	d := s.dice
	w, payment := s.inventOrder(d)
	fate := Fate{Purchase: d.chance(0.08)}
	if d.chance(max(0, s.cfg.FailureShare)) {
		fate.Failure, fate.WhilePlacing = randomFailure(d)
	}
	confirms := d.chance(max(0, s.cfg.AutoConfirm))
	if whole != nil {
		if whole.reference == "" {
			*whole = basket{w.ReferenceID, w.Buyer, confirms}
		}
		w.ReferenceID, w.Buyer, confirms, fate.Purchase = whole.reference, whole.buyer, whole.confirms, false
	}
	s.create(at, w, payment, fate, confirms && !fate.Purchase)
}

// create looks up the product of an intent, perhaps, creates the intent, and confirms it
// once it has an offer if confirms is set. It gives up when it is rejected.
func (s *shop) create(at time.Time, w intentWire, payment *paymentWire, fate Fate, confirms bool) {
	looksUp := s.dice.chance(0.6)
	if s.client != nil {
		s.sellOverHTTP(w, payment, fate, looksUp, confirms)
		return
	}
	if looksUp {
		s.buckets.lookup.take(at)
	}
	if !s.buckets.mutations.take(at) {
		return
	}
	if s.fulfilment.admit(at) != "" {
		return
	}
	in := s.fulfilment.open(at, w, payment, fate)
	if confirms {
		s.awaitOffer(in, at)
	}
}

// inventOrder makes up a customer's order.
func (s *shop) inventOrder(d dice) (intentWire, *paymentWire) {
	p := s.catalogue.random(d)
	s.orders++
	w := intentWire{
		ProductURL: p.url(), Quantity: 1, Buyer: inventBuyer(d),
		ReferenceID: "order-" + strconv.Itoa(s.orders),
	}
	if p.Price < 10_000 && d.chance(0.25) {
		w.Quantity = d.between(2, 4)
	}
	w.VariantSelections = p.anySelection(d)
	if d.chance(0.15) {
		w.PromoCodes = []string{pick(d, []string{"WELCOME10", "SAVE5", "FREE_SHIP-7", "SPRING"})}
	}
	payment := &paymentWire{Type: api.Drawdown}
	if d.chance(0.6) {
		payment = &paymentWire{api.VaultToken, d.uuid().String()}
	}
	return w, payment
}

// awaitOffer polls an intent as a backend would, and confirms it after a human pause
// once it has an offer.
func (s *shop) awaitOffer(in *intent, at time.Time) {
	s.agenda.plan(at.Add(s.cfg.vary(s.dice, 3*time.Second)), func(at time.Time) {
		if in.State.Terminal() || in.State == api.PlacingOrder {
			return
		}
		if s.buckets.reads.take(at) && in.State == api.AwaitingConfirmation {
			s.confirm(in, at.Add(s.cfg.vary(s.dice, 6*time.Second)))
			return
		}
		s.awaitOffer(in, at)
	})
}

func (s *shop) confirm(in *intent, at time.Time) {
	s.agenda.plan(at, func(at time.Time) {
		if in.State != api.AwaitingConfirmation {
			return
		}
		if s.buckets.agents.full(at) || !s.buckets.mutations.take(at) {
			s.confirm(in, at.Add(time.Second+time.Duration(s.dice.IntN(1000))*time.Millisecond))
			return
		}
		s.fulfilment.confirm(in, nil, at)
	})
}

// browse makes a few reads now and then, as the shop's own screens do.
func (s *shop) browse(at time.Time) {
	reads := s.dice.between(1, 4)
	if s.client != nil {
		s.browseOverHTTP(reads)
	} else {
		for range reads {
			s.buckets.reads.take(at)
		}
	}
	s.agenda.plan(at.Add(time.Duration(s.dice.between(1500, 7000))*time.Millisecond), s.browse)
}

func (s *shop) productPause() time.Duration {
	return time.Duration(s.dice.ExpFloat64() * float64(time.Minute) / s.cfg.ProductEventsPerMinute)
}

// changeProduct changes a product's price or stock, removes a product, or brings one
// back.
func (s *shop) changeProduct(at time.Time) {
	d := s.dice
	s.agenda.plan(at.Add(s.productPause()), s.changeProduct)
	p := s.catalogue.random(d)
	if !p.removed && d.chance(0.08) {
		s.removeProduct(p, at)
		return
	}
	p.revise(d)
	s.updateProduct(p, at)
}

// updateProduct emits product.updated, which carries a snapshot (contract,
// Payload rules).
func (s *shop) updateProduct(p *product, at time.Time) event {
	return s.emitOfProduct(at, api.ProductUpdated, p, "", p.wire())
}

func (s *shop) removeProduct(p *product, at time.Time) event {
	p.removed = true
	return s.emitOfProduct(at, api.ProductRemoved, p, "removed_", nil)
}

// emitOfProduct emits an event of a product and keeps the product: lookups and offers
// agree with the event. The suffix of the event's id is the time; further events in the
// same millisecond get a number.
func (s *shop) emitOfProduct(at time.Time, kind api.EventType, p *product, prefix string, data any) event {
	s.catalogue.keep(p)
	moment := prefix + at.UTC().Format("20060102T150405.000Z")
	suffix := moment
	for n := 2; s.webhooks.events.has(event{source: p.id(), suffix: suffix}); n++ {
		suffix = moment + "_" + strconv.Itoa(n)
	}
	return s.webhooks.emit(at, kind, p.id(), suffix, data)
}
