package simulator

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
		"no key":              {func(c *Config) { c.Key = api.Secret{} }, "API key"},
		"no secret":           {func(c *Config) { c.SigningSecret = api.Secret{} }, "signing secret"},
		"a relative webhook":  {func(c *Config) { c.WebhookURL = "/hooks" }, "absolute"},
		"another scheme":      {func(c *Config) { c.WebhookURL = "ftp://a.example/" }, "http://"},
		"a share above 1":     {func(c *Config) { c.Faults.Lose = 1.5 }, "lose share"},
		"a negative share":    {func(c *Config) { c.Faults.Errors = -0.1 }, "errors share"},
		"a negative speed":    {func(c *Config) { c.Speed = -1 }, "speed"},
		"a negative rate":     {func(c *Config) { c.IntentsPerMinute = -1 }, "intents per minute"},
		"a negative duration": {func(c *Config) { c.Timings.Offer = -1 }, "duration"},
		"a header prefix":     {func(c *Config) { c.HeaderPrefix = "x svc" }, "header prefix"},
		"a relative lookup":   {func(c *Config) { c.LookupPath = "lookup" }, "slash"},
		"a lookup pattern":    {func(c *Config) { c.LookupPath = "/{id}" }, "plain path"},
		"a lookup elsewhere":  {func(c *Config) { c.LookupPath = "/api/v1/shipments" }, "taken"},
		"a lookup of all":     {func(c *Config) { c.LookupPath = "/" }, "plain path"},
		"an unclean lookup":   {func(c *Config) { c.LookupPath = "/a/../b" }, "plain path"},
		"a huge history":      {func(c *Config) { c.History = 1 << 30 }, "history"},
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
				sum := s.summary()
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
			n = s.summary().Buckets[3].Remaining
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
		for _, in := range s.fulfilment.order.items {
			all.Write(encode(in.intentWire))
			all.WriteByte('\n')
		}
		for _, sh := range s.fulfilment.shipments.items {
			all.Write(encode(sh.shipmentWire))
			all.WriteByte('\n')
		}
		got := r.got() // in any order: several are delivered at the same time
		slices.SortFunc(got, func(a, b attempt) int { return bytes.Compare(a.body, b.body) })
		for _, d := range got {
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
		for _, in := range a.sim.fulfilment.order.items {
			products[in.ProductURL] = true
			if in.FailureReason != nil {
				codes[in.FailureReason.Code] = true
			}
			if in.Offer != nil {
				c := in.Offer.Cost
				sum := c.Subtotal.AmountSubunits + c.Shipping.AmountSubunits + c.Tax.AmountSubunits
				if sum != c.Total.AmountSubunits || sum < 400 {
					t.Fatalf("the offer of %s does not add up: %+v", in.ProductURL, c)
				}
			}
			if (in.State == api.Completed) != (in.OrderID != "") {
				t.Fatalf("%s with order id %q", in.State, in.OrderID)
			}
		}
		statuses := map[api.ShipmentStatus]int{}
		for _, sh := range a.sim.fulfilment.shipments.items {
			statuses[sh.Status]++
			if sh.Tracking != nil {
				carriers[sh.Tracking.CarrierName] = true
			}
		}
		states, n := a.sim.fulfilment.states, len(a.sim.fulfilment.order.items)
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
