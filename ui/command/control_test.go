package command

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// control sends a request to a stand-in.
func (s *simulated) control(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	t.Setenv("TILLWATCH_API_URL", s.Listen)
	if s.APIKey != "" { // else it took that of the environment
		t.Setenv("TILLWATCH_API_KEY", s.APIKey)
	}
	out := &utterances{}
	code = run(t.Context(), append([]string{"api"}, args...), strings.NewReader(""), out, out)
	return code, out.String()
}

// made makes an intent and returns its id.
func (s *simulated) made(t *testing.T) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Listen+"/control/intents", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var in struct{ ID string }
	if err := json.NewDecoder(answer.Body).Decode(&in); err != nil || in.ID == "" {
		t.Fatalf("no intent: %d, %v", answer.StatusCode, err)
	}
	return in.ID
}

func TestAStandInIsControlledByRequests(t *testing.T) {
	isolate(t)
	s := startSimulateCommand(t, "--history", "6", "--seed", "3", "--webhook-url", "http://127.0.0.1:1/hooks")
	waiting := "/control/intents/" + s.made(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"GET /control/state", exitDone, `"retrieving_offer":1`},
		{"POST /control/webhook-endpoints url=http://127.0.0.1:1/more history=true", exitDone, "http://127.0.0.1:1/more"},
		{"POST /control/webhook-endpoints url=nowhere", exitFailed, "body.url: the webhook URL must be absolute"},
		{"DELETE /control/webhook-endpoints/we_none", exitFailed, "There is no such webhook endpoint"},
		{"GET /control/deliveries limit=0", exitFailed, "limit: must be a whole number from 1 to 1000"},
		{"POST /control/deliveries/dlv_none/again", exitFailed, "There is no such delivery"},
		{"POST /control/event-faults do=late type=shipment.* lateBy=30 count=2", exitDone, `"count":2`},
		{"POST /control/event-faults do=eat", exitFailed, "body.do: must be lose, double, late or reorder"},
		{"DELETE /control/event-faults", exitDone, "[]"},
		{"POST /control/failures path=/api/v1/shipments method=GET status=503 count=2", exitDone, `"status":503`},
		{"GET /control/failures", exitDone, "/api/v1/shipments"},
		{"POST /control/failures/end", exitDone, ""},
		{"GET /control/failures", exitDone, "[]"},
		{"POST /control/events type=product.updated productUrl=" + chiliCrisp + " price=1290 availability=out_of_stock", exitDone, `"amountSubunits":1290`},
		{"GET /control/products", exitDone, `"availability":"out_of_stock"`},
		{"PUT /control/clock stopped=true", exitDone, `"stopped":true`},
		{"POST " + waiting + "/advance", exitDone, "awaiting_confirmation"},
		{"POST " + waiting + "/advance to=completed", exitDone, "orderId"},
		{"POST " + waiting + "/fail failure=payment_failed", exitFailed, "Checkout intent has ended"},
		{"PUT /control/clock forward=86400", exitDone, `"stopped":true`},
		{"PUT /control/clock to=2001-01-01T00:00:00Z", exitFailed, "the clock never goes back"},
		{"PUT /control/buckets/reads remaining=0", exitDone, `"remaining":0`},
		{"PUT /control/buckets/tea limit=5", exitFailed, "There is no such bucket"},
		{"PUT /control/balance amountSubunits=10000", exitDone, "10000"},
		{"PUT /control/balance amountSubunits=null", exitDone, "null"},
	} {
		if code, said := s.control(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", c.args, code, c.code, c.says, said)
		}
	}
}

// A 0 means the same to both: nothing passes.
func TestALimitMeansTheSameToSimulateAndToItsControl(t *testing.T) {
	isolate(t)
	for _, c := range []struct{ limits, reads, mutations string }{
		{"reads=0,mutations=none", "0 0", "-1 -1"},
		{"reads=2", "2 2", "5 5"},
		{"none", "-1 -1", "-1 -1"},
	} {
		s := startSimulateCommand(t, "--history", "0", "--limits", c.limits)
		begun := s.limits(t)
		for bucket, want := range map[string]string{"reads": c.reads, "mutations": c.mutations} {
			limit, _, _ := strings.Cut(want, " ")
			if code, said := s.control(t, "PUT", "/control/buckets/"+bucket, "limit="+limit); code != exitDone {
				t.Errorf("%s is refused: %s", limit, said)
			}
			if begun[bucket] != want || s.limits(t)[bucket] != want {
				t.Errorf("--limits %s: %s is %q, and once set %q, want %q", c.limits, bucket, begun[bucket], s.limits(t)[bucket], want)
			}
		}
	}
}

// limits returns each bucket's limit and what is left of it.
func (s *simulated) limits(t *testing.T) map[string]string {
	t.Helper()
	_, state := s.control(t, "GET", "/control/state")
	all := map[string]string{}
	for _, b := range gjson.Get(state, "buckets").Array() {
		all[b.Get("name").String()] = b.Get("limit").Raw + " " + b.Get("remaining").Raw
	}
	return all
}

func TestTheServiceIsNotControlled(t *testing.T) {
	g := recordRequests(t, answers("{}"))
	for _, args := range []string{"GET /control/state", "PUT /control/clock stopped=true", "POST /control/intents --allow-confirm"} {
		mustExit(t, exitUsage, "this is not a stand-in", append([]string{"api"}, strings.Fields(args)...)...)
	}
	if len(g.sent()) > 0 || len(g.written()) > 0 {
		t.Errorf("the service was sent %q, with the account's key %q", g.written(), g.sent())
	}
}

func TestAStandInStartsFromASnapshot(t *testing.T) {
	dir := isolate(t)
	file := filepath.Join(dir, "day.json")
	s := startSimulateCommand(t, "--history", "6", "--seed", "3")
	id := s.made(t)
	_, taken := s.control(t, "GET", "/control/snapshot", "--reveal")
	writeFile(t, file, taken)
	other := startSimulateCommand(t, "--from", file, "--clock", "2026-03-01T12:00:00Z", "--stopped", "--balance", "0.00USD")
	if other.Seed != 3 {
		t.Errorf("it goes on with the seed %d, want that of the snapshot", other.Seed)
	}
	for _, c := range []struct{ args, says string }{
		{"GET /control/clock", `"now":"2026-03-01T12:00:00.000Z","stopped":true`}, {"GET /control/balance", `"amountSubunits":0`},
		{"POST /control/intents/" + id + "/advance", "awaiting_confirmation"}, {"GET /control/snapshot --reveal", `"id":"` + id + `"`},
	} {
		if code, said := other.control(t, strings.Fields(c.args)...); code != exitDone || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d, want %q: %.300s", c.args, code, c.says, said)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"--from " + file + ".gone", "--from: open"}, {"--clock noon", `--clock is "noon"`}, {"--clock 0001-01-01T00:00:00Z", "must be a time"}, {"--balance much", "--balance: amount"}, {"--from /dev/zero", "--from: larger than 268435456 bytes"}, {"--from -", "the snapshot cannot be read"},
		{"--retries 7", "--retries is 7; it must be from 0 to 6"}, {"--speed 0.0001", "speed is 0.0001"}, {"--clock 0001-02-01T00:00:00Z", "within 100 years of now"}, {"--latency -5s", "the duration latency is -5s; it must be from 0"},
		{"--from control_test.go", "the snapshot cannot be read"},
	} {
		out := &utterances{}
		args := append([]string{"simulate", "--listen", "127.0.0.1:0"}, strings.Fields(c.args)...)
		if code := run(t.Context(), args, strings.NewReader(""), out, out); code != exitUsage || !strings.Contains(out.String(), c.says) {
			t.Errorf("simulate %s: exit code %d, want %q: %s", c.args, code, c.says, out)
		}
	}
}

// TestTheExamplesOfOtherLanguagesStartTheStandInAsItIs holds the examples to the
// program: the Go one is a test of the simulator, and the others' flags and the
// variable of their key exist.
func TestTheExamplesOfOtherLanguagesStartTheStandInAsItIs(t *testing.T) {
	workbench, err := os.ReadFile("WORKBENCH.md")
	if err != nil {
		t.Fatal(err)
	}
	example := func(language string) string {
		_, section, _ := strings.Cut(string(workbench), "## Control the stand-in")
		_, rest, _ := strings.Cut(section, "```"+language+"\n")
		code, _, found := strings.Cut(rest, "```")
		if !found || code == "" {
			t.Errorf("there is no example in %s", language)
		}
		return code
	}
	tested, err := os.ReadFile(filepath.Join("..", "..", "api", "simulator", "start_test.go"))
	if err != nil || !strings.Contains(string(tested), example("go")) {
		t.Errorf("the example in Go is no test of the simulator (%v)", err)
	}
	for _, language := range []string{"js", "python"} {
		_, rest, _ := strings.Cut(example(language), `"simulate", `)
		listed, _, _ := strings.Cut(rest, "]")
		var args []string
		if err := json.Unmarshal([]byte("["+listed+"]"), &args); err != nil || len(args) == 0 {
			t.Fatalf("the arguments in %s are %s: %v", language, listed, err)
		}
		s := startSimulateCommand(t, args...)
		code, said := s.control(t, "GET", "/control/state")
		if code != exitDone || gjson.Get(said, "events").Int() != 0 || s.Seed != 7 || !strings.Contains(example(language), "TILLWATCH_API_KEY") {
			t.Errorf("started as in %s: %d %s", language, code, said)
		}
	}
}
