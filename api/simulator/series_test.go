package simulator

import (
	"net/http"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// keep sets how many intents and events are kept from now on.
func (a *account) keep(intents, events int) {
	a.sim.mu.Lock()
	defer a.sim.mu.Unlock()
	a.sim.fulfilment.most, a.sim.webhooks.events.most = intents, events
}

// busy is a stand-in that keeps few things, after hours with many.
func busy(t *testing.T, test func(a *account)) {
	t.Helper()
	inBubble(t, func(c *Config) { c.IntentsPerMinute, c.Limits, c.Lists = 30, Unlimited(), true }, func(a *account) {
		a.keep(200, 2000)
		later(2 * time.Hour)
		test(a)
	})
}

func TestOnlyTheNewestIntentsAndEventsAreKept(t *testing.T) {
	busy(t, func(a *account) {
		counted, endpoint := gjson.Parse(sum(a.asks("GET", "/control/state", "").Get("intents"))).Int(), a.summary().Endpoints[0]
		a.sim.mu.Lock()
		defer a.sim.mu.Unlock()
		f, log := &a.sim.fulfilment, &a.sim.webhooks.events
		open, shipments := 0, map[string]int{}
		for _, in := range f.order.items {
			if !in.over() {
				open++
			}
		}
		for _, sh := range f.shipments.items {
			shipments[sh.CheckoutIntentID]++
		}
		// An open one holds back those after it, for as long as its confirm window.
		if n, most := len(f.order.items), 200*17/16+45*60; f.order.made() < 3000 || n > most || n < 200 || n != len(f.intents) {
			t.Errorf("of %d intents %d are kept, want at most %d, of which %d are open", f.order.made(), n, most, open)
		}
		if n := len(log.items); log.made() < 15_000 || n > 2000*17/16 || n != len(log.byID) {
			t.Errorf("of %d events %d are kept", log.made(), n)
		}
		if n := len(f.shipments.items); n != len(f.parcels) || n > 3*len(f.order.items) {
			t.Errorf("%d shipments are kept", n)
		}
		for _, in := range f.order.items {
			if got := shipments[in.ID]; got != int(in.Parcels) {
				t.Fatalf("of the %d shipments of a kept intent %d are kept", in.Parcels, got)
			}
		}
		if counted != int64(len(f.order.items)) {
			t.Errorf("the state counts %d intents, and %d are kept", counted, len(f.order.items))
		}
		if endpoint.Lost != 0 || endpoint.Delivered < 15_000 {
			t.Errorf("the endpoint got %d events, and lost %d", endpoint.Delivered, endpoint.Lost)
		}
	})
}

func TestWhatIsKeptIsListedAndReadAsBefore(t *testing.T) {
	busy(t, func(a *account) {
		for path, want := range map[string]int{
			"/api/v1/checkout-intents": len(a.sim.fulfilment.order.items), "/api/v1/shipments": len(a.sim.fulfilment.shipments.items), "/api/v1/events": len(a.sim.webhooks.events.items),
		} {
			listed, query := map[string]bool{}, ""
			for {
				page := gjson.ParseBytes(a.burst("GET", path+query, "").body)
				for _, item := range page.Get("data").Array() {
					listed[item.Get("id").Str] = true
				}
				if !page.Get("pageInfo.hasNextPage").Bool() {
					break
				}
				query = "?after=" + page.Get("pageInfo.endCursor").Str
			}
			if len(listed) != want {
				t.Errorf("%s lists %d, want the %d that are kept", path, len(listed), want)
			}
			for id := range listed {
				a.want(http.StatusOK, a.burst("GET", path+"/"+id, ""))
			}
			if back := gjson.ParseBytes(a.burst("GET", path+"?before="+cursor(1), "").body).Get("data.#").Int(); back != maxPage {
				t.Errorf("%s lists %d behind what was let go, want a page", path, back)
			}
			if past := gjson.ParseBytes(a.burst("GET", path+"?after="+cursor(2), "").body).Get("data.#").Int(); past != 0 {
				t.Errorf("%s lists %d of what was let go", path, past)
			}
		}
	})
}

func TestWhatIsMadeAfterASnapshotHasIdsOfItsOwn(t *testing.T) {
	var kept []byte
	var made, first int
	var seed uint64
	known := map[string]bool{}
	busy(t, func(a *account) {
		kept, seed = a.call("GET", "/control/snapshot", "").body, a.sim.cfg.Seed
		made, first = a.sim.fulfilment.order.made(), a.sim.fulfilment.order.gone
		if first == 0 {
			t.Error("nothing was let go")
		}
		for _, in := range a.sim.fulfilment.order.items {
			known[in.ID] = true
		}
	})
	restored(t, kept, func(c *Config) { c.Seed, c.Limits = seed, Unlimited() }, func(a *account) {
		if got := len(a.sim.fulfilment.order.items); got != len(known) {
			t.Errorf("it has %d intents, want %d", got, len(known))
		}
		for range made - first + 100 {
			id := a.given("{}")
			if known[id] {
				t.Fatalf("the id %s is taken", id)
			}
			known[id] = true
		}
	})
}

func TestAnEndpointThatFallsFarBehindLosesTheOldestEvents(t *testing.T) {
	inBubble(t, func(c *Config) { c.IntentsPerMinute, c.Limits = 30, Unlimited() }, func(a *account) {
		a.keep(200, 100)
		a.receiver.answers(func(attempt) (int, string) { return http.StatusServiceUnavailable, "" })
		a.asks("POST", "/control/webhook-endpoints", `{"url":"http://late.example/hooks"}`)
		later(10 * time.Minute)
		a.receiver.answers(nil)
		later(10 * time.Minute)
		made := a.sim.webhooks.events.made()
		if e := a.summary().Endpoints[1]; e.Lost < 300 || e.Delivered < 100 || int(e.Delivered+e.Lost) > made || int(e.Delivered+e.Lost) < made-10 {
			t.Errorf("of %d events it got %d, and lost %d", made, e.Delivered, e.Lost)
		}
	})
}
