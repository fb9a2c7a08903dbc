package simulator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

func TestNewRefusesBadSettings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no key":               {func(c *Config) { c.Key = api.Secret{} }, "API key"},
		"no secret":            {func(c *Config) { c.SigningSecret = api.Secret{} }, "signing secret"},
		"a relative webhook":   {func(c *Config) { c.WebhookURL = "/hooks" }, "absolute"},
		"another scheme":       {func(c *Config) { c.WebhookURL = "ftp://a.example/" }, "http://"},
		"a share above 1":      {func(c *Config) { c.Faults.Lose = 1.5 }, "lose share"},
		"a negative share":     {func(c *Config) { c.Faults.Errors = -0.1 }, "errors share"},
		"a negative speed":     {func(c *Config) { c.Speed = -1 }, "speed"},
		"a negative rate":      {func(c *Config) { c.IntentsPerMinute = -1 }, "intents per minute"},
		"a negative duration":  {func(c *Config) { c.Timings.Offer = -1 }, "duration"},
		"a header prefix":      {func(c *Config) { c.HeaderPrefix = "x svc" }, "header prefix"},
		"a relative lookup":    {func(c *Config) { c.LookupPath = "lookup" }, "slash"},
		"a lookup pattern":     {func(c *Config) { c.LookupPath = "/{id}" }, "plain path"},
		"a quoted policy name": {func(c *Config) { c.PolicyName = `a"b` }, "policy name"},
		"a huge history":       {func(c *Config) { c.History = 1 << 30 }, "history"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Key: api.NewSecret(testKey), SigningSecret: api.NewSecret(testSecret), WebhookURL: "http://a.example/"}
			c.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error is %v, want one about %q", err, c.want)
			}
		})
	}
}

func TestHistoryFillsEveryLane(t *testing.T) {
	for _, speed := range []float64{1, 10, 60} {
		t.Run(fmt.Sprint("speed ", speed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := New(Config{Key: api.NewSecret(testKey), Speed: speed, Seed: 3})
				if err != nil {
					t.Fatal(err)
				}
				sum := s.Summary()
				total := 0
				for _, state := range api.IntentStates() {
					if sum.Intents[state] == 0 {
						t.Errorf("no intent is %s", state)
					}
					total += sum.Intents[state]
				}
				if total != 25 || sum.Intents[api.Completed] < 9 {
					t.Errorf("the history is %v", sum.Intents)
				}
				if len(sum.Shipments) < 3 {
					t.Errorf("the shipments are %v", sum.Shipments)
				}
			})
		})
	}
}

func TestHistoryCountsInTheDailyBucketOnlyForToday(t *testing.T) {
	left := func(t *testing.T, after time.Duration) (n int) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(after) // the bubble begins at midnight
			s, err := New(Config{Key: api.NewSecret(testKey), History: 30})
			if err != nil {
				t.Fatal(err)
			}
			n = s.Summary().Buckets[3].Remaining
		})
		return n
	}
	morning, evening := left(t, time.Hour), left(t, 20*time.Hour)
	if evening != 20 || morning <= evening || morning >= 50 {
		t.Errorf("left of 50: %d in the morning, %d in the evening", morning, evening)
	}
}

// transcript is what a shop does within ten minutes of a seed.
func transcript(t *testing.T, seed uint64) string {
	var all strings.Builder
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		s, err := New(Config{Key: api.NewSecret(testKey), SigningSecret: api.NewSecret(testSecret), WebhookURL: "http://a.example/", Transport: r, Seed: seed, IntentsPerMinute: 4, Speed: 5})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		for _, in := range s.order {
			all.Write(encode(in.intentWire))
			all.WriteByte('\n')
		}
		for _, sh := range s.shipments {
			all.Write(encode(sh.shipmentWire))
			all.WriteByte('\n')
		}
		for _, d := range r.got() {
			all.Write(d.body)
			all.WriteByte('\n')
		}
	})
	return all.String()
}

func TestASeedAlwaysGivesTheSameDay(t *testing.T) {
	first, second, other := transcript(t, 5), transcript(t, 5), transcript(t, 6)
	if first != second {
		t.Error("two runs of a seed differ")
	}
	if first == other {
		t.Error("two seeds give the same run")
	}
}

func TestTheShopIsBelievable(t *testing.T) {
	inBubble(t, func(c *Config) {
		c.IntentsPerMinute, c.Limits.PerDay, c.Timings.Spread = 12, 100_000, 0.35
	}, func(a *account) {
		later(3 * time.Hour)
		a.sim.mu.Lock()
		defer a.sim.mu.Unlock()
		products, codes, carriers := map[string]bool{}, map[api.FailureCode]bool{}, map[string]bool{}
		for _, in := range a.sim.order {
			products[in.ProductURL] = true
			if in.FailureReason != nil {
				codes[in.FailureReason.Code] = true
			}
			if in.Offer != nil {
				c := in.Offer.Cost
				sum := c.Subtotal.AmountSubunits + c.Shipping.AmountSubunits + c.Tax.AmountSubunits
				if c.Discount != nil {
					sum -= c.Discount.AmountSubunits
				}
				if sum != c.Total.AmountSubunits || sum < 400 {
					t.Fatalf("the offer of %s does not add up: %+v", in.ProductURL, c)
				}
			}
			if (in.State == api.Completed) != (in.OrderID != "") {
				t.Fatalf("%s with order id %q", in.State, in.OrderID)
			}
		}
		statuses := map[api.ShipmentStatus]int{}
		for _, sh := range a.sim.shipments {
			statuses[sh.Status]++
			if sh.Tracking != nil {
				carriers[sh.Tracking.CarrierName] = true
			}
		}
		states, n := a.sim.states, len(a.sim.order)
		if n < 1500 || n > 3000 || len(products) < 35 || len(codes) < 12 || len(carriers) != 4 {
			t.Errorf("%d intents for %d products, %d failure codes, %d carriers", n, len(products), len(codes), len(carriers))
		}
		if states[api.Completed] < n/2 || states[api.Failed] < n/20 || states[api.AwaitingConfirmation] == 0 {
			t.Errorf("states: %v", states)
		}
		if statuses[api.Delivered] < n/4 || statuses[api.Canceled] == 0 {
			t.Errorf("shipments: %v", statuses)
		}
	})
}

func TestMagicSituations(t *testing.T) {
	// Each line: the situation, and what must be found in the intent after a minute.
	for name, want := range map[situation]string{
		soldOut:      `"code":"product_out_of_stock"`,
		unpublished:  `"code":"offer_retrieval_failed"`,
		manyVariants: `"code":"variant_selections_required"`,
		highValue:    `"subtotal":{"currencyCode":"USD","amountSubunits":999999}`,
		onSale:       `"discount":{"currencyCode":"USD"`,
		taxExempt:    `"tax":{"currencyCode":"USD","amountSubunits":0}`,
		digital:      `"shipping":{"availableOptions":[]}`,
		heavyweight:  `"shipping":{"currencyCode":"USD","amountSubunits":24999}`,
		slowOffer:    `"state":"retrieving_offer"`,
		neverOffered: `"state":"retrieving_offer"`,
		hostileText:  `\u001b]0;owned\u0007`,
		preorder:     `"state":"awaiting_confirmation"`,
		partialStock: `"state":"awaiting_confirmation"`,
	} {
		t.Run(string(name), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				id := a.create(magicURL(string(name)))
				later(time.Minute)
				if r := a.call("GET", "/api/v1/checkout-intents/"+id, ""); !bytes.Contains(r.body, []byte(want)) {
					a.Errorf("the intent lacks %s: %s", want, r.body)
				}
			})
		})
	}
	for name, want := range map[situation]string{
		delayedShipping:  `"status":"delayed"`,
		canceledShipping: `"status":"canceled"`,
		noTracking:       `"number":null,"url":null,"deliveryDate":null`,
	} {
		t.Run(string(name), func(t *testing.T) {
			inBubble(t, nil, func(a *account) {
				id := a.completed(magicURL(string(name)))
				later(10 * time.Minute)
				if r := a.call("GET", "/api/v1/checkout-intents/"+id+"/shipments", ""); !bytes.Contains(r.body, []byte(want)) {
					a.Errorf("the shipments lack %s: %s", want, r.body)
				}
			})
		})
	}
}

func TestMagicFailureCodes(t *testing.T) {
	for code, kind := range failureKinds() {
		for _, query := range []string{"", "?while=placing"} {
			t.Run(string(code)+query, func(t *testing.T) {
				inBubble(t, nil, func(a *account) {
					id := a.create(magicURL(string(code))+query, drawdown)
					later(10 * time.Second)
					placing := kind.placing || query != ""
					if in := a.intent(id); placing || code == expired {
						if in["state"] != "awaiting_confirmation" {
							a.Fatalf("after the offer: %v", in["state"])
						}
					}
					if placing {
						a.confirm(id)
					}
					later(15 * time.Second)
					in := a.intent(id)
					if in["state"] != "failed" || in["failureReason"].(map[string]any)["code"] != string(code) || in["failureReason"].(map[string]any)["message"] == "" {
						a.Errorf("the intent is %v: %v", in["state"], in["failureReason"])
					}
				})
			})
		}
	}
}

func TestConstraintsAndPromoCodes(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for more, want := range map[string]string{
			`"constraints":{"maxTotalPrice":1500}`:                              "constraint_total_price_exceeded",
			`"constraints":{"maxShippingPrice":100}`:                            "constraint_shipping_cost_exceeded",
			`"constraints":{"maxTotalPrice":1500},"promoCodes":["FREE_SHIP-7"]`: "constraint_total_price_exceeded",
		} {
			id := a.create(chiliCrisp, more)
			later(10 * time.Second)
			if in := a.intent(id); in["failureReason"].(map[string]any)["code"] != want {
				a.Errorf("%s: %v", more, in["failureReason"])
			}
		}
		id := a.create(chiliCrisp, `"promoCodes":["NONSENSE","WELCOME10","FREE_SHIP-7"],"constraints":{"maxTotalPrice":1600}`)
		later(10 * time.Second)
		offer := a.intent(id)["offer"].(map[string]any)
		if got := fmt.Sprint(offer["appliedPromoCodes"]); got != "[WELCOME10 FREE_SHIP-7]" {
			a.Errorf("applied %s", got)
		}
	})
}

func TestShipmentsMoveThroughTheirStatuses(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		id := a.completed(magicURL("delayed-shipping"))
		var statuses []string
		for range 120 {
			later(3 * time.Second)
			for _, sh := range a.list("/api/v1/checkout-intents/" + id + "/shipments") {
				if status := sh["status"].(string); len(statuses) == 0 || statuses[len(statuses)-1] != status {
					statuses = append(statuses, status)
				}
				required := []string{"id", "checkoutIntentId", "marketplaceOrderId", "status", "createdAt", "updatedAt"}
				switch sh["status"] {
				case "ordered", "canceled":
				case "delivered":
					required = append(required, "deliveredAt")
					fallthrough
				default:
					required = append(required, "externalId", "shippedAt", "tracking", "trackingEvents")
				}
				closed(a, sh["status"].(string), sh, required)
			}
		}
		if got := strings.Join(statuses, " "); got != "ordered shipped delayed out_for_delivery delivered" {
			a.Errorf("statuses: %s", got)
		}
	})
}

func TestConcurrentCreatorsNeverPassACap(t *testing.T) {
	const creators = 64
	t.Run("50 a day", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.Mutations = -1 }, func(a *account) {
			counts := race(a, creators, 4)
			if counts[http.StatusCreated] != 50 || counts[http.StatusTooManyRequests] != 4*creators-50 {
				a.Errorf("answers: %v", counts)
			}
		})
	})
	t.Run("10 agents", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.Mutations, c.Limits.PerDay = -1, -1 }, func(a *account) {
			most := 0
			for range 40 {
				race(a, creators, 1)
				for range 5 {
					later(time.Second)
					most = max(most, a.sim.Summary().Intents[api.PlacingOrder])
				}
			}
			if most != 10 {
				a.Errorf("at most %d intents were placing, want 10", most)
			}
		})
	})
	t.Run("5 mutations a second", func(t *testing.T) {
		inBubble(t, func(c *Config) { c.Limits.PerDay = -1 }, func(a *account) {
			later(time.Second)
			if counts := race(a, creators, 2); counts[http.StatusCreated] != 5 {
				a.Errorf("answers: %v", counts)
			}
		})
	})
}

// race lets creators purchase at the same time and counts the answers by status.
func race(a *account, creators, each int) map[int]int {
	var mu sync.Mutex
	counts := map[int]int{}
	var all sync.WaitGroup
	for range creators {
		all.Go(func() {
			for range each {
				r := a.burst("POST", "/api/v1/checkout-intents/purchase", orderJSON(chiliCrisp, drawdown))
				mu.Lock()
				counts[r.status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts
}

func TestFieldNamesKeepTheirCaseOnTheWire(t *testing.T) {
	sim, err := New(Config{Key: api.NewSecret(testKey), History: -1})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/events/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", testKey)
	lines := bufio.NewScanner(conn)
	seen := map[string]bool{}
	for lines.Scan() && lines.Text() != "" {
		seen[lines.Text()] = true
	}
	for _, want := range []string{"HTTP/1.1 404 Not Found", `RateLimit-Policy: "default";q=10;w=1`, `RateLimit: "default";r=9;t=1`} {
		if !seen[want] {
			t.Errorf("no line %q in %v", want, seen)
		}
	}
}

func TestDeliveryHeadersAreLowerCaseOnTheWire(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	sim, err := New(Config{Key: api.NewSecret(testKey), SigningSecret: api.NewSecret(testSecret), WebhookURL: "http://" + listener.Addr().String(), History: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sim.Run(ctx) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	names := map[string]bool{}
	for lines.Scan() && lines.Text() != "" {
		name, _, _ := strings.Cut(lines.Text(), ":")
		names[name] = true
	}
	conn.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"x-svc-signature", "x-svc-event-id", "x-svc-timestamp", "x-svc-topic"} {
		if !names[want] {
			t.Errorf("no header %s in %v", want, names)
		}
	}
}

func TestRunRefusesToRunTwice(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		if err := a.sim.Run(a.Context()); err == nil {
			t.Error("a second Run began")
		}
	})
}

func TestInjectedErrorsAreAShareOfTheAnswers(t *testing.T) {
	inBubble(t, func(c *Config) { c.Faults.Errors, c.Limits = 0.25, Unlimited() }, func(a *account) {
		failed := 0
		for range 1000 {
			if r := a.burst("GET", "/api/v1/shipments", ""); r.status == http.StatusInternalServerError {
				failed++
			}
		}
		if failed < 180 || failed > 320 {
			a.Errorf("%d of 1000 answers were errors", failed)
		}
	})
}

func TestControlAPI(t *testing.T) {
	rows{
		"an intent with a chosen fate": func(a *account) {
			in := a.want(http.StatusCreated, a.call("POST", "/control/intents", `{"state":"placing_order","failure":"payment_failed","whilePlacing":true,"referenceId":"r-1"}`))
			if in["state"] != "placing_order" || in["referenceId"] != "r-1" {
				a.Errorf("the intent is %v", in)
			}
			later(15 * time.Second)
			if in := a.intent(in["id"].(string)); in["failureReason"].(map[string]any)["code"] != "payment_failed" {
				a.Errorf("it ended as %v", in)
			}
		},
		"each state at once": func(a *account) {
			for _, state := range api.IntentStates() {
				in := a.want(http.StatusCreated, a.call("POST", "/control/intents", fmt.Sprintf(`{"state":%q}`, state)))
				if in["state"] != string(state) {
					a.Errorf("it is %v, want %s", in["state"], state)
				}
			}
		},
		"an unknown key is refused": func(a *account) { a.want(422, a.call("POST", "/control/intents", `{"sate":"failed"}`)) },
		"an unknown state is refused": func(a *account) {
			a.want(422, a.call("POST", "/control/intents", `{"state":"requires_action"}`))
			a.want(422, a.call("POST", "/control/intents", `{"failure":"bad_luck"}`))
		},
		"a shipment is advanced": func(a *account) {
			a.completed(chiliCrisp)
			later(15 * time.Second)
			id := a.list("/api/v1/shipments")[0]["id"].(string)
			if sh := a.want(http.StatusOK, a.burst("POST", "/control/shipments/"+id+"/advance", "")); sh["status"] != "shipped" && sh["status"] != "canceled" {
				a.Errorf("it is %v", sh["status"])
			}
		},
		"an intent expires": func(a *account) {
			id := a.create(chiliCrisp)
			later(10 * time.Second)
			a.want(http.StatusOK, a.call("POST", "/control/intents/"+id+"/expire", ""))
			if in := a.intent(id); in["state"] != "failed" {
				a.Errorf("it is %v", in["state"])
			}
		},
		"the next requests fail": func(a *account) {
			a.want(http.StatusOK, a.call("POST", "/control/failures", `{"count":2,"status":503,"path":"/api/v1/shipments"}`))
			for _, want := range []int{503, 503, 200} {
				if r := a.call("GET", "/api/v1/shipments", ""); r.status != want {
					a.Errorf("status %d, want %d", r.status, want)
				}
			}
			a.want(422, a.call("POST", "/control/failures", `{"status":200}`))
		},
		"a bucket is set": func(a *account) {
			a.call("PUT", "/control/buckets/checkout-intents", `{"remaining":1}`)
			a.create(chiliCrisp)
			a.want(http.StatusTooManyRequests, a.call("POST", "/api/v1/checkout-intents", orderJSON(chiliCrisp)))
			a.want(http.StatusNotFound, a.call("PUT", "/control/buckets/tea", `{"remaining":1}`))
			a.want(422, a.call("PUT", "/control/buckets/reads", `{"remaining":11}`))
		},
		"the state is summed up": func(a *account) {
			a.create(chiliCrisp)
			sum := a.want(http.StatusOK, a.call("GET", "/control/state", ""))
			if n := sum["intents"].(map[string]any)["retrieving_offer"]; n != 1.0 {
				a.Errorf("the summary is %v", sum)
			}
		},
		"it charges nothing": func(a *account) {
			later(time.Second)
			for range 30 {
				if r := a.burst("GET", "/control/state", ""); r.status != http.StatusOK || r.header["RateLimit"] != nil {
					a.Fatalf("status %d, RateLimit %v", r.status, r.header["RateLimit"])
				}
			}
		},
	}.run(t)
}

func TestNoAnswerHoldsAKey(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for _, path := range []string{"/control/state", "/api/v1/shipments", "/nothing"} {
			r := a.call("GET", path, "")
			all, err := json.Marshal(r.header)
			if err != nil {
				a.Fatal(err)
			}
			if text := string(all) + string(r.body); strings.Contains(text, testKey) || strings.Contains(text, testSecret) {
				a.Errorf("%s answers with a secret", path)
			}
		}
	})
}
