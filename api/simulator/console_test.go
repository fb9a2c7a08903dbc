package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// asks makes a request of the control API and returns the answer with 200.
func (a *account) asks(method, path, body string) gjson.Result {
	a.Helper()
	r := a.burst(method, path, body)
	if r.status != http.StatusOK {
		a.Fatalf("%s %s %s: %d %s", method, path, body, r.status, r.body)
	}
	return gjson.ParseBytes(r.body)
}

// confirmed makes an intent that is paid in a way, confirms it, and returns it once
// its order has ended.
func (a *account) confirmed(payment string) gjson.Result {
	a.Helper()
	id := a.create(chiliCrisp, payment)
	later(10 * time.Second)
	a.want(http.StatusOK, a.call("POST", "/api/v1/checkout-intents/"+id+"/confirm", "{}"))
	later(15 * time.Second)
	return a.asks("GET", "/control/intents/"+id, "").Get("intent")
}

func (a *account) left() int64 {
	return a.asks("GET", "/control/balance", "").Get("amountSubunits").Int()
}

func TestTheBalanceRunsOut(t *testing.T) {
	const enough = 100_000
	var total int64
	inBubble(t, nil, func(a *account) {
		total = a.confirmed(drawdown).Get("offer.cost.total.amountSubunits").Int()
		if b := a.asks("GET", "/control/balance", ""); b.Raw != `{"amountSubunits":null}` {
			a.Errorf("a balance without end is %s", b.Raw)
		}
	})
	inBubble(t, func(c *Config) { c.Balance = total*2 - 1 }, func(a *account) {
		if in := a.confirmed(drawdown); in.Get("state").String() != "completed" || a.left() != total-1 {
			a.Errorf("the first is %s, and %d of %d are left", in.Get("state"), a.left(), total*2-1)
		}
		in := a.confirmed(drawdown)
		if in.Get("state").String() != "failed" || in.Get("failureReason.code").String() != "payment_failed" || a.left() != total-1 {
			a.Errorf("what is not covered is %s, and %d are left", in.Raw, a.left())
		}
		if kinds := a.receiver.about(in.Get("id").String()); !slices.Contains(kinds, string(api.OrderFailed)) {
			a.Errorf("its events are %v", kinds)
		}
		if in := a.confirmed(`"paymentMethod":{"type":"vault_token","vaultToken":"4f1b5e0a-3a61-4c8e-9d3c-2f9a1c0b7e55"}`); in.Get("state").String() != "completed" {
			a.Errorf("paid by card, it is %s", in.Get("state"))
		}
		a.asks("PUT", "/control/balance", fmt.Sprintf(`{"amountSubunits":%d}`, total))
		if in := a.confirmed(drawdown); in.Get("state").String() != "completed" || a.left() != 0 {
			a.Errorf("once it is filled up, the order is %s and %d are left", in.Get("state"), a.left())
		}
		a.want(422, a.burst("PUT", "/control/balance", `{"amountSubunits":-1}`))
	})
	inBubble(t, func(c *Config) { c.Balance = enough }, func(a *account) {
		id := a.create(magicURL("order_placement_failed"), drawdown)
		later(10 * time.Second)
		a.confirm(id)
		taken := a.left()
		later(15 * time.Second)
		if a.state(id) != "failed" || taken >= enough || a.left() != enough {
			a.Errorf("%d were left while the order was placed, %d after it failed, of %d", taken, a.left(), enough)
		}
	})
	inBubble(t, func(c *Config) { c.Balance = -1 }, func(a *account) {
		if in := a.confirmed(drawdown); in.Get("failureReason.code").String() != "payment_failed" {
			a.Errorf("with nothing, it is %s", in.Raw)
		}
	})
}

func TestALimitIsRaised(t *testing.T) {
	inBubble(t, func(c *Config) { c.Limits.Agents, c.Limits.Reads = 1, 2 }, func(a *account) {
		a.asks("PUT", "/control/buckets/reads", `{"limit":30}`)
		later(time.Second)
		for i := range 30 {
			if r := a.burst("GET", "/api/v1/shipments", ""); r.status != http.StatusOK {
				a.Fatalf("request %d gets %d", i+1, r.status)
			}
		}
		purchase := func() string {
			return a.want(http.StatusCreated, a.burst("POST", "/control/intents", `{"purchase":true}`))["id"].(string)
		}
		first, second := purchase(), purchase()
		later(10 * time.Second)
		if got := a.state(first) + " " + a.state(second); got != "placing_order retrieving_offer" {
			a.Errorf("with one agent they are %s", got)
		}
		a.asks("PUT", "/control/buckets/concurrent-agents", `{"limit":2}`)
		if state := a.state(second); state != "placing_order" {
			a.Errorf("with two agents the second is %s", state)
		}
		a.asks("PUT", "/control/buckets/checkout-intents", `{"limit":-1}`)
		for _, c := range []struct{ bucket, body string }{
			{"concurrent-agents", `{"remaining":1}`}, {"reads", `{"limit":-2}`}, {"checkout-intents", `{"remaining":1}`}, {"reads", `{"limit":5,"remaining":6}`},
		} {
			a.want(422, a.burst("PUT", "/control/buckets/"+c.bucket, c.body))
		}
	})
}

func TestAnIntentIsAdvanced(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		id := a.begun()
		for _, want := range []string{"awaiting_confirmation", "placing_order", "completed"} {
			if got := a.asks("POST", "/control/intents/"+id+"/advance", "").Get("state").String(); got != want {
				a.Errorf("it is %s, want %s", got, want)
			}
		}
		a.want(http.StatusConflict, a.burst("POST", "/control/intents/"+id+"/advance", ""))
		if got := a.asks("POST", "/control/intents/"+a.begun()+"/advance", `{"to":"completed"}`).Get("state").String(); got != "completed" {
			a.Errorf("brought to its end it is %s", got)
		}
		if got := a.asks("POST", "/control/intents/"+a.soldOut()+"/advance", `{"to":"placing_order"}`).Get("state").String(); got != "failed" {
			a.Errorf("what is fated to fail is %s", got)
		}
		a.want(422, a.burst("POST", "/control/intents/"+a.begun()+"/advance", `{"to":"failed"}`))
	})
}

// begun makes an intent that waits for its offer, and returns its id.
func (a *account) begun() string {
	a.Helper()
	return a.want(http.StatusCreated, a.burst("POST", "/control/intents", ""))["id"].(string)
}

func TestAnEndpointIsRemoved(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		later(time.Second)
		listed := a.asks("GET", "/control/webhook-endpoints", "")
		if n := len(listed.Array()); n != 1 || listed.Get("0.url").String() != "http://receiver.example/hooks" {
			a.Errorf("listed are %s", listed.Raw)
		}
		path := "/control/webhook-endpoints/" + listed.Get("0.id").String()
		a.asks("DELETE", path, "")
		a.soldOut()
		later(time.Minute)
		if got := a.arrived(); len(got) != 0 || a.asks("GET", "/control/webhook-endpoints", "").Raw != "[]" {
			a.Errorf("it still gets %v", got)
		}
		a.want(http.StatusNotFound, a.burst("DELETE", path, ""))
	})
}

func TestDeliveriesAreListedAndMadeAgain(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		a.receiver.answer = func(d attempt) (int, string) {
			if d.kind() == string(api.OfferFailed) && len(a.receiver.got(api.OfferFailed)) == 1 {
				return http.StatusBadGateway, "down for\na moment"
			}
			return 0, ""
		}
		id := a.soldOut()
		later(8100 * time.Millisecond)
		event := "evt_" + id + "_failed"
		d := a.asks("GET", "/control/deliveries?limit=5&event="+event, "")
		if d.Get("#").Int() != 1 || d.Get("0.state").String() != "waiting" || d.Get("0.status").Int() != 502 || d.Get("0.answer.body").String() != "down for\na moment" ||
			d.Get("0.request.header.x-svc-event-id.0").String() != event || !gjson.Valid(d.Get("0.request.body").String()) || d.Get("0.attempts").Int() != 1 {
			a.Errorf("the delivery is %s", d.Raw)
		}
		path := "/control/deliveries/" + d.Get("0.id").String() + "/again"
		a.asks("POST", path, "")
		later(100 * time.Millisecond)
		if d := a.asks("GET", "/control/deliveries?endpoint="+a.sim.Summary().Endpoints[0].ID, "").Get("0"); d.Get("state").String() != "delivered" || d.Get("attempts").Int() != 2 {
			a.Errorf("made again, it is %s", d.Raw)
		}
		a.asks("POST", path, "")
		later(time.Minute)
		if n := len(a.receiver.got(api.OfferFailed)); n != 3 {
			a.Errorf("%d attempts, want 3", n)
		}
		a.want(http.StatusNotFound, a.burst("POST", "/control/deliveries/we_1-d1/again", ""))
		challenge := a.asks("GET", "/control/deliveries?event=evt_"+a.sim.Summary().Endpoints[0].ID+"_verification_challenge", "").Get("0.id").String()
		a.want(http.StatusConflict, a.burst("POST", "/control/deliveries/"+challenge+"/again", ""))
	})
}

func TestProductsAreListedAsTheyAre(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		a.want(http.StatusCreated, a.burst("POST", "/control/events", `{"type":"product.updated","productUrl":"https://nowhere.example/p/new-thing","price":1234,"availability":"backorder"}`))
		a.want(http.StatusCreated, a.burst("POST", "/control/events", fmt.Sprintf(`{"productUrl":%q,"type":"product.removed"}`, chiliCrisp)))
		listed := a.asks("GET", "/control/products", "")
		for query, want := range map[string]string{
			`#(url=="https://nowhere.example/p/new-thing").price.amountSubunits`: "1234", `#(url=="https://nowhere.example/p/new-thing").availability`: "backorder",
			`#(url=="` + chiliCrisp + `").removed`: "true", `#(removed==true)#|#`: "1",
		} {
			if got := listed.Get(query).String(); got != want {
				a.Errorf("%s is %q, want %q", query, got, want)
			}
		}
	})
}
