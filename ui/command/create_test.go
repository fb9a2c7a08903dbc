package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func TestCreateAndPurchase(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	const (
		whole   = chiliCrisp + " --test-buyer"
		bought  = " --payment drawdown --allow-confirm"
		lost    = `{"drop":true,"after":true,"method":"POST","path":"/api/v1/"}`
		live    = "0.0.0.0" // which is not known to move no money
		twoMore = " --reference order-2 --max-total 60.00USD --live er-2"
	)
	cases := []struct {
		name    string
		args    string
		stdin   string
		fault   string
		url     string // of the service, where another
		code    int
		verdict string // in the JSON; "" where none is printed
		says    string
		made    int // intents
	}{
		{name: "created", args: "create " + whole, verdict: "accepted", made: 1},
		{name: "created from a body", args: "create --body -", stdin: `{"productUrl":"` + chiliCrisp + `","quantity":3,"buyer":{"firstName":"A","lastName":"B","email":"e@example.com","phone":"1","address1":"1","city":"C","province":"NY","postalCode":"1","country":"US"},"unknown":{"x":1}}`, verdict: "accepted", made: 1},
		{name: "purchased", args: "purchase " + whole + " --payment drawdown", verdict: "accepted", made: 1},
		{name: "invalid", args: "create " + chiliCrisp + " --body - --buyer country=us --buyer phone=555-tell-nobody", stdin: `{"constraints":{"maxTotalPrice":-1}}`, code: exitFailed, verdict: "refused", says: "\n  body.constraints.maxTotalPrice: min 0 (it was -1)"},
		{name: "a quantity of none", args: "purchase " + whole + " --payment drawdown --quantity 0", code: exitUsage, says: "the quantity is 0; it must be 1 or more"},
		{name: "a quantity below none", args: "create " + whole + " --quantity -3 --dry-run", code: exitUsage, says: "the quantity is -3"},
		{name: "a quantity of none in the body", args: "create " + whole + " --body -", stdin: `{"quantity":0.0}`, code: exitUsage, says: "1 or more"},
		{name: "a quantity beyond all below none", args: "create " + whole + " --body -", stdin: `{"quantity":-1e999}`, code: exitUsage, says: "1 or more"},
		{name: "lost", args: "create " + whole + " --reference order-1", fault: lost, code: exitUnknown, verdict: "unknown", says: "not sent again: POST /api/v1/checkout-intents: no answer: EOF. Find out with: tillwatch order order-1", made: 1},
		{name: "lost without a reference", args: "purchase " + whole + " --payment drawdown", fault: lost, code: exitUnknown, verdict: "unknown", says: "with --reference, tillwatch order finds it", made: 1},
		{name: "lost before it took effect", args: "create " + whole, fault: `{"status":500,"method":"POST","path":"/api/v1/"}`, code: exitUnknown, verdict: "unknown"},
		{name: "no product", args: "create --test-buyer", code: exitUsage, says: "which product?"},
		{name: "two products", args: "create a b", code: exitUsage, says: "give one product"},
		{name: "no payment", args: "purchase " + whole, code: exitUsage, says: "how is it paid for?"},
		{name: "a token without its kind", args: "create " + whole + " --payment-token-file -", code: exitUsage, says: "goes with --payment"},
		{name: "a body that is none", args: "create --body -", stdin: "[]", code: exitUsage, says: "--body: it must be one JSON object"},
		{name: "a body behind a byte order mark", args: "create " + whole + " --body -", stdin: "\ufeff" + `{"quantity":2}`, verdict: "accepted", made: 1},
		{name: "a wrong body behind a byte order mark", args: "create --body -", stdin: "\ufeff{a}", code: exitUsage, says: "its syntax is wrong at byte 5"},
		{name: "two bodies", args: "create --body -", stdin: "{}{}", code: exitUsage, says: "one JSON object"},
		{name: "stdin twice", args: "create --body - --buyer-file -", stdin: "{}", code: exitUsage, says: "--body and --buyer-file both read stdin"},
		{name: "a buyer's field without a value", args: "create " + chiliCrisp + " --buyer Ada-tell-nobody", code: exitUsage, says: "--buyer firstName=Ada"},
		{name: "a variant without a value", args: "create " + whole + " --variant M", code: exitUsage, says: "as in Size=M"},
		{name: "an amount without a currency", args: "create " + whole + " --max-total 44.52", code: exitUsage, says: "--max-total: "},
		{name: "limits in two currencies", args: "create " + whole + " --max-total 44.52USD --max-shipping 500JPY", code: exitUsage, says: "the service takes only a number"},
		{name: "an amount beyond the wire's", args: "create " + whole + " --max-total 99999999.00USD", code: exitUsage, says: "21474836.47 USD"},
		{name: "read-only", args: "create " + whole, url: live, code: exitUsage, says: "it spends the account's daily quota: give --allow-confirm"},
		{name: "a test buyer where money is real", args: "create " + whole + " --allow-confirm", url: live, code: exitUsage, says: "the test buyer is refused"},
		{name: "created where money is real", args: "create " + chiliCrisp + " --buyer-file - --allow-confirm", stdin: aBuyer, url: live, verdict: "accepted", made: 1},
		{name: "a purchase that is read-only", args: "purchase " + chiliCrisp + " --buyer-file - --payment drawdown" + twoMore, stdin: aBuyer, url: live, code: exitUsage, says: "it spends money: give --allow-confirm"},
		{name: "a purchase without its most", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-2 --live er-2" + bought, stdin: aBuyer, url: live, code: exitUsage, says: "--max-total 44.52USD"},
		{name: "a purchase without a reference", args: "purchase " + chiliCrisp + " --buyer-file - --max-total 60USD" + bought, stdin: aBuyer, url: live, code: exitUsage, says: "--reference order-7"},
		{name: "a purchase without --live", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-2 --max-total 60USD" + bought, stdin: aBuyer, url: live, code: exitUsage, says: "the last four characters of the reference"},
		{name: "a purchase with another --live", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-3 --max-total 60USD --live er-2" + bought, stdin: aBuyer, url: live, code: exitUsage, says: "not how the reference ends"},
		{name: "a purchase whose reference is too short for --live", args: "purchase " + chiliCrisp + " --buyer-file - --reference a --max-total 60USD --live a" + bought, stdin: aBuyer, url: live, code: exitUsage, says: "--reference of four characters or more"},
		{name: "a purchase of a quantity that is none", args: "purchase " + chiliCrisp + " --body -" + twoMore + bought, stdin: `{"quantity":"1e3","buyer":` + aBuyer + `}`, url: live, code: exitUsage, says: "the quantity must be a whole number"},
		{name: "a purchase above its most", args: "purchase " + chiliCrisp + " --quantity 5" + " --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitNotConfirmable, verdict: "not_sent", says: "5 × 14.90 USD is more than --max-total, 60.00 USD"},
		{name: "a purchase in another currency", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-2 --max-total 60EUR --live er-2" + bought, stdin: aBuyer, url: live, code: exitNotConfirmable, verdict: "not_sent", says: "takes only a number"},
		{name: "a purchase of what is not there", args: "purchase https://x.example/magic/unpublished --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitNotConfirmable, verdict: "not_sent", says: "no price"},
		{name: "a guarded purchase whose answer is lost", args: "purchase " + chiliCrisp + " --buyer-file -" + twoMore + bought, stdin: aBuyer, fault: lost, url: live, code: exitUnknown, verdict: "unknown", says: "tillwatch order order-2", made: 1},
		{name: "the same again", args: "purchase " + chiliCrisp + " --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitUnknown, verdict: "unknown", says: "the answer to the same request was lost earlier"},
		{name: "the same again, above its most", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-2 --max-total 1USD --live er-2" + bought, stdin: aBuyer, url: live, code: exitUnknown, verdict: "unknown", says: "the answer to the same request was lost earlier"},
		{name: "the same again, while the key is refused", args: "purchase " + chiliCrisp + " --buyer-file -" + twoMore + bought, stdin: aBuyer, fault: `{"status":401,"method":"GET","path":"/api/v1/"}`, url: live, code: exitUnknown, verdict: "unknown", says: "the answer to the same request was lost earlier"},
		{name: "something else with its reference", args: "purchase " + chiliCrisp + " --quantity 2 --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitUnknown, verdict: "unknown", says: "order-2 is the reference of another request, whose answer was lost"},
		{name: "purchased where money is real", args: "purchase " + chiliCrisp + " --quantity 2 --another-item --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, verdict: "accepted", says: "2 × Chili Crisp at 14.90 USD", made: 1},
		{name: "what was lost is told", args: "purchase " + chiliCrisp + " --quantity 2 --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitAlready, verdict: "already_confirmed", says: "the outcome of 1 × " + chiliCrisp + ", sent at "},
		{name: "a first item", args: "purchase " + chiliCrisp + " --buyer-file - --reference order-5 --max-total 60USD --live er-5" + bought, stdin: aBuyer, url: live, verdict: "accepted", made: 1},
		{name: "its reference for another quantity", args: "purchase " + chiliCrisp + " --quantity 3 --buyer-file - --reference order-5 --max-total 60USD --live er-5" + bought, stdin: aBuyer, url: live, code: exitAlready, verdict: "already_confirmed", says: "order-5 is already the reference of ci_"},
		{name: "its reference for another product", args: "create https://spice-lab.example/products/gochugaru --buyer-file - --reference order-5 --allow-confirm", stdin: aBuyer, url: live, code: exitAlready, verdict: "already_confirmed", says: "--another-item if this is one more item of that order"},
		{name: "purchased already", args: "purchase " + chiliCrisp + " --quantity 2 --buyer-file -" + twoMore + bought, stdin: aBuyer, url: live, code: exitAlready, verdict: "already_confirmed", says: "order-2 was already purchased, as "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := s.config
			if c.url != "" {
				config = configFile(t, "api_url", strings.Replace(s.url, "127.0.0.1", c.url, 1), "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
			}
			if c.fault != "" {
				s.fail(t, c.fault)
			}
			before := s.made(t)
			var out, words bytes.Buffer
			code := run(t.Context(), append(strings.Fields(c.args), "--json", "--config", config), strings.NewReader(c.stdin), &out, &words)
			if code != c.code || !strings.Contains(words.String(), c.says) {
				t.Errorf("exit code %d, want %d; said %q, want %q", code, c.code, words.String(), c.says)
			}
			var r createReport
			r.confirmReport = &confirmReport{}
			if c.verdict == "" && out.Len() > 0 {
				t.Errorf("printed %s", out.String())
			} else if c.verdict != "" && (json.Unmarshal(out.Bytes(), &r) != nil || r.Verdict != c.verdict || r.ExitCode != c.code || (r.Verdict == "accepted" || r.Verdict == "already_confirmed") != (r.Intent != nil && r.Intent.ID != "")) {
				t.Errorf("printed %s, want %q", out.String(), c.verdict)
			}
			if now := s.made(t); now != before+c.made {
				t.Errorf("%d intents made, want %d", now-before, c.made)
			}
			if said := out.String() + words.String(); strings.Contains(said, "tell-nobody") || strings.Contains(said, "key-of-the-test") {
				t.Errorf("a secret is in %q", said)
			}
		})
	}
	if audit, err := os.ReadFile(filepath.Join(s.state, "confirms.jsonl")); err != nil || bytes.Contains(audit, []byte("Street")) || !bytes.Contains(audit, []byte("at most 60.00 USD")) {
		t.Errorf("%v; the audit log is %s", err, audit)
	}
}

func TestAPurchaseWithoutAnAuditLogIsNotSentAndNothingIsClaimedOfEarlierOnes(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	if err := os.Mkdir(filepath.Join(s.state, "confirms.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := configFile(t, "api_url", strings.Replace(s.url, "127.0.0.1", "0.0.0.0", 1), "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
	args := []string{"purchase", chiliCrisp, "--buyer-file", "-", "--payment", "drawdown", "--reference", "order-2", "--max-total", "60USD", "--live", "er-2", "--allow-confirm", "--config", config}
	var out, words bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(aBuyer), &out, &words); code != exitUnknown || !strings.Contains(words.String(), "nothing was sent this time: ") || s.made(t) > 0 {
		t.Errorf("exit code %d, %d made: %s", code, s.made(t), words.String())
	}
}

func TestWhatMayHaveBeenBoughtIsSentAgainOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	real := strings.Replace(s.url, "127.0.0.1", "0.0.0.0", 1) // which is not known to move no money
	config := configFile(t, "api_url", real, "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
	same := sha256.Sum256(fmt.Appendf(nil, "%q %d %q", chiliCrisp, 1, []string(nil)))
	line := func(ago time.Duration) string {
		return fmt.Sprintf(`{"at":%q,"attempt":"LOSTSEVEN7777","environment":%q,"intent":"new order-7 %x","stage":"sending","product":%q,"quantity":1,"total":"at most 60.00 USD"}`+"\n",
			time.Now().Add(-ago).UTC().Format(time.RFC3339Nano), strings.TrimPrefix(real, "http://"), same[:8], chiliCrisp)
	}
	writeFile(t, filepath.Join(s.state, "confirms.jsonl"), line(90*time.Minute))
	args := strings.Fields("purchase " + chiliCrisp + " --buyer-file - --reference order-7 --max-total 60.00USD --live er-7 --payment drawdown --allow-confirm --config " + config)
	buy := func(want, made int, says string, more ...string) {
		t.Helper()
		var out, words bytes.Buffer
		code := run(t.Context(), append(args, more...), strings.NewReader(aBuyer), &out, &words)
		if said := out.String() + words.String(); code != want || s.made(t) != made || !strings.Contains(said, says) {
			t.Errorf("exit code %d, want %d with %q, %d made: %s", code, want, says, s.made(t), said)
		}
	}
	buy(exitUnknown, 0, "--again sends it once more, and it may then be made twice")
	buy(exitDone, 1, "purchased ci_", "--again")
	buy(exitAlready, 1, "order-7 was already purchased", "--again")
	writeFile(t, filepath.Join(s.state, "confirms.jsonl"), line(0))
	buy(exitUnknown, 1, "may still be on its way: wait until", "--again")
}

func TestACreationWithoutAStateSaysSo(t *testing.T) {
	r := &createReport{confirmReport: &confirmReport{Environment: "checkout.example"}, body: &createBody{}}
	r.ended(confirm.Outcome{Verdict: confirm.Accepted, Intent: &api.Intent{ID: "ci_1"}})
	if want := "created ci_1: its state is not known, in checkout.example"; r.text != want {
		t.Errorf("it says %q, want %q", r.text, want)
	}
}

const aBuyer = `{"firstName":"Ada","lastName":"B","email":"ada@example.com","phone":"212-555-0100","address1":"1 Street","city":"C","province":"NY","postalCode":"10001","country":"US"}`

// made counts the intents of the service.
func (s *till) made(t *testing.T) (n int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, s.url+"/control/state", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer key-of-the-test")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var state struct{ Intents map[string]int }
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	for _, count := range state.Intents {
		n += count
	}
	return n
}

func TestAllThatAPurchaseLacksIsListedAtOnceAndBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer service.Close()
	config := configFile(t, "api_url", strings.Replace(service.URL, "127.0.0.1", "0.0.0.0", 1), "api_key", "key-of-the-test", "state_dir", t.TempDir(), "insecure_http", "true")
	purchase := []string{"purchase", chiliCrisp, "--test-buyer", "--payment", "drawdown", "--config", config}
	for _, c := range []struct {
		name  string
		args  []string
		lacks []string
	}{
		{"all", nil, []string{"--allow-confirm", "--buyer-file", "--max-total", "--reference", "--live"}},
		{"half", []string{"--allow-confirm", "--reference", "order-7"}, []string{"--buyer-file", "--max-total", "--live"}},
		{"the last four of too few", []string{"--allow-confirm", "--max-total", "60USD", "--reference", "a", "--live", "a"}, []string{"--buyer-file", "--reference of four characters or more"}},
	} {
		r := runAs(t, append(purchase, c.args...)...)
		for _, flag := range c.lacks {
			if !strings.Contains(r.words, flag) {
				t.Errorf("%s: no word of %s", c.name, flag)
			}
		}
		if r.code != exitUsage || strings.Count(r.words, "\n") != len(c.lacks) || asked > 0 {
			t.Errorf("%s: exit code %d after %d requests: %s", c.name, r.code, asked, r.words)
		}
	}
}

func TestADryRunPrintsTheMaskedRequestAndSendsNothing(t *testing.T) {
	t.Parallel()
	// Nothing is followed, so the relay's token is not needed.
	config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key", "key-of-the-test", "relay_url", "http://127.0.0.1:1", "state_dir", t.TempDir())
	body := filepath.Join(t.TempDir(), "order.json")
	text := `{"productUrl":"https://shop.example/p?token=tell-nobody","buyer":{"firstName":"tell-nobody"},"weight":1.50}`
	if err := os.WriteFile(body, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("tok_tell-nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		args []string
		want []string
	}{
		{"create", []string{"create", "--body", body, "--variant", "Size=M", "--promo-code", "A", "--discover-promo-codes", "--effort", "low", "--max-shipping", "5USD"},
			[]string{"POST http://127.0.0.1:1/api/v1/checkout-intents\nAuthorization: Bearer [redacted]\n", `"weight": 1.50`, `"value": "M"`, `"promoCodes": [`, `"discoverPromoCodes": true`, `"offerRetrievalEffort": "low"`, `"maxShippingPrice": 500`, `"productUrl": "https://shop.example/p?token=[masked]"`}},
		{"purchase", []string{"purchase", "--body", body, "--payment", "vault_token", "--payment-token-file", token, "--max-total", "1,000.00USD"},
			[]string{"/checkout-intents/purchase\n", `"vaultToken": "[masked]"`, `"maxTotalPrice": 100000`}},
		{"purchase as JSON", []string{"purchase", "--body", body, "--payment", "drawdown", "--json"}, []string{`{"verdict":"dry_run","method":"POST","url":"http://127.0.0.1:1/api/v1/checkout-intents/purchase","body":{`, `"paymentMethod":{"type":"drawdown"}`}},
		{"lookup", []string{"lookup", "https://shop.example/p?token=tell-nobody"}, []string{"GET http://127.0.0.1:1/api/v1/products/lookup?url=https%3A%2F%2Fshop.example%2Fp%3Ftoken%3D%5Bmasked%5D\n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := runAs(t, append(c.args, "--dry-run", "--config", config)...)
			for _, want := range c.want {
				if r.code != exitDone || !strings.Contains(r.out, want) {
					t.Errorf("exit code %d: no %q in\n%s%s", r.code, want, r.out, r.words)
				}
			}
			if strings.Contains(r.out+r.words, "tell-nobody") || strings.Contains(r.out, "key-of-the-test") {
				t.Errorf("a secret is in\n%s%s", r.out, r.words)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	cases := []struct {
		name string
		args string
		code int
		says string // on stdout, or else on stderr
	}{
		{"a product", chiliCrisp, exitDone, "Price      14.90 USD"},
		{"its variants", "https://x.example/magic/partial-stock", exitDone, "Size       S, M, L, XL"},
		{"as JSON", chiliCrisp + " --json", exitDone, `"price":{"currencyCode":"USD","amountSubunits":1490}`},
		{"words that draw", "https://x.example/magic/hostile-text", exitDone, "Hostile Text]0;owned"},
		{"not there", "https://x.example/magic/unpublished", exitFailed, "simulator knows no product at this URL"},
		{"no URL", "mug", exitFailed, "\n  url: invalid url (it was \"mug\")"},
		{"none", "", exitUsage, "which product?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := runAs(t, append([]string{"lookup", "--config", s.config}, strings.Fields(c.args)...)...)
			if said := r.out + r.words; r.code != c.code || !strings.Contains(said, c.says) || strings.Contains(said, "\x1b") {
				t.Errorf("exit code %d, want %d:\n%s", r.code, c.code, said)
			}
		})
	}
}

func TestALookupSaysNothingOfWhatTheAnswerLeavesOut(t *testing.T) {
	t.Parallel()
	answer := `{"id":"p","name":"Mug","availability":"in_stock"%s}`
	cases := []struct{ name, field, sheet, line string }{
		{"left out", "", "Available  in stock\n", `"availability":"in_stock"},"body"`},
		{"no", `,"isPurchasable":false`, "Available  in stock, cannot be bought\n", `"isPurchasable":false},"body"`},
		{"yes", `,"isPurchasable":true`, "Available  in stock\n", `"isPurchasable":true},"body"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, answer, c.field) }))
			defer service.Close()
			config := configFile(t, "api_url", service.URL, "api_key", "key-of-the-test", "state_dir", t.TempDir())
			for form, want := range map[string]string{"--json": c.line, "--json=false": c.sheet} {
				if r := runAs(t, "lookup", "https://shop.example/mug", form, "--config", config); r.code != exitDone || !strings.Contains(r.out, want) {
					t.Errorf("%s: exit code %d, want %q: %s%s", form, r.code, want, r.out, r.words)
				}
			}
		})
	}
}

func TestLookupMasksAddresses(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":"p","name":"Mug","url":"https://u:tell-nobody@shop.example/mug?token=tell-nobody","description":"https://shop.example/#key=tell-nobody",`+
			`"images":[{"url":"https://cdn.example/mug?signature=tell-nobody"}]}`)
	}))
	defer service.Close()
	config := configFile(t, "api_url", service.URL, "api_key", "key-of-the-test", "state_dir", t.TempDir())
	for _, form := range []string{"--json", "--json=false"} {
		if r := runAs(t, "lookup", "https://shop.example/mug", form, "--config", config); r.code != exitDone || !strings.Contains(r.out, "shop.example/mug?token=[masked]") || strings.Contains(r.out, "tell-nobody") {
			t.Errorf("%s: exit code %d: %s%s", form, r.code, r.out, r.words)
		}
	}
}
