package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

func TestCheckout(t *testing.T) {
	service := simulator.Start(t) // ends with the test
	service.CreateIntent(simulator.Order{ReferenceID: "order-7", State: api.AwaitingConfirmation})
	shop := NewShop(service.URL, service.Key) // your own code
	if state := shop.Confirm("order-7"); state != "placing_order" {
		t.Errorf("the order is %s", state)
	}
}

// ask makes a request of a stand-in and decodes the answer.
func ask(t *testing.T, s *simulator.Started, method, path, body string) (status int, answer map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func TestStartRunsAStandInUntilTheTestEnds(t *testing.T) {
	var ids []any
	var url string
	for range 2 {
		t.Run("a test", func(t *testing.T) {
			service := simulator.Start(t)
			url = service.URL
			status, in := ask(t, service, "POST", "/control/intents", `{"productUrl":"https://spice-lab.example/products/chili-crisp"}`)
			if status != http.StatusCreated {
				t.Fatalf("status %d: %v", status, in)
			}
			ask(t, service, "PUT", "/control/clock", `{"forward":60}`)
			status, in = ask(t, service, "GET", "/api/v1/checkout-intents/"+in["id"].(string), "")
			if status != http.StatusOK || in["state"] != "awaiting_confirmation" {
				t.Errorf("after a minute: %d %v", status, in)
			}
			ids = append(ids, in["id"])
		})
	}
	if ids[0] != ids[1] {
		t.Errorf("the same calls made %v", ids)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still answers when its test has ended")
	}
}

// failing is a test that Start may fail.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic("fatal")
}

func TestStartFailsTheTestOfAWrongConfiguration(t *testing.T) {
	f := &failing{}
	defer func() {
		if recover() == nil || !strings.Contains(f.said, "starting a stand-in: simulator: duplicate share is 2") {
			t.Errorf("said %q", f.said)
		}
	}()
	simulator.Start(f, func(c *simulator.Config) { c.Faults.Duplicate = 2 })
}

// Shop stands for the code that somebody tests.
type Shop struct{ url, key string }

func NewShop(url, key string) *Shop { return &Shop{url, key} }

// Confirm finds the intent of a reference in the control API, and confirms it.
func (s *Shop) Confirm(reference string) string {
	call := func(method, path, body string) (answer map[string]any) {
		request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
		if err != nil {
			return nil
		}
		request.Header.Set("Authorization", "Bearer "+s.key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&answer) // what cannot be read has no state
		return answer
	}
	for _, kept := range call("GET", "/control/snapshot", "")["intents"].([]any) {
		if in := kept.(map[string]any)["intent"].(map[string]any); in["referenceId"] == reference {
			state, _ := call("POST", "/api/v1/checkout-intents/"+in["id"].(string)+"/confirm", `{"paymentMethod":{"type":"drawdown"}}`)["state"].(string)
			return state
		}
	}
	return "unknown"
}
