package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// asks makes a request of the control API and returns the answer, a success.
func (a *account) asks(method, path, body string) gjson.Result {
	a.Helper()
	r := a.burst(method, path, body)
	if r.status/100 != 2 {
		a.Fatalf("%s %s %s: %d %s", method, path, body, r.status, r.body)
	}
	return gjson.ParseBytes(r.body)
}

// given makes an intent by the control API and returns its id.
func (a *account) given(order string) string {
	a.Helper()
	return a.asks("POST", "/control/intents", order).Get("id").String()
}

// summary is what the control API says of the simulator.
func (a *account) summary() (sum Summary) {
	a.Helper()
	if err := json.Unmarshal([]byte(a.asks("GET", "/control/state", "").Raw), &sum); err != nil {
		a.Fatal(err)
	}
	return sum
}

// orders is how many orders were placed for an intent.
func (a *account) orders(id string) int {
	a.Helper()
	return int(a.asks("GET", "/control/intents/"+id, "").Get("orders").Int())
}

func (a *account) state(id string) string {
	a.Helper()
	return fmt.Sprint(a.intent(id)["state"])
}

func TestIntentsAreMadeAndMoved(t *testing.T) {
	const offered = string(api.OfferRetrieved)
	for name, c := range map[string]struct {
		order, moves, state, code string
		events                    []string
	}{
		"as usual":            {`{}`, ``, "retrieving_offer", "", nil},
		"the next state":      {`{}`, `{}`, "awaiting_confirmation", "", []string{offered}},
		"to its end":          {`{}`, `{"to":"completed"}`, "completed", "", []string{offered, string(api.IntentCompleted)}},
		"a failed offer":      {`{}`, `{"to":"failed"}`, "failed", "offer_retrieval_failed", []string{string(api.OfferFailed)}},
		"an offer fails as":   {`{}`, `{"failure":"payment_failed"}`, "failed", "payment_failed", []string{string(api.OfferFailed)}},
		"its window closes":   {`{"state":"awaiting_confirmation"}`, `{"failure":"checkout_intent_expired"}`, "failed", "checkout_intent_expired", []string{offered}},
		"an order fails":      {`{"state":"awaiting_confirmation"}`, `{"to":"failed"}`, "failed", "order_placement_failed", []string{offered, string(api.OrderFailed)}},
		"an order fails as":   {`{"state":"placing_order"}`, `{"failure":"product_out_of_stock"}`, "failed", "product_out_of_stock", []string{offered, string(api.OrderFailed)}},
		"fated in its URL":    {`{"productUrl":"https://a.example/magic/payment_failed"}`, `{"to":"completed"}`, "completed", "", []string{offered, string(api.IntentCompleted)}},
		"made as failed":      {`{"state":"failed"}`, ``, "failed", "order_placement_failed", []string{offered, string(api.OrderFailed)}},
		"made with a failure": {`{"state":"failed","failure":"product_not_found"}`, ``, "failed", "product_not_found", []string{string(api.OfferFailed)}},
		"to fail once placed": {`{}`, `{"to":"placing_order","failure":"captcha_blocked"}`, "placing_order", "", []string{offered}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				id := a.given(c.order)
				if c.moves != "" {
					a.asks("POST", "/control/intents/"+id, c.moves)
				}
				file := a.asks("GET", "/control/intents/"+id, "")
				var events []string
				for _, e := range file.Get("events.#.type").Array() {
					events = append(events, e.String())
				}
				in := file.Get("intent")
				if in.Get("state").String() != c.state || in.Get("failureReason.code").String() != c.code || !slices.Equal(events, c.events) {
					a.Errorf("it is %s with %v", in, events)
				}
				if later(15 * time.Second); name == "to fail once placed" && a.intent(id)["failureReason"].(map[string]any)["code"] != "captcha_blocked" {
					a.Errorf("in the end it is %v", a.intent(id))
				}
			})
		})
	}
}

func TestControlAPI(t *testing.T) {
	rows{
		"it lists itself, with what goes into URLs": func(a *account) {
			index := a.asks("GET", "/control", "")
			if len(index.Get("requests").Array()) != len(Controls()) || index.Get(`magicUrls.#(name=="sold-out").does`).String() == "" ||
				!strings.Contains(index.Get("failures").Raw, "payment_failed") {
				a.Errorf("it lists %s", index)
			}
		},
		"what is refused is told in its words": func(a *account) {
			placing := "/control/intents/" + a.given(`{"state":"placing_order"}`)
			for _, c := range []struct {
				request, body string
				status        int
				says          string
			}{
				{"POST /control/intents", `{"sate":"failed"}`, 422, `unknown field \"sate\"`},
				{"POST /control/intents", `{"state":7}`, 422, `{"body.state":{"message":"invalid value of type number"}}`},
				{"POST /control/intents", `{"state":"requires_action"}`, 422, "unknown state"},
				{"POST /control/intents", `{"failure":"bad_luck"}`, 422, "unknown failure code"},
				{"POST /control/intents", `{"quantity":1} {"quantity":2}`, 422, "there is more after the JSON value"},
				{"POST /control/intents", `{"quantity":2147483648}`, 422, "it must be from 0 to 2147483647"},
				{"POST /control/intents", `{"productUrl":"nowhere"}`, 422, "must be absolute"},
				{"POST /control/intents?now=1", ``, 422, "there is no such parameter"},
				{"POST /control/intents/ci_none", ``, 404, "not found"},
				{"POST " + placing, `{"failure":"bad_luck"}`, 422, "must be one of bot_protection_blocked, "},
				{"POST " + placing, `{"to":"gone"}`, 422, "must be one of retrieving_offer, "},
				{"POST " + placing, `{"to":"awaiting_confirmation"}`, 409, "in this state or past it"},
				{"POST " + placing, `{"failure":"checkout_intent_expired"}`, 409, "no confirm window any more"},
				{"POST /control/intents/" + a.given(`{"state":"completed"}`), ``, 409, "has ended"},
				{"POST /control/shipments/shp_none", ``, 404, "no such shipment or intent"},
				{"POST /control/shipments/" + a.given(`{}`), ``, 409, "is left to ship: it is retrieving_offer"},
				{"PUT /control/products", `{"url":"mug"}`, 422, "must be absolute"},
				{"PUT /control/products", `{"price":-1}`, 422, "must be cents"},
				{"PUT /control/products", `{"availability":"gone"}`, 422, "must be one of in_stock, "},
				{"POST /control/webhook-endpoints", `{"url":"nowhere"}`, 422, "must be absolute"},
				{"GET /control/deliveries?limit=0", ``, 422, "from 1 to 1000"},
				{"POST /control/faults", `{"status":"x"}`, 422, `{"body.status":{"message":"invalid value of type string"}}`},
				{"POST /control/faults", `{"status":200}`, 422, "from 400 to 599"},
				{"POST /control/faults", `{"count":0}`, 422, "at least 1"},
				{"POST /control/faults", `{"lateBy":-1}`, 422, "from 0 to 3600"},
				{"POST /control/faults", `{"path":"api/v1/shipments"}`, 422, "must begin with a slash"},
				{"POST /control/faults", `{"method":"get"}`, 422, "must be in capitals"},
				{"POST /control/faults", `{"event":"shipment.lost","drop":true}`, 422, "must be one of checkout_intent.offer_retrieved, "},
				{"POST /control/faults", `{"event":"*"}`, 422, "say what goes wrong"},
				{"POST /control/faults", `{"event":"*","status":500}`, 422, "are of requests"},
				{"PUT /control/buckets/tea", `{"limit":1}`, 404, "There is no such bucket"},
				{"PUT /control/buckets/reads", `{"limit":-2}`, 422, "or -1 for none"},
				{"PUT /control/buckets/reads", `{"limit":-1,"remaining":0}`, 422, "there is no limit"},
				{"PUT /control/buckets/reads", `{"remaining":11}`, 422, "from 0 to 10"},
				{"PUT /control/buckets/concurrent-agents", `{"remaining":1}`, 422, "are counted"},
				{"PUT /control/clock", `{"to":"noon"}`, 422, `\"noon\" is not a time such as 2026-03-01T12:00:00Z`},
				{"PUT /control/clock", `{"forward":-1}`, 422, "from 0 to 2678400 seconds, 31 days"},
				{"PUT /control/clock", `{"to":"1999-12-31T23:59:59Z"}`, 422, "never goes back"},
				{"PUT /control/clock", `{"to":"2999-01-01T00:00:00Z"}`, 422, "to 31 days ahead"},
				{"PUT /control/clock", `{"forward":1,"to":"2100-01-01T00:00:00Z"}`, 422, "exclude each other"},
				{"GET /control/nothing", ``, 404, "Not found"},
			} {
				method, path, _ := strings.Cut(c.request, " ")
				if r := a.burst(method, path, c.body); r.status != c.status || !strings.Contains(string(r.body), c.says) {
					a.Errorf("%s %s: %d %s, want %d and %q", c.request, c.body, r.status, r.body, c.status, c.says)
				}
			}
		},
		"a parcel is shipped, and scanned until it has arrived": func(a *account) {
			in := a.given(`{"state":"completed","productUrl":"https://a.example/magic/delayed-shipping"}`)
			sh := a.asks("POST", "/control/shipments/"+in, "")
			statuses := []string{sh.Get("status").String()}
			for range 5 {
				statuses = append(statuses, a.asks("POST", "/control/shipments/"+sh.Get("id").String(), "").Get("status").String())
			}
			if got := strings.Join(statuses, " "); got != "ordered shipped shipped delayed out_for_delivery delivered" {
				a.Errorf("the parcel is %s", got)
			}
			a.want(http.StatusConflict, a.burst("POST", "/control/shipments/"+sh.Get("id").String(), ""))
			a.want(http.StatusConflict, a.burst("POST", "/control/shipments/"+in, ""))
		},
		"a product is changed, and its event says it": func(a *account) {
			const url = "https://nowhere.example/p/new-thing"
			e := a.asks("PUT", "/control/products", `{"url":"`+url+`","price":1234,"availability":"backorder"}`)
			if e.Get("type").String() != "product.updated" || e.Get("data.price.amountSubunits").Int() != 1234 || e.Get("data.availability").String() != "backorder" {
				a.Errorf("the event is %s", e)
			}
			if e := a.asks("PUT", "/control/products", `{"url":"`+url+`","removed":true}`); e.Get("type").String() != "product.removed" {
				a.Errorf("the event is %s", e)
			}
			if e := a.asks("PUT", "/control/products", ""); e.Get("type").String() != "product.updated" || e.Get("source.id").String() == "" {
				a.Errorf("at random: %s", e)
			}
		},
		"limits are set": func(a *account) {
			a.asks("PUT", "/control/buckets/checkout-intents", `{"remaining":1}`)
			a.create(chiliCrisp)
			a.want(http.StatusTooManyRequests, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			a.asks("PUT", "/control/buckets/concurrent-agents", `{"limit":1}`)
			first, second := a.given(`{"purchase":true}`), a.given(`{"purchase":true}`)
			later(10 * time.Second)
			if got := a.state(first) + " " + a.state(second); got != "placing_order retrieving_offer" {
				a.Errorf("with one agent they are %s", got)
			}
			a.asks("PUT", "/control/buckets/concurrent-agents", `{"limit":2}`)
			if state := a.state(second); state != "placing_order" {
				a.Errorf("with two agents the second is %s", state)
			}
		},
		"it charges nothing": func(a *account) {
			later(time.Second)
			for range 30 {
				if r := a.burst("GET", "/control/state", ""); r.status != http.StatusOK || exact(r.header, "RateLimit") != nil {
					a.Fatalf("status %d, RateLimit %v", r.status, exact(r.header, "RateLimit"))
				}
			}
		},
		"no answer holds a key": func(a *account) {
			for _, path := range []string{"/control/state", "/control/snapshot", "/api/v1/shipments", "/nothing"} {
				r := a.call("GET", path, "")
				header, err := json.Marshal(r.header)
				if text := string(header) + string(r.body); err != nil || strings.Contains(text, testKey) || strings.Contains(text, testSecret) {
					a.Errorf("%s answers with a secret (%v)", path, err)
				}
			}
		},
	}.run(t)
}

func TestTheClockOfTheServiceIsMoved(t *testing.T) {
	rows{
		"what is due on the way has happened with the answer": func(a *account) {
			id := a.create(chiliCrisp)
			a.asks("PUT", "/control/clock", `{"forward":60}`)
			if state := a.state(id); state != "awaiting_confirmation" {
				a.Errorf("after a minute the intent is %s", state)
			}
			at := time.Now().Add(46 * time.Minute).UTC().Format(time.RFC3339)
			if now := a.asks("PUT", "/control/clock", fmt.Sprintf(`{"to":%q}`, at)).Get("now").String(); now[:19] != at[:19] {
				a.Errorf("it shows %s, want %s", now, at)
			}
			if state := a.state(id); state != "failed" || a.asks("GET", "/control/state", "").Get("clock").String() < at {
				a.Errorf("after its window the intent is %s", state)
			}
		},
		"a caller that has gone is not worked for": func(a *account) {
			gone, leave := context.WithCancel(a.Context())
			leave()
			ran := 0
			var again func(time.Time)
			again = func(at time.Time) {
				ran++
				a.sim.agenda.plan(at.Add(time.Second), again)
			}
			a.sim.mu.Lock()
			defer a.sim.mu.Unlock()
			again(a.sim.agenda.now())
			asked := httptest.NewRequestWithContext(gone, "PUT", "/control/clock", nil)
			controlAPI{sim: a.sim}.moveClock(&request{Request: asked, body: []byte(`{"forward":86400}`)})
			if ran < 2 || ran > 1<<11 {
				a.Errorf("%d of the day's 86,400 were due to it", ran)
			}
			a.sim.agenda.schedule = schedule[func(time.Time)]{}
		},
		"a new day brings a new quota": func(a *account) {
			a.asks("PUT", "/control/buckets/checkout-intents", `{"remaining":0}`)
			a.want(http.StatusTooManyRequests, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			a.asks("PUT", "/control/clock", `{"forward":86400}`)
			a.create(chiliCrisp)
		},
		"events bear its time, deliveries the time of the machine": func(a *account) {
			a.asks("PUT", "/control/clock", `{"forward":7200}`)
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			d := a.receiver.got(api.OfferFailed)[0]
			at, err := time.Parse(time.RFC3339, d.event["createdAt"].(string))
			if ahead := at.Sub(d.at); err != nil || ahead.Round(time.Minute) != 2*time.Hour {
				a.Errorf("the event is %v ahead (%v)", ahead, err)
			}
			if sent := exact(d.header, "x-svc-timestamp")[0]; sent != fmt.Sprint(d.at.Unix()) {
				a.Errorf("sent at %s, received at %d", sent, d.at.Unix())
			}
		},
	}.run(t)
}

// broken reports whether a request got no answer at all.
func (a *account) broken(method, path, body string) (broken bool) {
	a.Helper()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			broken = true
		}
	}()
	a.wire(method, path, body, "Bearer "+testKey)
	return false
}

func TestRequestsGoWrongAsOrdered(t *testing.T) {
	awaiting := func(a *account) (id, confirm string) {
		id = a.given(`{"state":"awaiting_confirmation"}`)
		return id, "/api/v1/checkout-intents/" + id + "/confirm"
	}
	order := func(a *account, fault string) { a.asks("POST", "/control/faults", fault) }
	const body = "{" + drawdown + "}"
	held := func(a *account, fault string, meanwhile func()) time.Duration {
		id, confirm := awaiting(a)
		order(a, fault)
		begin := time.Now()
		answered := make(chan response, 1)
		go func() { answered <- a.wire("POST", confirm, body, "Bearer "+testKey) }()
		later(20 * time.Second)
		if a.orders(id) != 0 {
			a.Error("it took effect at once")
		}
		meanwhile()
		a.want(http.StatusOK, <-answered)
		if n := a.orders(id); n != 1 {
			a.Errorf("%d orders", n)
		}
		return time.Since(begin)
	}
	rows{
		"as many as ordered fail": func(a *account) {
			order(a, `{"count":2,"status":503,"path":"/api/v1/shipments"}`)
			order(a, `{"method":"POST"}`)
			for _, want := range []int{503, 503, 200} {
				if r := a.call("GET", "/api/v1/shipments", ""); r.status != want {
					a.Errorf("status %d, want %d", r.status, want)
				}
			}
			a.want(http.StatusInternalServerError, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
		},
		"the connection breaks before anything is done": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"drop":true,"method":"POST"}`)
			if !a.broken("POST", confirm, body) || a.orders(id) != 0 {
				a.Errorf("%d orders", a.orders(id))
			}
		},
		"the connection breaks after all is done": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"drop":true,"after":true,"method":"POST"}`)
			if !a.broken("POST", confirm, body) || a.orders(id) != 1 {
				a.Errorf("%d orders", a.orders(id))
			}
		},
		"a doubled confirm places once and is refused": func(a *account) {
			id, confirm := awaiting(a)
			order(a, `{"twice":true,"method":"POST"}`)
			a.want(http.StatusNotFound, a.wire("POST", confirm, body, "Bearer "+testKey))
			if a.orders(id) != 1 {
				a.Errorf("%d orders", a.orders(id))
			}
		},
		"a confirm is held back": func(a *account) {
			if took := held(a, `{"lateBy":30,"method":"POST"}`, func() {}); took < 30*time.Second {
				a.Errorf("answered after %v", took)
			}
		},
		"what is held back is let go, and what is to come is forgotten": func(a *account) {
			took := held(a, `{"lateBy":3600,"method":"POST","count":7}`, func() { a.asks("DELETE", "/control/faults", "") })
			if took >= time.Minute {
				a.Errorf("answered after %v", took)
			}
			a.create(chiliCrisp)
		},
	}.run(t)
}

func TestDeliveriesGoWrongAsOrdered(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		sent  int // of the first two events
		late  time.Duration
	}{
		"lost":              {`{"event":"checkout_intent.*","drop":true}`, 1, 0},
		"all lost":          {`{"event":"*","drop":true,"count":9}`, 0, 0},
		"double":            {`{"event":"checkout_intent.offer_failed","twice":true}`, 3, 0},
		"late":              {`{"event":"*","lateBy":30}`, 2, 30 * time.Second},
		"of another type":   {`{"event":"shipment.*","drop":true}`, 2, 0},
		"of another source": {`{"event":"*","source":"ci_none","drop":true}`, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				a.asks("POST", "/control/faults", c.fault)
				begin := time.Now()
				a.given(`{"state":"failed","failure":"product_not_found"}`)
				a.given(`{"state":"failed","failure":"product_not_found"}`)
				later(time.Minute)
				got := a.receiver.got(api.OfferFailed)
				if len(got) != c.sent || c.late > 0 && got[1].at.Sub(begin) != c.late {
					a.Errorf("%d deliveries: %v", len(got), got)
				}
				if lost := a.summary().Endpoints[0].Lost; lost != uint64(max(0, 2-c.sent)) {
					a.Errorf("%d are said to be lost", lost)
				}
			})
		})
	}
}
