package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

const keyOfAPI = "shop/key-of-the-account"

// recorder is a service that keeps the requests it gets.
type recorder struct {
	url string

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// recordRequests answers as told. Nothing but a stand-in has paths under /control/.
func recordRequests(t *testing.T, answer http.HandlerFunc) *recorder {
	t.Helper()
	isolate(t)
	g := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		g.mu.Lock()
		g.requests, g.bodies = append(g.requests, r), append(g.bodies, string(body))
		g.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/control/") {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	t.Setenv("TILLWATCH_API_URL", server.URL)
	t.Setenv("TILLWATCH_API_KEY", keyOfAPI)
	return g
}

// sent are the requests that carried the account's key, without what was asked of a stand-in.
func (g *recorder) sent() (lines []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, r := range g.requests {
		if r.Header.Get("Authorization") == "Bearer "+keyOfAPI {
			lines = append(lines, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+g.bodies[i]))
		}
	}
	return lines
}

// written are the methods of all that was sent but reads.
func (g *recorder) written() (methods []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.requests {
		if r.Method != http.MethodGet {
			methods = append(methods, r.Method)
		}
	}
	return methods
}

func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func answersWith(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

func breaksOff(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}

func TestAnAPICallIsSentAsItIsGiven(t *testing.T) {
	const live = " --allow-confirm --live oint"
	for _, c := range []struct{ name, args, stdin, want string }{
		{"a read", "GET /api/v1/shipments ids=a ids=b limit=007", "", "GET /api/v1/shipments?ids=a&ids=b&limit=007"},
		{"a query in the path", "get /api/v1/shipments?ids=a limit=5", "", "GET /api/v1/shipments?ids=a&limit=5"},
		{"fields", "POST /api/v1/endpoint url=http://x a.b=2 a.c=x,y d=[1]" + live, "", `POST /api/v1/endpoint {"a":{"b":2,"c":"x,y"},"d":[1],"url":"http://x"}`},
		{"a body", "put /api/v1/endpoint --body -" + live, `{"n": 1.50}`, `PUT /api/v1/endpoint {"n": 1.50}`},
		{"fields in a body", "PATCH /api/v1/endpoint a.b=2 --body -" + live, `{"n": 1.50, "a":{"c":1}}`, `PATCH /api/v1/endpoint {"a":{"b":2,"c":1},"n":1.50}`},
		{"nothing", "DELETE /api/v1/endpoint" + live, "", "DELETE /api/v1/endpoint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, answers(`{"id": "a"}`))
			out, words := &utterances{}, &utterances{}
			code := run(t.Context(), append([]string{"api"}, strings.Fields(c.args)...), strings.NewReader(c.stdin), out, words)
			if code != exitDone || out.String() != `{"id":"a"}`+"\n" || !slices.Equal(g.sent(), []string{c.want}) {
				t.Errorf("exit %d: %s%s, sent %q, want %q", code, out, words, g.sent(), c.want)
			}
		})
	}
}

func TestHeadersOfAnAPICallLeaveTheKeyAlone(t *testing.T) {
	g := recordRequests(t, answers("{}"))
	mustExit(t, exitDone, "", "api", "POST", "/api/v1/x", "--header", "Idempotency-Key: order-7", "--header", "X-Team: checkout", "--allow-confirm", "--live", "v1/x")
	last := g.requests[len(g.requests)-1].Header
	if last.Get("Idempotency-Key") != "order-7" || last.Get("X-Team") != "checkout" || last.Get("Authorization") != "Bearer "+keyOfAPI {
		t.Errorf("the headers are %v", last)
	}
	for _, header := range []string{"authorization: Bearer other-secret", "Host: x", "content-length: 3", "Transfer-Encoding: chunked", "Connection: close", "no-colon", "a b: c"} {
		if code, _, words := invoke(t, "api", "GET", "/api/v1/x", "--header", header); code != exitUsage || strings.Contains(words, "other-secret") {
			t.Errorf("%s: exit %d, %s", header, code, words)
		}
	}
}

func TestAReadOnlyRunSendsNoWrite(t *testing.T) {
	for _, c := range []struct{ name, args, says string }{
		{"read-only", "POST /api/v1/checkout-intents quantity=1", "read-only: this is not a stand-in"},
		{"read-only, deleting", "DELETE /api/v1/webhook-endpoints/we_1", "read-only"},
		{"a control of a stand-in", "POST /control/intents --allow-confirm --live ents", "this is not a stand-in"},
		{"no agreement", "POST /api/v1/checkout-intents --allow-confirm", "add --live with the last four characters of the path"},
		{"another agreement", "POST /api/v1/checkout-intents --allow-confirm --live 1234", "is not how the path ends"},
		{"a confirm", "POST /api/v1/checkout-intents/ci_1/confirm --allow-confirm --live firm", "use tillwatch confirm"},
		{"a confirm in other letters", "PUT /api/v1/checkout-intents/ci_1/%43onfIRM --allow-confirm --live fIRM", "use tillwatch confirm"},
		{"a purchase", "POST /api/v1/checkout-intents/purchase --allow-confirm --live hase", "use tillwatch confirm"},
		{"an intent, read-only", "create " + chiliCrisp, "read-only: this is not a stand-in"},
		{"an intent, without agreement", "create " + chiliCrisp + " --allow-confirm", "add --live with the last four characters of the path"},
		{"an order, read-only", "purchase " + chiliCrisp + " --reference order-7", "read-only: this is not a stand-in"},
		{"an order, without agreement", "purchase " + chiliCrisp + " --allow-confirm --reference order-7 --max-total 60USD", "add --live with the last four characters of the reference"},
		{"an order, with another agreement", "purchase " + chiliCrisp + " --allow-confirm --reference order-7 --max-total 60USD --live er-8", "is not how the reference ends"},
		{"an order without a reference", "purchase " + chiliCrisp + " --allow-confirm --live hase", "as in --reference order-7"},
		{"an order without a limit", "purchase " + chiliCrisp + " --allow-confirm --reference order-7 --live er-7", "as in --max-total 44.52USD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, answers("{}"))
			args := strings.Fields(c.args)
			if args[0] == strings.ToUpper(args[0]) {
				args = append([]string{"api"}, args...)
			}
			mustExit(t, exitUsage, c.says, args...)
			if len(g.written()) > 0 || len(g.sent()) > 0 {
				t.Errorf("sent %q, with the account's key %q", g.written(), g.sent())
			}
		})
	}
}

func TestTheExitCodeOfAnAPICallSaysWhetherItTookEffect(t *testing.T) {
	const write, read = "POST /api/v1/x a=1 --allow-confirm --live v1/x", "GET /api/v1/x"
	for _, c := range []struct {
		name, args string
		answer     http.HandlerFunc
		code       int
		says       string
	}{
		{"done", write, answersWith(http.StatusCreated, "{}"), exitDone, ""},
		{"done without a body", write, answersWith(http.StatusNoContent, ""), exitDone, ""},
		{"broken off", write, breaksOff, exitUnknown, "may have taken effect, so it is not sent again"},
		{"a failure of the service", write, answersWith(500, `{"name":"X","message":"y"}`), exitUnknown, "may have taken effect"},
		{"a redirect", write, answersWith(http.StatusFound, ""), exitUnknown, "may have taken effect"},
		{"refused", write, answersWith(422, `{"name":"V","message":"Invalid","status":422,"fields":{"body.a":{"message":"must be b"}}}`), exitFailed, "\n  body.a: must be b"},
		{"too many", write, answersWith(429, `{"message":"no"}`), exitFailed, "429"},
		{"a wrong key", write, answersWith(401, `{"name":"A","message":"no"}`), exitFailed, "refuses the API key"},
		{"a read that is missing", read, answersWith(404, `{"name":"N","message":"no such x"}`), exitFailed, "no such x"},
		{"a read without an answer", read, answersWith(501, "{}"), exitFailed, "501"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, c.answer)
			mustExit(t, c.code, c.says, append([]string{"api"}, strings.Fields(c.args)...)...)
			if len(g.sent()) != 1 {
				t.Errorf("sent %q", g.sent())
			}
		})
	}
	t.Run("unread", func(t *testing.T) {
		recordRequests(t, answers(`{"id":"a"}`))
		words := &utterances{}
		if code := run(t.Context(), append([]string{"api"}, strings.Fields(write)...), nil, full{}, words); code != exitUnknown || !strings.Contains(words.String(), "not printed") {
			t.Errorf("exit %d: %s", code, words)
		}
	})
	t.Run("away", func(t *testing.T) {
		isolate(t)
		t.Setenv("TILLWATCH_API_KEY", keyOfAPI)
		mustExit(t, exitFailed, "nothing was sent", append([]string{"api", "--api-url", "http://127.0.0.1:1"}, strings.Fields(write)...)...)
	})
}

func TestWhatAnAPICallPrintsIsMasked(t *testing.T) {
	const body = `{"buyer": {"email": "ada@example.com"}, "paymentMethod": {"type": "vault_token", "vaultToken": "tok-5f3a9c1"},` +
		"\n\"text\": \"\u009b31m\", \"said\": \"%s\"}"
	for _, c := range []struct{ name, said, flag, want string }{
		{"masked", "hello", "", `{"buyer":{"email":"[masked]"},"paymentMethod":{"type":"vault_token","vaultToken":"[masked]"},"text":"\u009b31m","said":"hello"}`},
		{"revealed", "hello", "--reveal", `{"buyer":{"email":"ada@example.com"},"paymentMethod":{"type":"vault_token","vaultToken":"tok-5f3a9c1"},"text":"\u009b31m","said":"hello"}`},
		{"the key", keyOfAPI, "--reveal", `{"buyer":{"email":"ada@example.com"},"paymentMethod":{"type":"vault_token","vaultToken":"tok-5f3a9c1"},"text":"\u009b31m","said":"[redacted]"}`},
		{"the key in other characters", strings.ReplaceAll(keyOfAPI, "/", `\/`), "--reveal", `{"buyer":{"email":"[masked]"},"paymentMethod":{"type":"vault_token","vaultToken":"[masked]"},"text":"\u009b31m","said":"[masked]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			recordRequests(t, answers(fmt.Sprintf(body, c.said)))
			if out := mustExit(t, exitDone, "", strings.Fields("api GET /api/v1/x "+c.flag)...); out != c.want+"\n" {
				t.Errorf("printed %s, want %s", out, c.want)
			}
		})
	}
	for _, flag := range []string{"", "--reveal"} {
		recordRequests(t, answers("<b>\x1b[31m"))
		if out := mustExit(t, exitDone, "", strings.Fields("api GET /x "+flag)...); out != `"[not JSON: 8 bytes]"`+"\n" {
			t.Errorf("%s printed %q", flag, out)
		}
	}
}

func TestAListIsReadToItsEndAndNoFurther(t *testing.T) {
	page := func(next, items string) string {
		return fmt.Sprintf(`{"pageInfo":{"hasNextPage":%t,"endCursor":%q},"data":[%s]}`, next != "", next, items)
	}
	endless := 0
	for _, c := range []struct {
		name     string
		pages    func(after string) string
		code     int
		says     string
		requests int
	}{
		{"three pages", func(after string) string {
			return map[string]string{"": page("b", "1"), "b": page("c", "2"), "c": page("", "3")}[after]
		}, exitDone, "", 3},
		{"a circle", func(after string) string { return map[string]string{"": page("b", "1"), "b": page("b", "2")}[after] }, exitFailed, "a cursor that came before", 2},
		{"pages without items", func(string) string { endless++; return page(fmt.Sprint(endless), "") }, exitFailed, "10 pages without items", 10},
		{"no list", func(string) string { return `{"id":"a"}` }, exitFailed, "neither an array", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := recordRequests(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.pages(r.URL.Query().Get("after"))) })
			out := mustExit(t, c.code, c.says, "api", "GET", "/api/v1/shipments", "limit=1", "--paginate")
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(g.sent()) != c.requests || c.name != "no list" && (len(lines) != c.requests || !json.Valid([]byte(lines[0]))) {
				t.Errorf("%d requests %q, printed %s", len(g.sent()), g.sent(), out)
			}
		})
	}
}

func TestAnAPICallThatCannotBeMeantIsNotSent(t *testing.T) {
	for args, wrong := range map[string]string{
		"api GET":                                "give METHOD PATH",
		"api FETCH /x":                           `"FETCH" is not a method`,
		"api GET api/v1/x":                       "must begin with /",
		"api GET /api/../x":                      "no ..",
		"api GET /api/%2e%2e/x":                  "no ..",
		"api GET //x":                            "no empty part",
		"api GET /x#y":                           "cannot be read",
		"api GET /x tok-secret":                  "give a field and its value",
		"api POST /x a..b=1":                     "give a field and its value",
		"api GET /x --body -":                    "a GET has no body",
		"api POST /x --paginate":                 "goes with GET",
		"api POST /x a=1 --body /nowhere/at/all": "--body",
	} {
		g := recordRequests(t, answersWith(http.StatusOK, "{}"))
		if code, _, words := invoke(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(words, wrong) || len(g.requests) > 0 {
			t.Errorf("%s: exit %d: %s", args, code, words)
		}
	}
}
