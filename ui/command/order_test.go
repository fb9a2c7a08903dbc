package command

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// ordered has the service of a world take orders: order-7 of two items that await and
// one that failed, order-8 of one.
func (w *world) ordered(t *testing.T) {
	t.Helper()
	for _, o := range []simulator.Order{
		{ReferenceID: "order-7", ProductURL: chiliCrisp, Quantity: 2, State: api.AwaitingConfirmation},
		{ReferenceID: "order-7", ProductURL: chiliCrisp, State: api.AwaitingConfirmation},
		{ReferenceID: "order-7", ProductURL: chiliCrisp, State: api.Failed, Fate: simulator.Fate{Failure: "payment_failed", WhilePlacing: true}},
		{ReferenceID: "order-8", ProductURL: chiliCrisp, State: api.Completed},
	} {
		if _, err := w.service.CreateIntent(o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOrderIsPrintedWithItsItems(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Lists = simulator.ListsServed
	w := newWorld(t, c)
	w.ordered(t)
	config := w.asUser(t)
	sheet := runAs(t, "order", "order-7", "--config", config)
	for _, want := range []string{"order-7", "✕ failed … ◆ awaiting", "items       3 items: 2 awaiting, 1 failed", "total", "USD", "confirm by", "is partly failed, 1 of 3 items", "2 × Chili Crisp", "payment failed", "spice-lab.example  ci_"} {
		if !strings.Contains(sheet.out, want) {
			t.Errorf("no %q in\n%s%s", want, sheet.out, sheet.words)
		}
	}
	if sheet.code != exitFailed || !strings.Contains(sheet.words, "1 of 3 items of order-7 failed") {
		t.Errorf("exit code %d: %s", sheet.code, sheet.words)
	}
	r := runAs(t, "order", "order-7", "--json", "--config", config)
	if len(r.objects) != 1 {
		t.Fatalf("%s%s", r.out, r.words)
	}
	object, sum := r.objects[0], 0.0
	order := object["order"].(map[string]any)
	items := order["intents"].([]any)
	for _, item := range items {
		if one := item.(map[string]any); one["state"] != "failed" {
			sum += one["total"].(map[string]any)["amountSubunits"].(float64)
		}
	}
	totals := order["totals"].([]any)
	if len(items) != 3 || len(totals) != 1 || totals[0].(map[string]any)["amountSubunits"] != sum || order["partlyFailed"] != true || object["settled"] != true {
		t.Errorf("items sum up to %v: %s", sum, r.out)
	}
	if r := runAs(t, "order", "order-8", "--json", "--config", config); r.code != exitDone || r.objects[0]["order"].(map[string]any)["best"] != "completed" || r.objects[0]["ended_at"] == nil {
		t.Errorf("exit code %d of an order of one item that completed: %s%s", r.code, r.out, r.words)
	}
}

func TestTheSheetOfAnOrderSpeaksAsTheBoardDoes(t *testing.T) {
	item := func(id api.ID, state api.IntentState, total int64) *account.Intent {
		return &account.Intent{ID: id, State: state, Total: &api.Money{Currency: "USD", Subunits: total}}
	}
	failed := item("ci_2", api.Failed, 900)
	failed.Failure = &api.FailureReason{Code: "product_out_of_stock"}
	for name, c := range map[string]struct {
		other *account.Intent
		want  string
		not   string
	}{
		"an item that failed":            {failed, "out of stock", "product out of stock"},
		"a total below zero":             {item("ci_2", api.Completed, -500), "at least 25.00 USD: 1 not counted", "not known yet"},
		"a total that cannot be added":   {item("ci_2", api.Completed, math.MaxInt64), "at least 25.00 USD: 1 not counted", "not known yet"},
		"an item whose total is unknown": {&account.Intent{ID: "ci_2", State: api.RetrievingOffer}, "at least 25.00 USD: 1 not counted", "not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			o := account.NewOrder("order-7", []*account.Intent{item("ci_1", api.Completed, 2500), c.other})
			sheet := orderLine{Settled: true, Order: o}.sheet(time.Now())
			if !strings.Contains(sheet, c.want) || strings.Contains(sheet, c.not) {
				t.Errorf("want %q and no %q:\n%s", c.want, c.not, sheet)
			}
		})
	}
}

func TestAnOrderThatIsNotKnownFails(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Lists = simulator.ListsServed
	w := newWorld(t, c)
	config := w.asUser(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"an unknown one", []string{"order-9"}, exitFailed, "no intent with the reference order-9 is known"},
		{"none", nil, exitUsage, "which order?"},
		{"two", []string{"a", "b"}, exitUsage, "give one reference"},
		{"a wait below zero", []string{"a", "--wait", "-1s"}, exitUsage, "--wait is -1s"},
	} {
		if r := runAs(t, append([]string{"order", "--config", config}, c.args...)...); r.code != c.code || !strings.Contains(r.words, c.says) || r.out != "" {
			t.Errorf("%s: exit code %d, want %d and %q: %s%s", c.name, r.code, c.code, c.says, r.out, r.words)
		}
	}
}

func TestAnOrderOfWhichItemsMayBeMissingHasItsOwnExitCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	completed, err := w.service.CreateIntent(simulator.Order{ReferenceID: "order-9", ProductURL: chiliCrisp, State: api.Completed})
	if err != nil {
		t.Fatal(err)
	}
	account := []string{"api_url", w.settings.APIURL, "api_key", w.settings.APIKey.Reveal()}
	alone := configFile(t, append(account, "state_dir", t.TempDir())...)
	r := runAs(t, "order", "order-9", "--json", "--config", alone, "--watch-id", completed)
	if r.code != exitUnknown || len(r.objects) != 1 || r.objects[0]["settled"] != false || !strings.Contains(r.words, "items may be missing: the picture is not settled, the service has no list of intents") {
		t.Errorf("of the intents that are named alone: exit code %d, want %d: %s%s", r.code, exitUnknown, r.out, r.words)
	}
	if r := runAs(t, "order", "order-9", "--config", alone, "--watch-id", completed); !strings.Contains(r.out, "at least 1 item: 1 completed") || !strings.Contains(r.out, "at least ") {
		t.Errorf("the sheet reads as if that were all:\n%s", r.out)
	}
	config := configFile(t, append(account, "relay_url", "http://127.0.0.1:1", "relay_token", "token-of-a-relay-that-is-down", "state_dir", t.TempDir())...)
	for _, wait := range everLonger() {
		if r = runAs(t, "order", "order-9", "--json", "--config", config, "--watch-id", completed, "--wait", wait); len(r.objects) == 1 {
			break
		}
	}
	if r.code != exitUnknown || len(r.objects) != 1 || r.objects[0]["settled"] != false || !strings.Contains(r.words, "items may be missing") {
		t.Errorf("exit code %d, want %d: %s%s", r.code, exitUnknown, r.out, r.words)
	}
}

func TestAnOrderMayLackTheItemsOfAListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/checkout-intents":
			fmt.Fprint(w, `{"data":[{"id":"ci_1","state":"failed","referenceId":"order-9"},{"state":"completed","referenceId":"order-9"}],"pageInfo":{"hasNextPage":false}}`)
		case "/api/v1/shipments":
			fmt.Fprint(w, `{"data":[],"pageInfo":{"hasNextPage":false}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"name":"NotFoundError","message":"no"}`)
		}
	}))
	defer service.Close()
	config := configFile(t, "api_url", service.URL, "api_key", "key-of-the-test", "state_dir", t.TempDir())
	r := runAs(t, "order", "order-9", "--json", "--config", config, "--wait", "1m")
	if len(r.objects) != 1 || r.objects[0]["settled"] != false || !strings.Contains(r.words, "items may be missing: the picture is not settled, 1 entry of the list of intents cannot be read") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
}

func TestAnOrderThatNeedsManyReadsSaysHowManyAreLeftAndTheNextRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	ids := []string{"order", "--watch-id"}
	for i := range 14 {
		id, err := w.service.CreateIntent(simulator.Order{ReferenceID: fmt.Sprintf("order-%d", 7+i%2), ProductURL: chiliCrisp, State: api.AwaitingConfirmation})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id, "--watch-id")
	}
	args := append(ids[:len(ids)-1], "--config", w.asUser(t), "--json", "--wait")
	left := regexp.MustCompile(`(\d+) intents are not read yet: that takes longer than 1s; run it again to go on, best with --wait \d+`)
	first := runAs(t, append(args, "1s", "order-8")...)
	if first.code == exitDone || !left.MatchString(first.words) {
		t.Fatalf("exit code %d: %s", first.code, first.words)
	}
	if second := runAs(t, append(args, "2m", "order-8")...); second.code != exitDone || len(second.objects) != 1 || second.objects[0]["settled"] != true {
		t.Fatalf("exit code %d: %s%s", second.code, second.out, second.words)
	}
	if third := runAs(t, append(args, "2m", "order-7")...); third.code != exitDone || len(third.objects) != 1 || third.objects[0]["settled"] != true {
		t.Fatalf("exit code %d: %s%s", third.code, third.out, third.words)
	}
}

// The next run goes on where one ended only if the picture can be saved.
func TestAPictureThatCannotBeSavedIsReportedAndPromisesNoNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	ids := []string{"--watch-id"}
	for range 14 {
		id, err := w.service.CreateIntent(simulator.Order{ReferenceID: "order-7", ProductURL: chiliCrisp, State: api.AwaitingConfirmation})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id, "--watch-id")
	}
	full := filepath.Join(t.TempDir(), "state")
	if err := os.Symlink(filepath.Join(full, "none"), full); err != nil { // nothing can be made within
		t.Fatal(err)
	}
	args := append(ids[:len(ids)-1], "--config", w.asUser(t), "--state-dir", full)
	const unsaved = "the picture cannot be saved for the next start"
	if r := runAs(t, append([]string{"status"}, args...)...); !strings.Contains(r.words, unsaved) {
		t.Errorf("status says nothing of it: %s%s", r.out, r.words)
	}
	r := runAs(t, append([]string{"order", "order-8", "--wait", "1s"}, args...)...)
	if !strings.Contains(r.words, unsaved) || strings.Contains(r.words, "run it again to go on") || !strings.Contains(r.words, "that takes longer than 1s; run it again with --wait ") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
}
