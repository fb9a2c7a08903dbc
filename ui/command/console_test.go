package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// console runs tillwatch console against a stand-in.
func (s *simulated) console(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	t.Setenv("TILLWATCH_API_URL", s.Listen)
	if s.APIKey != "" { // else it took that of the environment
		t.Setenv("TILLWATCH_API_KEY", s.APIKey)
	}
	out := &utterances{}
	code = run(t.Context(), append([]string{"console"}, args...), strings.NewReader(""), out, out)
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

func TestEachCommandOfTheConsole(t *testing.T) {
	isolate(t)
	s := startSimulateCommand(t, "--history", "6", "--seed", "3", "--webhook-url", "http://127.0.0.1:1/hooks")
	waiting := s.made(t)
	const mug = "https://spice-lab.example/products/chili-crisp"
	for _, c := range []struct {
		args string
		code int
		says []string
	}{
		{"", 0, []string{"retrieving_offer 1", "checkout-intents", "http://127.0.0.1:1/hooks"}},
		{"endpoints", 0, []string{"http://127.0.0.1:1/hooks", "false"}},
		{"endpoints add http://127.0.0.1:1/more --history", 0, []string{"http://127.0.0.1:1/more"}},
		{"endpoints add nowhere", 1, []string{"body.url: the webhook URL must be absolute"}},
		{"endpoints remove ..", exitUsage, []string{`".." is not the id of an endpoint`}},
		{"deliver .", exitUsage, []string{`"." is not the id of a delivery or of an event`}},
		{"advance ..", exitUsage, []string{`".." is not the id of an intent or of a shipment`}},
		{"endpoints remove we_none", 1, []string{"There is no such webhook endpoint"}},
		{"deliveries --limit 0", 1, []string{"limit: must be a whole number from 1 to 1000"}},
		{"deliveries --event evt_none --endpoint we_none", 0, []string{"none\n"}},
		{"deliver evt_none", 1, []string{"There is no such delivery"}},
		{"fault", 0, []string{"none\n"}},
		{"fault late --type shipment.* --late-by 30s --count 2", 0, []string{"late  shipment.*  30      2"}},
		{"fault --forget", 0, []string{"none\n"}},
		{"fault eat", 1, []string{"body.do: must be lose, double, late or reorder"}},
		{"fault --type shipment.*", 2, []string{"which fault?"}},
		{"fault --late-by 30s", 2, []string{"which fault?"}},
		{"fault lose --count 0", 1, []string{"body.count: must be at least 1"}},
		{"fault", 0, []string{"none\n"}},
		{"failures", 0, []string{"none\n"}},
		{"failures add --path /api/v1/shipments --method GET --status 503 --count 2", 0, []string{"2      /api/v1/shipments  GET     503"}},
		{"failures add --drop --after --late-by 1s", 0, []string{"true"}},
		{"failures add --count 0", 1, []string{"count at least 1"}},
		{"failures list", 0, []string{"2      /api/v1/shipments  GET     503", "\n1 "}},
		{"failures end", 0, []string{"none\n"}},
		{"failures", 0, []string{"none\n"}},
		{"product " + mug + " --price 12.90USD --stock out_of_stock", 0, []string{"product.updated", "12.90 USD", "out_of_stock"}},
		{"product " + mug + " --price 12.90EUR", 2, []string{"--price is 12.90 EUR; the stand-in deals in dollars"}},
		{"product " + mug + " --remove", 0, []string{"product.removed"}},
		{"products", 0, []string{mug + " ", "true"}},
		{"clock stop", 0, []string{"true"}},
		{"advance " + waiting, 0, []string{waiting, "awaiting_confirmation"}},
		{"advance " + waiting + " --to completed", 0, []string{"completed", "orderId"}},
		{"advance " + waiting + " --fail payment_failed", 1, []string{"Checkout intent has ended"}},
		{"advance " + waiting + " --to completed --expire", 2, []string{"exclude each other"}},
		{"advance ci_none", 1, []string{"no intent with the id ci_none, and no shipment"}},
		{"clock forward 24h", 0, []string{"true"}},
		{"clock start", 0, []string{"false"}},
		{"clock", 0, []string{"false"}},
		{"clock to 2001-01-01T00:00:00Z", 1, []string{"the clock never goes back"}},
		{"clock to noon", 2, []string{`"noon" is not a time`}},
		{"clock forward -- -3m", 2, []string{`"-3m" is not a positive duration`}},
		{"clock forward soon", 2, []string{`"soon" is not a positive duration`}},
		{"clock forward 1d", 0, []string{"false"}},
		{"clock forward 5w", 1, []string{"from 0 to 2678400 seconds, 31 days"}},
		{"endpoints list", 0, []string{"http://127.0.0.1:1/hooks"}},
		{"limit", 2, []string{"give a bucket, and its limit or --left"}},
		{"limit reads 5 6", 2, []string{"give a bucket, and its limit or --left"}},
		{"balance none none", 2, []string{"give an amount such as 100.00USD, or none, and nothing else"}},
		{"limit checkout-intents 500", 0, []string{"checkout-intents   500"}},
		{"limit reads --left 0", 0, []string{"reads              10     0"}},
		{"limit mutations none", 0, []string{"mutations          none              "}},
		{"", 0, []string{"mutations          none              ", "reads              10     0          "}},
		{"limit tea 5", 1, []string{"There is no such bucket"}},
		{"limit reads", 2, []string{"give a new limit, or --left"}},
		{"limit reads many", 2, []string{"it is a whole number, or none"}},
		{"balance", 0, []string{"never runs out"}},
		{"balance 100.00USD", 0, []string{"100.00 USD left for drawdown"}},
		{"balance none", 0, []string{"never runs out"}},
		{"balance much", 2, []string{"the balance: amount"}},
	} {
		code, said := s.console(t, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("console %s: exit code %d, want %d:\n%s", c.args, code, c.code, said)
		}
		for _, word := range c.says {
			if !strings.Contains(said, word) {
				t.Errorf("console %s does not say %q:\n%s", c.args, word, said)
			}
		}
	}
	_, state := s.console(t, "--json")
	if n := gjson.Get(state, "shipments.delivered").Int(); n < 2 {
		t.Errorf("a day later %d parcels are delivered: %s", n, state)
	}
	code, said := s.console(t, "advance", s.made(t), "--json")
	if code != exitDone || gjson.Get(said, "state").String() != "awaiting_confirmation" || gjson.Get(said, "buyer.email").String() != "[masked]" {
		t.Errorf("as JSON: %d %s", code, said)
	}
}

// A 0 means the same to both: nothing passes.
func TestALimitMeansTheSameToSimulateAndToItsConsole(t *testing.T) {
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
			if limit == "-1" {
				limit = "none"
			}
			if code, said := s.console(t, "limit", bucket, limit); code != exitDone {
				t.Errorf("the console refuses %s: %s", limit, said)
			}
			if begun[bucket] != want || s.limits(t)[bucket] != want {
				t.Errorf("--limits %s: %s is %q, and in the console %q, want %q", c.limits, bucket, begun[bucket], s.limits(t)[bucket], want)
			}
		}
	}
}

// limits returns each bucket's limit and what is left of it.
func (s *simulated) limits(t *testing.T) map[string]string {
	t.Helper()
	_, state := s.console(t, "--json")
	all := map[string]string{}
	for _, b := range gjson.Get(state, "buckets").Array() {
		all[b.Get("name").String()] = b.Get("limit").Raw + " " + b.Get("remaining").Raw
	}
	return all
}

func TestTheConsoleLeavesTheServiceAlone(t *testing.T) {
	isolate(t)
	asked := []string{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusOK)
	}))
	defer service.Close()
	s := &simulated{ready: ready{Listen: service.URL, APIKey: "a-key-of-the-account"}}
	for _, args := range [][]string{{}, {"clock", "stop"}, {"advance", "ci_1"}, {"deliver", "evt_1"}} {
		if code, said := s.console(t, args...); code != exitUsage || !strings.Contains(said, "this is not a stand-in") {
			t.Errorf("console %v: exit code %d: %s", args, code, said)
		}
	}
	if len(asked) == 0 || slices.Contains(asked, "Bearer a-key-of-the-account") {
		t.Errorf("the service was shown %q", asked)
	}
}

func TestASnapshotIsWrittenAndStartedFrom(t *testing.T) {
	dir := isolate(t)
	file := filepath.Join(dir, "day.json")
	s := startSimulateCommand(t, "--history", "6", "--seed", "3")
	id := s.made(t)
	if code, said := s.console(t, "snapshot", file); code != exitDone || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	other := startSimulateCommand(t, "--from", file, "--clock", "2026-03-01T12:00:00Z", "--stopped", "--balance", "0.00USD")
	if other.Seed != 3 {
		t.Errorf("it goes on with the seed %d, want that of the snapshot", other.Seed)
	}
	for _, c := range []struct{ args, says string }{
		{"clock", "2026-03-01T12:00:00.000Z  true"}, {"balance", "0.00 USD left"}, {"advance " + id, "awaiting_confirmation"}, {"snapshot -", `"id":"` + id + `"`},
	} {
		if code, said := other.console(t, strings.Fields(c.args)...); code != exitDone || !strings.Contains(said, c.says) {
			t.Errorf("console %s: exit code %d, want %q: %.300s", c.args, code, c.says, said)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"--from " + file + ".gone", "--from: open"}, {"--clock noon", `--clock is "noon"`}, {"--clock 0001-01-01T00:00:00Z", "must be a time"}, {"--balance much", "--balance: amount"}, {"--from /dev/zero", "--from: larger than 268435456 bytes"}, {"--from -", "the snapshot cannot be read"},
		{"--retries 7", "--retries is 7; it must be from 0 to 6"}, {"--speed 0.0001", "speed is 0.0001"}, {"--clock 0001-02-01T00:00:00Z", "within 100 years of now"}, {"--latency -5s", "the duration latency is -5s; it must be from 0"},
		{"--from console_test.go", "the snapshot cannot be read"},
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
		_, section, _ := strings.Cut(string(workbench), "## The stand-in's console")
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
		code, said := s.console(t, "--json")
		if code != exitDone || gjson.Get(said, "events").Int() != 0 || s.Seed != 7 || !strings.Contains(example(language), "TILLWATCH_API_KEY") {
			t.Errorf("started as in %s: %d %s", language, code, said)
		}
	}
}
