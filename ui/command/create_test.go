package command

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheFieldsOfANewIntent(t *testing.T) {
	const bare = `{"productUrl":"https://spice-lab.example/products/chili-crisp","quantity":1`
	for _, c := range []struct{ name, args, stdin, want string }{
		{"a product", "create " + chiliCrisp, "", "POST /api/v1/checkout-intents " + bare + `}`},
		{"nothing", "create", "", `POST /api/v1/checkout-intents {"quantity":1}`},
		{"a product whose address has a field", "create https://a.example/?id=7 quantity=2", "", `POST /api/v1/checkout-intents {"productUrl":"https://a.example/?id=7","quantity":2}`},
		{"fields over flags over the file", "create --body - --reference order-7 buyer.city=Oakland quantity=3", `{"referenceId":"order-6","quantity":2,"buyer":{"city":"Rome"},"more":1.50}`,
			`POST /api/v1/checkout-intents {"buyer":{"city":"Oakland"},"more":1.50,"quantity":3,"referenceId":"order-7"}`},
		{"the file's quantity", "create --body -", `{"quantity":2}`, `POST /api/v1/checkout-intents {"quantity":2}`},
		{"a payment, a buyer, a limit", "create --buyer-file - --payment drawdown --max-total 44.52USD", `{"city":"Rome"}`,
			`POST /api/v1/checkout-intents {"buyer":{"city":"Rome"},"constraints":{"maxTotalPrice":4452},"paymentMethod":{"type":"drawdown"},"quantity":1}`},
		{"a token", "create --payment vault_token --payment-token-file -", "tok-7\n",
			`POST /api/v1/checkout-intents {"paymentMethod":{"type":"vault_token","vaultToken":"tok-7"},"quantity":1}`},
		{"a lookup", "lookup https://a.example/?id=7", "", "GET /api/v1/products/lookup?url=https%3A%2F%2Fa.example%2F%3Fid%3D7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, answers(`{"id":"ci_1","buyer":{"email":"ada@example.com"}}`))
			args := strings.Fields(c.args)
			if args[0] != "lookup" {
				args = append(args, "--allow-confirm", "--live", "ents")
			}
			out, words := &utterances{}, &utterances{}
			code := run(t.Context(), args, strings.NewReader(c.stdin), out, words)
			if code != exitDone || out.String() != `{"id":"ci_1","buyer":{"email":"[masked]"}}`+"\n" || !slices.Equal(g.sent(), []string{c.want}) {
				t.Errorf("exit %d: %s%s, sent %q", code, out, words, g.sent())
			}
		})
	}
	for args, says := range map[string]string{
		"create a=1 b":                      "give a field and its value",
		"create --max-total 44":             "--max-total: ",
		"create --body /nowhere/at/all":     "--body",
		"lookup https://a.example/ another": "give one PRODUCT-URL",
	} {
		g := recordRequests(t, answers("{}"))
		if code, _, words := invoke(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(words, says) || len(g.requests) > 0 {
			t.Errorf("%s: exit %d: %s", args, code, words)
		}
	}
}

func TestAPurchaseIsSentOnceForItsReference(t *testing.T) {
	order := func(reference string, more ...string) []string {
		return append([]string{"purchase", chiliCrisp, "--payment", "drawdown", "--reference", reference, "--max-total", "60USD",
			"--live", reference[len(reference)-4:], "--allow-confirm"}, more...)
	}
	const made = `{"id":"ci_1","state":"retrieving_offer","referenceId":"REFERENCE","buyer":{"email":"ada@example.com"}}`
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		code      int
		says      string
		next      int
		nextSays  string
		requests  int // after both
		nextAgain bool
	}{
		{"taken", answersWith(201, strings.Replace(made, "REFERENCE", "order-7", 1)), exitDone, "", exitAlready, "this reference has bought: ci_1", 1, false},
		{"broken off", breaksOff, exitUnknown, "may have been purchased", exitUnknown, "tillwatch order order-7", 1, false},
		{"broken off, and asked for again", breaksOff, exitUnknown, "may have been purchased", exitUnknown, "may still be on its way: wait until", 1, true},
		{"refused", answersWith(422, `{"name":"V","message":"","status":422,"fields":{"body.buyer":{"message":"'buyer' is required"}}}`), exitFailed, "body.buyer: 'buyer' is required",
			exitFailed, "body.buyer", 2, false},
		{"another order's answer", answersWith(201, strings.Replace(made, "REFERENCE", "order-8", 1)), exitUnknown, "about another order", exitUnknown, "nothing was sent this time", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, c.answer)
			t.Setenv("TILLWATCH_STATE_DIR", t.TempDir())
			if out := mustExit(t, c.code, c.says, order("order-7")...); c.code == exitDone && !strings.Contains(out, `"email":"[masked]"`) {
				t.Errorf("printed %s", out)
			}
			next := order("order-7")
			if c.nextAgain {
				next = append(next, "--again")
			}
			mustExit(t, c.next, c.nextSays, next...)
			if len(g.sent()) != c.requests || g.requests[len(g.requests)-1].Header.Get("Idempotency-Key") == "" && len(g.written()) == 0 {
				t.Errorf("sent %q", g.sent())
			}
			audit, err := os.ReadFile(filepath.Join(os.Getenv("TILLWATCH_STATE_DIR"), "confirms.jsonl"))
			if text := string(audit); err != nil || strings.Contains(text, "ada@") || !strings.Contains(text, "at most 6000 subunits") || !strings.Contains(text, `"new order-7"`) {
				t.Errorf("the audit log is %s (%v)", text, err)
			}
		})
	}
	t.Run("without an audit log", func(t *testing.T) {
		g := recordRequests(t, answersWith(201, made))
		t.Setenv("TILLWATCH_STATE_DIR", t.TempDir())
		if err := os.Mkdir(filepath.Join(os.Getenv("TILLWATCH_STATE_DIR"), "confirms.jsonl"), 0o700); err != nil {
			t.Fatal(err)
		}
		mustExit(t, exitUnknown, "nothing was sent this time", order("order-7")...)
		if len(g.sent()) > 0 {
			t.Errorf("sent %q", g.sent())
		}
	})
}
