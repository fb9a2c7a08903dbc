package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/simulator"
)

// till is a service on loopback whose intents are confirmed without a screen.
type till struct {
	service *simulator.Simulator
	url     string
	state   string
	config  string // the file that names it
}

func newTill(t *testing.T) *till {
	t.Helper()
	dir := t.TempDir()
	c := quiet()
	c.Key = api.NewSecret("key-of-the-test")
	c.Timings.Placing = 300 * time.Millisecond
	c.Limits, c.IgnoreIdempotencyKeys = simulator.Unlimited(), true // the contract shows no such keys
	service, err := simulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := listen("--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	owned(t, service.Run)
	owned(t, func(ctx context.Context) error { return service.Serve(ctx, listener) })
	s := &till{service: service, url: address(listener), state: dir}
	s.config = configFile(t, "api_url", s.url, "api_key", "key-of-the-test", "state_dir", dir)
	return s
}

// awaiting makes an intent that awaits confirmation, and returns its total.
func (s *till) awaiting(t *testing.T, productURL string) (id, total string) {
	t.Helper()
	id = made(t, s.service, simulator.Order{ProductURL: productURL, State: api.AwaitingConfirmation})
	client, err := api.New(api.Config{BaseURL: s.url, Key: api.NewSecret("key-of-the-test")})
	if err != nil {
		t.Fatal(err)
	}
	in, err := client.Intent(t.Context(), api.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	amount, _ := in.Total()
	return id, strings.ReplaceAll(amount.String(), " ", "")
}

// fail makes the next request go wrong.
func (s *till) fail(t *testing.T, fault string) {
	t.Helper()
	control(t, s.service, http.MethodPost, "faults", json.RawMessage(fault))
}

// fail makes the next request go wrong.
func (w *world) fail(t *testing.T, fault string) {
	t.Helper()
	control(t, w.service, http.MethodPost, "faults", json.RawMessage(fault))
}

// control makes a request to the control API of a stand-in and returns its answer.
func control(t testing.TB, of *simulator.Simulator, method, path string, body any) gjson.Result {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/control/"+path, bytes.NewReader(sent))
	r.Header.Set("Authorization", "Bearer "+testKey)
	answer := httptest.NewRecorder()
	of.Handler().ServeHTTP(answer, r)
	if answer.Code/100 != 2 {
		t.Fatalf("%s %s %s: %d %s", method, path, sent, answer.Code, answer.Body)
	}
	return gjson.ParseBytes(answer.Body.Bytes())
}

// made makes an intent in a stand-in and returns its id.
func made(t testing.TB, in *simulator.Simulator, o simulator.Order) string {
	t.Helper()
	return control(t, in, http.MethodPost, "intents", o).Get("id").String()
}

// ordersOf is how many orders a stand-in placed for an intent.
func ordersOf(t testing.TB, in *simulator.Simulator, id string) int {
	t.Helper()
	return int(control(t, in, http.MethodGet, "intents/"+id, nil).Get("orders").Int())
}

// testKey is the key of the services of these tests.
const testKey = "key-of-the-test"

const chiliCrisp = "https://spice-lab.example/products/chili-crisp"

func TestConfirmWithoutAScreen(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	const arm = " --allow-confirm"
	cases := []struct {
		name    string
		args    string // ID and TOTAL stand for those of the intent
		product string // of the intent; "" for an ordinary one
		fault   string
		url     string // of the service, where another
		code    int
		verdict string // in the JSON; "" where none is printed
		says    string
		orders  int
	}{
		{name: "done", args: "ID --total TOTAL" + arm, code: exitDone, verdict: "accepted", orders: 1},
		{name: "done, with its order", args: "ID --total TOTAL --wait 30s" + arm, code: exitDone, verdict: "accepted", orders: 1},
		{name: "done, and the order fails", args: "ID --total TOTAL --wait 30s" + arm, product: "https://shop.example/magic/payment_failed", code: exitFailed, verdict: "accepted", says: "but the order failed: payment failed", orders: 1},
		{name: "a dry run", args: "ID --total TOTAL --dry-run", code: exitDone, verdict: "dry_run"},
		{name: "a dry run of another total", args: "ID --total 1.00USD --dry-run", code: exitNotConfirmable, verdict: "changed"},
		{name: "read-only", args: "ID --total TOTAL", code: exitUsage, says: "--allow-confirm"},
		{name: "without a total", args: "ID" + arm, code: exitUsage, says: "--total 44.52USD"},
		{name: "a total with a comma", args: "ID --total 44,52USD" + arm, code: exitUsage, says: "decimal point"},
		{name: "a total without its currency", args: "ID --total 44.52" + arm, code: exitUsage, says: "currency"},
		{name: "a total with too many decimals", args: "ID --total 44.521USD" + arm, code: exitUsage, says: "2 decimals"},
		{name: "yen with decimals", args: "ID --total 4452.0JPY" + arm, code: exitUsage, says: "0 decimals"},
		{name: "another total", args: "ID --total 1.00USD" + arm, code: exitNotConfirmable, verdict: "changed", says: "not 1.00 USD"},
		{name: "another currency", args: "ID --total 4452JPY" + arm, code: exitNotConfirmable, verdict: "changed", says: "not 4452 JPY"},
		{name: "an intent that nobody knows", args: "ci_00000000000000000000000000000000 --total TOTAL" + arm, code: exitNotConfirmable, verdict: "not_confirmable", says: "no such intent"},
		{name: "no id", args: "--total TOTAL" + arm, code: exitUsage, says: "give one ID"},
		{name: "a path", args: "../../x --total TOTAL" + arm, code: exitUsage, says: `"../../x" is not an id but looks like a path`},
		{name: "two ids", args: "ID ci_2 --total TOTAL" + arm, code: exitUsage, says: "give one ID"},
		{name: "an error before it took effect is unknown until a read says otherwise", args: "ID --total TOTAL" + arm, fault: `{"status":500,"after":true,"method":"POST","path":"/api/v1/"}`, code: exitDone, verdict: "accepted", orders: 1},
		{name: "an answer that is lost after it took effect", args: "ID --total TOTAL" + arm, fault: `{"drop":true,"after":true,"method":"POST","path":"/api/v1/"}`, code: exitDone, verdict: "accepted", orders: 1},
		{name: "a request that was doubled", args: "ID --total TOTAL" + arm, fault: `{"twice":true,"method":"POST","path":"/api/v1/"}`, code: exitAlready, verdict: "overtaken", says: "doubled", orders: 1},
		{name: "real money without --live", args: "ID --total TOTAL" + arm, url: "0.0.0.0", code: exitUsage, says: "--live"},
		{name: "real money with another --live", args: "ID --total TOTAL --live zzzz" + arm, url: "0.0.0.0", code: exitUsage, says: "not how the id ends"},
		{name: "real money", args: "ID --total TOTAL --live LAST" + arm, url: "0.0.0.0", code: exitDone, verdict: "accepted", orders: 1},
		{name: "a look where money is real", args: "ID --total TOTAL --dry-run", url: "0.0.0.0", code: exitDone, verdict: "dry_run"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			product := c.product
			if product == "" {
				product = chiliCrisp
			}
			id, total := s.awaiting(t, product)
			config := s.config
			if c.url != "" {
				config = configFile(t, "api_url", strings.Replace(s.url, "127.0.0.1", c.url, 1), "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
			}
			if c.fault != "" {
				s.fail(t, c.fault)
			}
			args := strings.NewReplacer("ID", id, "TOTAL", total, "LAST", id[len(id)-4:]).Replace("confirm " + c.args + " --json")
			var out, words bytes.Buffer
			code := run(t.Context(), append(strings.Fields(args), "--config", config), strings.NewReader(""), &out, &words)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, words.String())
			}
			var r confirmReport
			if c.verdict == "" {
				if out.Len() > 0 {
					t.Errorf("printed %s", out.String())
				}
			} else if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Verdict != c.verdict || r.ExitCode != c.code || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("%v; printed %s, want one line with %q", err, out.String(), c.verdict)
			}
			if !strings.Contains(words.String(), c.says) {
				t.Errorf("said %q, want %q", words.String(), c.says)
			}
			if got := ordersOf(t, s.service, id); got != c.orders {
				t.Errorf("%d orders, want %d", got, c.orders)
			}
			if said := out.String() + words.String(); strings.Contains(said, "key-of-the-test") {
				t.Errorf("the key is in %q", said)
			}
		})
	}
}

func TestConfirmShowsWhatIsBoughtAndNothingOfTheBuyer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	var out, words bytes.Buffer
	if code := run(t.Context(), []string{"confirm", id, "--config", s.config, "--total", total, "--dry-run"}, nil, &out, &words); code != exitDone {
		t.Fatalf("exit code %d: %s", code, words.String())
	}
	for _, want := range []string{"Product", "https://spice-lab.example/", "Delivery", "std-ground, ", "Subtotal", "Total", "USD", id, "simulator, no real money", "closes at"} {
		if !strings.Contains(words.String(), want) {
			t.Errorf("%q is not in\n%s", want, words.String())
		}
	}
	if !strings.Contains(out.String(), "nothing was sent") {
		t.Errorf("stdout says %q", out.String())
	}
	if _, err := os.Stat(filepath.Join(s.state, "confirms.jsonl")); err == nil {
		t.Error("a dry run opens the audit log")
	}
}

func TestConfirmNamesThePaymentThatIsSent(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	var out, words bytes.Buffer
	config := configFile(t, "api_url", s.url, "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true", "confirm_body", `{"paymentMethod":{"type":"vault_token","vaultToken":"tok_live"}}`)
	run(t.Context(), []string{"confirm", id, "--config", config, "--total", total, "--dry-run"}, nil, &out, &words)
	if said := words.String(); !strings.Contains(said, "Payment      vault token") || strings.Contains(said, "tok_live") {
		t.Error(said)
	}
}

func TestADryRunLooksIntoTheAuditLogAndLeavesItAsItIs(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	log := filepath.Join(s.state, "confirms.jsonl")
	dryRun := func(url string) (code int, words string) {
		var out, said bytes.Buffer
		config := configFile(t, "api_url", strings.Replace(s.url, "127.0.0.1", url, 1), "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
		code = run(t.Context(), []string{"confirm", id, "--config", config, "--total", total, "--dry-run"}, nil, &out, &said)
		return code, out.String() + said.String()
	}
	sending := confirm.Line{At: time.Now(), Attempt: "a", Environment: "simulator", Intent: api.ID(id), Stage: confirm.Sending}
	accepted := confirm.Line{At: time.Now(), Attempt: "a", Environment: "production", Intent: api.ID(id), Verdict: confirm.Accepted, Detail: "accepted: placing_order"}
	for _, test := range []struct {
		name, url string
		line      confirm.Line
		code      int
		says      string
	}{
		{"an earlier confirm without a known outcome", "127.0.0.1", sending, exitUnknown, "an earlier confirm of it"},
		{"an earlier confirm that was accepted", "0.0.0.0", accepted, exitAlready, "was accepted before"},
		{"a confirm of another intent", "127.0.0.1", confirm.Line{At: time.Now(), Attempt: "a", Environment: "simulator", Intent: "ci_other", Stage: confirm.Sending}, exitDone, "it would be confirmed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.Marshal(test.line)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, '\n')
			_ = os.Remove(log + ".size") // otherwise the log would have been cut
			if err := os.WriteFile(log, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if code, words := dryRun(test.url); code != test.code || !strings.Contains(words, test.says) {
				t.Errorf("exit code %d, want %d: %s", code, test.code, words)
			}
			if left, err := os.ReadFile(log); err != nil || !bytes.Equal(left, text) {
				t.Errorf("the log is %s, error %v", left, err)
			}
		})
	}
	if err := errors.Join(os.Remove(log), os.Mkdir(log, 0o700)); err != nil {
		t.Fatal(err)
	}
	if code, words := dryRun("127.0.0.1"); code != exitUnknown || !strings.Contains(words, "opening the audit log") {
		t.Errorf("a log that cannot be opened: exit code %d: %s", code, words)
	}
}

func TestAConfirmThatIsDoneIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	args := []string{"confirm", id, "--config", s.config, "--total", total, "--allow-confirm"}
	var out, words bytes.Buffer
	if code := run(t.Context(), args, nil, &out, &words); code != exitDone || !strings.Contains(out.String(), "placing order") {
		t.Fatalf("exit code %d: %s%s", code, out.String(), words.String())
	}
	if code := run(t.Context(), args, nil, &out, &words); code != exitAlready || ordersOf(t, s.service, id) != 1 {
		t.Errorf("the second time: exit code %d, %d orders: %s", code, ordersOf(t, s.service, id), words.String())
	}
}
