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

// happens triggers an event of a product, as a test of one's own integration does.
func (a *account) happens(productURL, topic string, more ...string) map[string]any {
	a.Helper()
	body := fmt.Sprintf(`{"productUrl":%q,"type":%q%s}`, productURL, topic, strings.Join(append([]string{""}, more...), ","))
	return a.want(http.StatusCreated, a.wire("POST", "/control/events", body, "Bearer "+testKey))
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
		"https://[2001:db8::1]/p/1", magicURL("high-value"), magicURL("sold-out"), magicURL("preorder"), magicURL("partial-stock"),
		"https://never.example/line%0Abreak", magicURL("hostile-text"),
	}
}

// anyURLs leaves out, for the client, those whose text it scrubs.
func (a *account) anyURLs() []string {
	all := anyURLs()
	if a.driver == (clientDriver{}) {
		return all[:len(all)-2]
	}
	return all
}

func TestProductEventsChangeTheProduct(t *testing.T) {
	rows{
		"removed: the lookup answers 404, for any URL": func(a *account) {
			for _, u := range a.anyURLs() {
				a.happens(u, "product.updated")
				a.product(u)
				a.happens(u, "product.removed")
				closed(a, u, a.want(http.StatusNotFound, a.lookUp(u)), []string{"name", "message"}, "stack")
			}
		},
		"updated: the price or the stock differs each time, for any URL": func(a *account) {
			for _, u := range a.anyURLs() {
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
			for _, u := range append(a.anyURLs(), magicURL("unpublished")) {
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
			for _, more := range []string{`"price":-1`, `"price":2147483648`, `"availability":"plenty"`, `"type":"product.removed","price":1`} {
				a.want(422, a.wire("POST", "/control/events", fmt.Sprintf(`{"type":"product.updated","productUrl":%q,%s}`, u, more), "Bearer "+testKey))
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
			for topic, want := range map[string]string{"product.removed": "product_not_found", `product.updated","availability":"out_of_stock`: "product_out_of_stock"} {
				topic, more, _ := strings.Cut(topic, `",`)
				if more == "" {
					a.happens(u, topic)
				} else {
					a.happens(u, topic, strings.TrimSuffix(more, `"`)+`"`)
				}
				a.fails(a.create(u), want)
			}
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
			for _, u := range a.anyURLs() {
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
			if want := 5 * len(a.anyURLs()); len(delivered) != want {
				a.Errorf("%d events were delivered, want %d", len(delivered), want)
			}
		},
	}.run(t)
	plainRows{
		"an event of no URL is refused": func(a *account) {
			for _, u := range []string{"chili-crisp", "ftp://a.example/b", "https://:80/x", "https://%zz"} {
				body := a.want(422, a.call("POST", "/control/events", fmt.Sprintf(`{"type":"product.updated","productUrl":%q}`, u)))
				closed(a, u, body["fields"], []string{"body.productUrl"})
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
