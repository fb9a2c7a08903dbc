package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// simulated is the stand-in of the service on loopback.
func simulated(t *testing.T) (url string) {
	t.Helper()
	sim, err := simulator.New(simulator.Config{
		Key: api.NewSecret("key-of-the-shop"), Seed: 3, History: -1, Timings: simulator.Timings{Offer: 20 * time.Millisecond, Placing: time.Hour, Spread: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- sim.Run(ctx) }()
	go func() { ended <- sim.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return "http://" + ln.Addr().String()
}

const order = `{"productUrl":"https://spice-lab.example/products/chili-crisp","quantity":1,"referenceId":"order-7","buyer":{"firstName":"Mara","lastName":"Quill",` +
	`"email":"mara@example.com","phone":"+12125550123","address1":"1 Alder Ln","city":"New York","province":"NY","postalCode":"10001","country":"US"},"paymentMethod":{"type":"drawdown"}}`

// The programs create an intent at the base URL that they are given, read it until
// its offer is there, confirm it, and print its id.
const (
	inPython = `
import http.client, json, sys, time
host, order = sys.argv[1].removeprefix("http://"), sys.argv[2]
service = http.client.HTTPConnection(host, timeout=10)
def call(method, path, body=None):
    service.request(method, "/api/v1/checkout-intents" + path, body, {"Authorization": "Bearer key-of-the-shop", "Content-Type": "application/json", "User-Agent": "a-program/1"})
    answer = service.getresponse()
    read = json.loads(answer.read())
    assert answer.status in (200, 201) and answer.getheader("RateLimit"), (answer.status, read)
    return read
intent = call("POST", "", order)
while intent["state"] == "retrieving_offer":
    time.sleep(0.1)
    intent = call("GET", "/" + intent["id"])
assert intent["state"] == "awaiting_confirmation", intent
intent = call("POST", "/" + intent["id"] + "/confirm", "{}")
assert intent["state"] == "placing_order", intent
print(intent["id"], end="")`
	inNode = `
const [base, order] = process.argv.slice(1)
async function call(method, path, body) {
  const headers = {"Authorization": "Bearer key-of-the-shop", "Content-Type": "application/json", "User-Agent": "a-program/1"}
  const answer = await fetch(base + "/api/v1/checkout-intents" + path, {method, body, headers})
  const read = await answer.json()
  if (!answer.ok || !answer.headers.get("RateLimit")) throw new Error(answer.status + JSON.stringify(read))
  return read
}
(async () => {
  let intent = await call("POST", "", order)
  while (intent.state === "retrieving_offer") {
    await new Promise(go => setTimeout(go, 100))
    intent = await call("GET", "/" + intent.id)
  }
  if (intent.state !== "awaiting_confirmation") throw new Error(intent.state)
  intent = await call("POST", "/" + intent.id + "/confirm", "{}")
  if (intent.state !== "placing_order") throw new Error(intent.state)
  process.stdout.write(intent.id)
})()`
)

// inGo is the same program.
func inGo(t *testing.T, base string) (id string) {
	client := caller(t)
	var intent struct{ ID, State string }
	call := func(method, path, body string) {
		r := newRequest(t, method, base+"/api/v1/checkout-intents"+path, body)
		r.Header.Set("Authorization", "Bearer key-of-the-shop")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "a-program/1")
		answer, read := fetch(t, client, r)
		if err := json.Unmarshal([]byte(read), &intent); err != nil || answer.StatusCode/100 != 2 || answer.Header.Get("RateLimit") == "" {
			t.Fatalf("%d %s, %v", answer.StatusCode, read, err)
		}
	}
	call(http.MethodPost, "", order)
	for intent.State == "retrieving_offer" {
		<-time.After(100 * time.Millisecond) // another process moves it
		call(http.MethodGet, "/"+intent.ID, "")
	}
	if call(http.MethodPost, "/"+intent.ID+"/confirm", "{}"); intent.State != "placing_order" {
		t.Errorf("it is %s", intent.State)
	}
	return intent.ID
}

func TestProgramsOfAnyLanguageOrderThroughTheProxy(t *testing.T) {
	running := func(program string, args ...string) func(*testing.T, string) string {
		return func(t *testing.T, base string) string {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed", program)
			}
			command := exec.CommandContext(t.Context(), program, append(args, base, order)...)
			var words strings.Builder
			command.Stderr = &words
			id, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, &words)
			}
			return string(id)
		}
	}
	for language, run := range map[string]func(*testing.T, string) string{
		"Go": inGo, "Python": running("python3", "-c", inPython), "JavaScript": running("node", "-e", inNode),
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			p := stand(t, simulated(t), nil)
			id := run(t, p.url)
			if err := p.end(); err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, o := range p.reported.all() {
				if o.Spender != "a-program/1" || o.IntentID != id || o.Reference != "order-7" || len(o.Reports) == 0 {
					t.Errorf("observed %+v of %s", o, id)
				}
				if line := fmt.Sprint(o.Method, " ", o.Endpoint, " ", o.Status, " ", o.State); len(told) == 0 || told[len(told)-1] != line {
					told = append(told, line)
				}
			}
			const path = "/api/v1/checkout-intents"
			first, last := "POST "+path+" 201 retrieving_offer", "POST "+path+"/{id}/confirm 200 placing_order"
			if len(told) < 3 || told[0] != first || told[len(told)-1] != last || told[len(told)-2] != "GET "+path+"/{id} 200 awaiting_confirmation" {
				t.Errorf("observed %q", told)
			}
		})
	}
}
