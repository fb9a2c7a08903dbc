package simulator

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// happens changes or removes a product, and returns the event.
func (a *account) happens(productURL, topic string, more ...string) map[string]any {
	a.Helper()
	body := fmt.Sprintf(`{"url":%q,"removed":%t%s}`, productURL, topic == "product.removed", strings.Join(append([]string{""}, more...), ","))
	return a.want(http.StatusOK, a.wire("PUT", "/control/products", body, "Bearer "+testKey))
}

func (a *account) lookUp(productURL string) response {
	a.Helper()
	return a.call("GET", "/api/v1/products/lookup?url="+url.QueryEscape(productURL), "")
}

func (a *account) product(productURL string) map[string]any {
	a.Helper()
	return a.want(http.StatusOK, a.lookUp(productURL))
}

// anyURLs are product URLs of every kind: of the catalogue, of merchants that
// nobody has heard of, magic ones and odd ones.
func anyURLs() []string {
	return []string{
		chiliCrisp, "https://www.spice-lab.example/products/chili-crisp/?variant=7#top",
		"https://never-heard-of.example/things/blue-teapot", "http://NEVER.example:8080/", "https://never.example",
		"https://never.example/a%20b%2Fc", "https://bücher.example/straße", "https://never.example/" + strings.Repeat("long-", 300),
		"https://[2001:db8::1]/p/1", magicURL("sold-out"),
		"https://never.example/line%0Abreak", magicURL("hostile-text"),
	}
}

func TestProductEventsChangeTheProduct(t *testing.T) {
	rows{
		"removed: the lookup answers 404, for any URL": func(a *account) {
			for _, u := range anyURLs() {
				a.happens(u, "product.updated")
				a.product(u)
				a.happens(u, "product.removed")
				closed(a, u, a.want(http.StatusNotFound, a.lookUp(u)), []string{"name", "message"}, "stack")
			}
		},
		"updated: the price or the stock differs each time, for any URL": func(a *account) {
			for _, u := range anyURLs() {
				for range 8 {
					before := a.product(u)
					snapshot := a.happens(u, "product.updated")["data"].(map[string]any)
					after := a.product(u)
					if fmt.Sprint(before["price"], before["availability"]) == fmt.Sprint(after["price"], after["availability"]) {
						a.Fatalf("%s: still %v and %v", u, after["price"], after["availability"])
					}
					for _, key := range slices.Sorted(maps.Keys(snapshot)) {
						if fmt.Sprint(snapshot[key]) != fmt.Sprint(after[key]) {
							a.Errorf("%s: the snapshot says %s %v, the lookup %v", u, key, snapshot[key], after[key])
						}
					}
				}
			}
		},
		"updated after removed: it is there again, and differs": func(a *account) {
			for _, u := range append(anyURLs(), magicURL("unpublished")) {
				before := ""
				if r := a.lookUp(u); r.status == http.StatusOK {
					before = fmt.Sprint(a.want(http.StatusOK, r)["price"])
				}
				a.happens(u, "product.removed")
				a.happens(u, "product.updated")
				if after := fmt.Sprint(a.product(u)["price"]); after == before {
					a.Errorf("%s: the price is %s as before", u, after)
				}
			}
		},
		"updated to a price and a stock that were asked for": func(a *account) {
			u := "https://never-heard-of.example/things/blue-teapot"
			a.happens(u, "product.updated", `"price":4242`, `"availability":"backorder"`)
			if p := a.product(u); p["price"].(map[string]any)["amountSubunits"] != 4242.0 || p["availability"] != "backorder" {
				a.Errorf("the lookup says %v, %v", p["price"], p["availability"])
			}
		},
		"offers agree with the last event": func(a *account) {
			u := "https://never-heard-of.example/things/blue-teapot"
			a.happens(u, "product.updated", `"price":4242`)
			id := a.create(u)
			later(10 * time.Second)
			if cost := a.intent(id)["offer"].(map[string]any)["cost"].(map[string]any); cost["subtotal"].(map[string]any)["amountSubunits"] != 4242.0 {
				a.Errorf("the offer is %v", cost)
			}
			a.happens(u, "product.updated", `"availability":"out_of_stock"`)
			a.fails(a.create(u), "product_out_of_stock")
			a.happens(u, "product.removed")
			a.fails(a.create(u), "product_not_found")
		},
		"sold out and unpublished by magic, until an event says otherwise": func(a *account) {
			for name, code := range map[string]string{"sold-out": "product_out_of_stock", "unpublished": "offer_retrieval_failed"} {
				a.fails(a.create(magicURL(name)), code)
				a.happens(magicURL(name), "product.updated")
				a.product(magicURL(name))
				id := a.create(magicURL(name))
				later(10 * time.Second)
				if in := a.intent(id); in["state"] != "awaiting_confirmation" {
					a.Errorf("%s, once it is back: %v, %v", name, in["state"], in["failureReason"])
				}
			}
		},
		"two in one millisecond have two ids, under which both are read": func(a *account) {
			for _, u := range anyURLs() {
				seen := map[string]bool{}
				for _, topic := range []string{"product.updated", "product.updated", "product.removed", "product.removed", "product.updated"} {
					e := a.happens(u, topic)
					id := e["id"].(string)
					if seen[id] {
						a.Errorf("two events are %s", id)
					}
					seen[id] = true
					if read := a.want(http.StatusOK, a.wire("GET", "/api/v1/events/"+url.PathEscape(id), "", "Bearer "+testKey)); fmt.Sprint(read) != fmt.Sprint(e) {
						a.Errorf("read %v, triggered %v", read, e)
					}
				}
				a.product(u)
			}
			later(time.Minute)
			delivered := map[string]bool{}
			for _, d := range a.receiver.got(api.ProductUpdated, api.ProductRemoved) {
				delivered[d.event["id"].(string)] = true
			}
			if want := 5 * len(anyURLs()); len(delivered) != want {
				a.Errorf("%d events were delivered, want %d", len(delivered), want)
			}
		},
	}.run(t)
}

// An id of an event is a header of its delivery: nothing in a product's URL may
// keep it from being sent.
func TestIdsOfProductsFitIntoHeaders(t *testing.T) {
	for _, u := range anyURLs() {
		id := newCatalogue().find(u).id()
		if len(id) > maxID/2 || strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			t.Errorf("%s has the id %q", u, id)
		}
		if again := newCatalogue().find(newCatalogue().find(u).url()).id(); again != id {
			t.Errorf("%s has the id %q, by its own URL %q", u, id, again)
		}
	}
}

// fails waits for the failure of an intent while its offer is retrieved.
func (a *account) fails(id, code string) {
	a.Helper()
	later(10 * time.Second)
	in := a.intent(id)
	reason, _ := in["failureReason"].(map[string]any)
	if in["state"] != "failed" || reason["code"] != code || reason["message"] == "" {
		a.Errorf("the intent is %v, %v; want %s", in["state"], reason, code)
	}
	if got := a.receiver.about(id); len(got) != 1 || got[0] != "checkout_intent.offer_failed" {
		a.Errorf("events of %s: %v", code, got)
	}
}
