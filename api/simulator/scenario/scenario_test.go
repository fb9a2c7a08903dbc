package scenario_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/api/simulator/scenario"
)

// inBubble plays scenarios against a stand-in in a bubble of time.
func inBubble(t *testing.T, test func(t *testing.T, service *simulator.Simulator, client *api.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service, err := simulator.New(simulator.Config{Key: api.NewSecret("key-of-the-test"), Seed: 7, History: -1})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- service.Run(t.Context()) }()
		t.Cleanup(func() {
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		test(t, service, clientOf(t, service.Handler()))
	})
}

func clientOf(t *testing.T, handler http.Handler) *api.Client {
	t.Helper()
	client, err := api.New(api.Config{BaseURL: "http://127.0.0.1:7420", Key: api.NewSecret("key-of-the-test"), Transport: simulator.RoundTripper{Handler: handler}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// order begins a scenario with an intent.
const order = "[[step]]\ncreate = \"order\"\n"

func TestAScenarioIsPlayedStepByStep(t *testing.T) {
	cases := []struct {
		name, file string
		wrong      string // in the error; "": none
	}{
		{"a parcel is delivered", order + `
[[step]]
trigger = "shipment.created"
of = "order"
[[step]]
wait = "order"
event = "shipment.updated"
within = "5m"`, ""},
		{"a purchase in one step", order + `
purchase = true
[[step]]
wait = "order"
state = "completed"
event = "checkout_intent.completed"`, ""},
		{"a state that has passed was waited for", order + `
confirm_after = "1s"
[[step]]
wait = "order"
state = "placing_order"
[[step]]
wait = "order"
state = "awaiting_confirmation"`, ""},
		{"a failure now, one once it is confirmed, one on its way", order + `
[[step]]
fail = "order"
reason = "bot_protection_blocked"
[[step]]
wait = "order"
state = "failed"
reason = "bot_protection_blocked"
[[step]]
create = "second"
[[step]]
wait = "second"
state = "awaiting_confirmation"
[[step]]
fail = "second"
reason = "payment_failed"
[[step]]
confirm = "second"
[[step]]
wait = "second"
state = "failed"
reason = "payment_failed"
[[step]]
pause = "2s"
[[step]]
trigger = "product.updated"
price = 1299`, ""},
		{"what takes too long", order + "[[step]]\nwait = \"order\"\nstate = \"completed\"\nwithin = \"10s\"", "scenario:4: wait until order is completed: it is awaiting_confirmation after 10s"},
		{"what can no longer become so", order + "[[step]]\nexpire = \"order\"\n[[step]]\nwait = \"order\"\nstate = \"completed\"",
			"it can no longer be: the intent is failed checkout_intent_expired"},
		{"an event that can no longer happen", order + "[[step]]\nexpire = \"order\"\n[[step]]\nwait = \"order\"\nevent = \"shipment.created\"", "it can no longer happen"},
		{"another reason", order + "[[step]]\nexpire = \"order\"\n[[step]]\nwait = \"order\"\nstate = \"failed\"\nreason = \"unknown\"", "not for the reason unknown"},
		{"another number of orders", order + "confirm_after = \"1s\"\n[[step]]\nwait = \"order\"\nstate = \"completed\"\norders = 2", "1 orders were placed for it, not 2"},
		{"a confirm before the offer", order + "[[step]]\nconfirm = \"order\"", "404"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, _ *simulator.Simulator, client *api.Client) {
				err := scenario.Run(t.Context(), strings.NewReader(c.file), client)
				if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("it ended with %v, want %q", err, c.wrong)
				}
			})
		})
	}
}

func TestAScenarioThatCannotBePlayedNamesItsLineAndWhatToDo(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"nothing", "", "shop.toml:1: write each step as a table of its own, below a line [[step]]"},
		{"inline steps", `step = [{create = "order"}]`, "shop.toml:1: write each step as"},
		{"a byte order mark before what is wrong", "\xef\xbb\xbf" + order + "\nby = \"1s\"", "shop.toml:4: by does not go with create"},
		{"no TOML", order + "what is this", "shop.toml:3: "},
		{"a wrong key", order + "\n[[step]]\nwiat = \"order\"", `shop.toml:5: there is no "wiat"; a step does one of confirm, create, `},
		{"a wrong kind", order + "quantity = \"two\"", "shop.toml:3: the value is of the wrong kind: texts and times stand in quotes"},
		{"a seed below 0", "seed = -1\n" + order, "shop.toml:1: the number is out of range; a seed is 0 or more"},
		{"a name that is empty", "[[step]]\ncreate = \"\"", "shop.toml:2: create is empty: give it a name or the type of an event"},
		{"an event that is empty", "[[step]]\nlose = \"\"", "shop.toml:2: lose is empty"},
		{"a fault of no event", "[[step]]\nlose = \"shipment.*\"\ncount = 0", "shop.toml:3: count is 0; it must be 1 or more"},
		{"none of a product", order + "quantity = 0", "shop.toml:3: quantity is 0; it must be 1 or more"},
		{"a confirm too often", order + "[[step]]\nconfirm = \"order\"\ntimes = 21", "shop.toml:4: times is 21; it must be at most 20"},
		{"a time without a unit", order + "offer_after = \"5\"", `shop.toml:3: "5" is not a time: write one with its unit`},
		{"an empty step", order + "[[step]]", "shop.toml:1: step 2 is empty"},
		{"two things at once", order + "wait = \"order\"", "shop.toml:3: a step does one thing: put create and wait into steps of their own"},
		{"an option of another", order + "\nby = \"1s\"", "shop.toml:4: by does not go with create; with it go product, "},
		{"a name of two intents", order + order, `shop.toml:4: a step before this one creates "order", too`},
		{"an option alone", "[[step]]\nby = \"1s\"", "shop.toml:2: the step does nothing: name one of"},
		{"a name that nothing creates", order + "[[step]]\nconfirm = \"ordr\"", `shop.toml:4: no step before this one creates "ordr"`},
		{"a state that is none", order + "[[step]]\nwait = \"order\"\nstate = \"done\"", `shop.toml:4: "done" is not a state; they are retrieving_offer, awaiting_confirmation, placing_order, completed and failed`},
		{"an event that is none", order + "[[step]]\nlose = \"checkout.*\"", `shop.toml:4: "checkout.*" is not a type of event`},
		{"a reason that is none", order + "[[step]]\nfail = \"order\"\nreason = \"bad_luck\"", `shop.toml:4: "bad_luck" is not a reason of the service`},
		{"a list with a reason that is none", "reasons = [\"bad_luck\"]\n" + order, `shop.toml:1: "bad_luck" is not a reason of the service; they are bot_protection_blocked, captcha_blocked, `},
		{"a reason without reasons", order + "reason = \"{reason}\"", "shop.toml:2: {reason} stands for one of the reasons"},
		{"a wait for nothing", order + "[[step]]\nwait = \"order\"", "shop.toml:4: say what to wait for"},
		{"a delay of no time", order + "[[step]]\ndelay = \"shipment.*\"", "shop.toml:4: say how late"},
		{"too large", strings.Repeat("#", 1<<20) + "\n", "larger than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := scenario.Read("shop.toml", strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestAScenarioIsTheSameByItsSeed(t *testing.T) {
	products := map[string]int{}
	inBubble(t, func(t *testing.T, _ *simulator.Simulator, client *api.Client) {
		for _, seed := range []int{1, 1, 2, 3} {
			file := fmt.Sprintf("seed = %d\n%s[[step]]\nwait = \"order\"\nstate = \"awaiting_confirmation\"", seed, order)
			s, err := scenario.Read("shop.toml", strings.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := s.Play(t.Context(), client, func(d scenario.Done) {
				if d.Step == "create order" {
					in, err := client.Intent(t.Context(), d.Intent)
					if err != nil {
						t.Fatal(err)
					}
					products[fmt.Sprintf("%s %v", in.ProductURL, in.Buyer)]++
				}
			}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began).Round(time.Second); took != 8*time.Second {
				t.Errorf("the offer took %s", took)
			}
		}
	})
	if len(products) != 3 {
		t.Errorf("of seeds 1, 1, 2 and 3 came %v", products)
	}
}

func TestAScenarioIsPlayedAgainstAStandInAlone(t *testing.T) {
	asked := 0
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		io.WriteString(w, `{}`)
	})
	err := scenario.Run(t.Context(), strings.NewReader(order), clientOf(t, service))
	if !errors.Is(err, api.ErrNotStandIn) || asked != 1 {
		t.Errorf("after %d requests: %v", asked, err)
	}
}

// BenchmarkReading reads scenarios of two lengths: a step costs the same in both.
func BenchmarkReading(b *testing.B) {
	for _, orders := range []int{400, 4_000} {
		var file strings.Builder
		for n := range orders {
			fmt.Fprintf(&file, "[[step]]\ncreate = \"order%d\"\n[[step]]\nlose = \"shipment.*\"\n[[step]]\nfail = \"order%d\"\nreason = \"payment_failed\"\n", n, n)
		}
		b.Run(fmt.Sprint(3*orders, " steps"), func(b *testing.B) {
			for b.Loop() {
				if _, err := scenario.Read("many", strings.NewReader(file.String())); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*orders*b.N), "ns/step")
		})
	}
}
