package simulator

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tillwatch/api"
)

func (v *server) createIntent(r *request) answer   { return v.takeOrder(r, false) }
func (v *server) purchaseIntent(r *request) answer { return v.takeOrder(r, true) }

func (v *server) takeOrder(r *request, purchase bool) answer {
	var c checker
	var w intentWire
	var payment *paymentWire
	if o, ok := c.body(r); ok {
		w, payment = c.order(o, purchase)
	}
	if len(c) > 0 {
		return invalid(c)
	}
	now := v.sim.agenda.now()
	if refusal := v.sim.fulfilment.admit(now); refusal != "" {
		return tooMany(refusal)
	}
	fate := v.sim.shop.fates[fateKey(w.ReferenceID, w.ProductURL)]
	fate.Purchase = purchase
	in := v.sim.fulfilment.open(now, w, payment, fate)
	return created(in.intentWire)
}

const noIntent = "Checkout intent not found"

// ofIntent adapts an operation on the intent that the path names.
func ofIntent(s *Simulator, run func(*request, *intent) answer) operation {
	return func(r *request) answer {
		in := s.fulfilment.intents[r.PathValue("id")]
		if in == nil {
			return notFound(noIntent)
		}
		return run(r, in)
	}
}

func (v *server) getIntent(_ *request, in *intent) answer { return ok(in.intentWire) }

// confirmIntent submits an intent for purchase. The body may name the payment; otherwise the one chosen at the
// creation is used.
func (v *server) confirmIntent(r *request, in *intent) answer {
	var c checker
	var payment *paymentWire
	if o, ok := c.body(r); ok {
		payment = c.payment(o, false)
	}
	switch {
	case len(c) > 0:
		return invalid(c)
	case in.State != api.AwaitingConfirmation && v.sim.cfg.StateConflicts:
		return wrongState("Checkout intent is not awaiting confirmation", in.State)
	case in.State != api.AwaitingConfirmation:
		return notFound(noIntent)
	case payment == nil && in.Payment == nil:
		return invalidField("body.paymentMethod", "'paymentMethod' is required")
	}
	v.sim.fulfilment.confirm(in, payment, v.sim.agenda.now())
	return ok(in.intentWire)
}

// listIntents lists the intents. The contract does not show this endpoint: see [Config].
func (v *server) listIntents(r *request) answer {
	if !v.sim.cfg.Lists {
		return noSuchPath(r)
	}
	var c checker
	q := c.page(r)
	ids, states := c.filter(r, "id", nil), c.filter(r, "state", func(state string) bool { return api.IntentState(state).Known() })
	return pageOf(c, q, &v.sim.fulfilment.order, func(in *intent) (any, bool) {
		return in.intentWire, ids.allows(in.ID) && states.allows(string(in.State))
	})
}

func (v *server) getShipment(r *request) answer {
	sh := v.sim.fulfilment.parcels[r.PathValue("id")]
	if sh == nil {
		return notFound("Shipment not found")
	}
	return ok(sh.shipmentWire)
}

func (v *server) listShipments(r *request) answer {
	var c checker
	q := c.page(r)
	ids, statuses := c.filter(r, "ids", nil), c.filter(r, "status", func(status string) bool {
		return slices.Contains(api.ShipmentStatuses(), api.ShipmentStatus(status))
	})
	return pageOf(c, q, &v.sim.fulfilment.shipments, func(sh *shipment) (any, bool) {
		return sh.shipmentWire, ids.allows(sh.ID) && statuses.allows(string(sh.Status))
	})
}

func (v *server) listIntentShipments(r *request) answer {
	var c checker
	q := c.page(r)
	if len(c) > 0 {
		return invalid(c)
	}
	return ofIntent(v.sim, func(_ *request, in *intent) answer {
		return pageOf(c, q, &v.sim.fulfilment.shipments, func(sh *shipment) (any, bool) { return sh.shipmentWire, sh.intent == in })
	})(r)
}

const maxID = 512 // of an event, in characters

// getEvent answers with the event as it is delivered to webhook endpoints.
func (v *server) getEvent(r *request) answer {
	id := r.PathValue("id")
	if utf8.RuneCountInString(id) > maxID {
		return invalidField("id", "maxLength 512")
	}
	e, known := v.sim.webhooks.events.find(id)
	if !known {
		return notFound("Event not found")
	}
	return ok(e.wire())
}

// listEvents is not shown in the contract: see [Config].
func (v *server) listEvents(r *request) answer {
	if !v.sim.cfg.Lists {
		return noSuchPath(r)
	}
	var c checker
	q := c.page(r)
	return pageOf(c, q, &v.sim.webhooks.events.series, func(e event) (any, bool) { return e.wire(), true })
}

// lookUpProduct answers with the product at a URL, as it is now.
func (v *server) lookUpProduct(r *request) answer {
	raw := r.URL.Query().Get("url")
	if raw == "" {
		return invalidField("url", "'url' is required")
	}
	if !isWebAddress(raw) {
		return invalid(checker{"url": {"invalid url", raw}})
	}
	p := v.sim.catalogue.find(raw)
	if p.removed {
		return notFound("Product not found")
	}
	return ok(quote(p, magicOf(raw), v.sim.agenda.now()))
}

// quote returns the product with tax and shipping for one piece within the merchant's own state (contract, What the
// service does). An offer, which knows the buyer, may differ.
func quote(p *product, m magic, now time.Time) productWire {
	w := p.wire()
	tax, shipping := usd((p.Price*taxOf(p.merchant.From.Province)+50_000)/100_000), usd(0)
	if options := shippingOptions(p, m, p.Price, 1, now).AvailableOptions; len(options) > 0 {
		shipping = options[0].Cost
	}
	w.Tax, w.Shipping = &tax, &shipping
	return w
}

const maxPage = 100 // items, and the default

// pageQuery is the query of a list request. Items are listed newest first; a cursor holds the number of an item by
// creation, from 1.
type pageQuery struct {
	limit         int
	after, before int // 0: not given
}

const cursorPrefix = "n:"

func cursor(number int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(number)))
}

func readCursor(text string) (number int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	digits, ok := strings.CutPrefix(string(raw), cursorPrefix)
	number, err = strconv.Atoi(digits)
	return number, ok && err == nil && number > 0
}

// page reads limit, after and before.
func (c *checker) page(r *request) pageQuery {
	values := r.URL.Query()
	q := pageQuery{limit: maxPage}
	if text := values.Get("limit"); values.Has("limit") {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			c.wrong("limit", "invalid integer number", text)
		case n < 1:
			c.wrong("limit", "min 1", text)
		case n > maxPage:
			c.wrong("limit", fmt.Sprintf("max %d", maxPage), text)
		}
		q.limit = n
	}
	for name, into := range map[string]*int{"after": &q.after, "before": &q.before} {
		if text := values.Get(name); text != "" {
			number, ok := readCursor(text)
			if !ok {
				c.wrong(name, "invalid cursor", text)
			}
			*into = number
		}
	}
	return q
}

// pageOf makes a page of a series, or refuses a wrong query. item returns the body of an item, and whether it belongs
// on the list.
func pageOf[T any](c checker, q pageQuery, all *series[T], item func(T) (body any, listed bool)) answer {
	if len(c) > 0 {
		return invalid(c)
	}
	newest, oldest := all.made(), all.gone+1
	if q.after > 0 { // only older items
		newest = min(newest, q.after-1)
	}
	if q.before > 0 { // only newer items
		oldest = max(oldest, min(newest, q.before)+1)
	}
	backward := q.before > 0 && q.after == 0 // the page next to the cursor
	data := []any{}
	var numbers []int
	more := false
	for i := range newest - oldest + 1 {
		number := newest - i
		if backward {
			number = oldest + i
		}
		body, listed := item(all.items[number-all.gone-1])
		if !listed {
			continue
		}
		if more = len(data) == q.limit; more {
			break
		}
		data, numbers = append(data, body), append(numbers, number)
	}
	info := pageInfoWire{HasNextPage: more, HasPreviousPage: q.after > 0}
	if backward {
		slices.Reverse(data)
		slices.Reverse(numbers)
		info.HasNextPage, info.HasPreviousPage = true, more
	}
	if len(data) > 0 {
		info.StartCursor, info.EndCursor = cursor(numbers[0]), cursor(numbers[len(numbers)-1])
	}
	return ok(pageWire{info, data})
}

// filter is a set of values to keep; empty keeps all.
type filter map[string]bool

func (f filter) allows(value string) bool { return len(f) == 0 || f[value] }

// filter reads a repeated parameter, whose values are from a closed set unless known is nil.
func (c *checker) filter(r *request, name string, known func(string) bool) filter {
	f := filter{}
	for i, value := range r.URL.Query()[name] {
		if known != nil && !known(value) {
			c.wrong(fmt.Sprintf("%s.$%d", name, i), noMatch, value)
		}
		f[value] = true
	}
	return f
}
