package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// target is an endpoint under development that keeps what it gets.
type target struct {
	url string

	mu      sync.Mutex
	headers []http.Header
	bodies  []string
}

// newTarget answers with a status and a text, or as the contract wants it.
func newTarget(t *testing.T, status int, text string) *target {
	t.Helper()
	g := &target{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		g.mu.Lock()
		g.headers, g.bodies = append(g.headers, r.Header), append(g.bodies, string(body))
		g.mu.Unlock()
		answer := text
		if event, err := api.DecodeEvent(body); err == nil && event.Type == api.VerificationChallenge && text == "" {
			answer = `{"challenge":"` + string(event.Source.ID) + `"}`
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

func (g *target) got() (headers []http.Header, bodies []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.headers), slices.Clone(g.bodies)
}

const triggerSecret = "signing-secret-of-the-test"

func TestEveryTypeOfEventIsSentInTheContractsShape(t *testing.T) {
	t.Setenv("TILLWATCH_SIGNING_SECRET", triggerSecret)
	for _, kind := range api.EventTypes() {
		g := newTarget(t, http.StatusOK, "")
		code, out, words := invoke(t, "trigger", string(kind), "--to", g.url)
		headers, bodies := g.got()
		if code != exitDone || len(bodies) != 1 {
			t.Fatalf("%s: exit %d %s%s, sent %q", kind, code, out, words, bodies)
		}
		event, err := api.DecodeEvent([]byte(bodies[0]))
		group, _, _ := strings.Cut(string(kind), ".")
		if err != nil || event.Type != kind || string(event.Source.Type) != group || time.Since(event.CreatedAt) > time.Minute {
			t.Errorf("%s: %s (%v)", kind, bodies[0], err)
		}
		want := map[string]string{"X-Svc-Event-Id": string(event.ID), "X-Svc-Topic": string(kind), "X-Svc-Signature": simulator.Signature(api.NewSecret(triggerSecret), []byte(bodies[0]))}
		for name, value := range want {
			if got := headers[0].Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", kind, name, got, value)
			}
		}
		if !strings.Contains(out, "200 in ") || headers[0].Get("X-Svc-Timestamp") == "" {
			t.Errorf("%s: %s", kind, out)
		}
	}
}

func TestAFieldOfAnEventIsSetByItsPath(t *testing.T) {
	cases := []struct {
		name string
		args []string
		want string // in what is sent, or "!" and what is said instead
	}{
		{"cents of a price", []string{"product.updated", "--set", "data.price=1299"}, `"price":{"currencyCode":"USD","amountSubunits":1299}`},
		{"a source, and its id with it", []string{"checkout_intent.completed", "--set", "source.id=ci_7"}, `{"id":"evt_ci_7_completed"`},
		{"a product's, and the product's own", []string{"product.updated", "--set", "source.id=shop.example:mug"}, `"data":{"id":"shop.example:mug"`},
		{"a text stays one", []string{"product.updated", "--set", "data.sku=123"}, `"sku":"123"`},
		{"an item of a list", []string{"product.updated", "--set", "data.images.0.isFeatured=false"}, `"isFeatured":false`},
		{"a whole value", []string{"product.updated", "--set", `data={"a":[1]}`}, `"data":{"a":[1]}}`},
		{"null", []string{"product.updated", "--set", "data.brand=null"}, `"brand":null`},
		{"new data of a thin event", []string{"checkout_intent.completed", "--set", "data.order.id=7", "--set", "data.note=a \"b\""}, `"data":{"order":{"id":7},"note":"a \"b\""}}`},
		{"data that the product has not", []string{"product.updated", "--set", "data.prise=1"}, "!there is no field prise; there are id, name,"},
		{"a field that no event has", []string{"checkout_intent.completed", "--set", "kind=1"}, "!there is no field kind; there are id, object"},
		{"a field of a text", []string{"checkout_intent.completed", "--set", "source.id.x=1"}, "!source.id has no field x"},
		{"no object", []string{"product.updated", "--set", "data.price=null"}, `"price":null`},
		{"a number for an object", []string{"product.updated", "--set", "data=5"}, "!--set data: data is an object: give one, or set a field of it"},
		{"a text for an object", []string{"product.updated", "--set", "data.price=cheap"}, "!--set data.price: data.price is an object: give one, or set a field of it"},
		{"a list for an object", []string{"product.updated", "--set", "source=[]"}, "!--set source: source is an object"},
		{"a number for a list", []string{"product.updated", "--set", "data.images=5"}, "!--set data.images: data.images is a list: give one, or set an item of it, as in --set data.images.0=…"},
		{"a number for the data of a thin event", []string{"checkout_intent.completed", "--set", "data=5"}, "!--set data: data is an object: give one, or set a field of it"},
		{"no value", []string{"checkout_intent.completed", "--set", "source.id"}, "!give a field and a value"},
		{"an empty step", []string{"checkout_intent.completed", "--set", "data..x=1"}, "!give a field and a value"},
		{"an id that is none", []string{"checkout_intent.completed", "--set", "id=null"}, "!the body is not an event: decode event: id is missing"},
		{"no such type", []string{"checkout_intent.complete"}, "!did you mean checkout_intent.completed?"},
		{"a type of a group that has none like it", []string{"shipment.deleted"}, `!there is no event type "shipment.deleted": there are checkout_intent.offer_retrieved, `},
		{"letters that stand somewhere in a type", []string{"hint"}, `!there is no event type "hint": there are checkout_intent.offer_retrieved, `},
		{"a part of a type", []string{"order_f"}, "!did you mean checkout_intent.order_failed?"},
		{"what is for the stand-in", []string{"checkout_intent.completed", "--reference", "r"}, "!are for the stand-in"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newTarget(t, http.StatusOK, "")
			code, _, words := invoke(t, append([]string{"trigger", "--to", g.url}, c.args...)...)
			_, bodies := g.got()
			if said, refused := strings.CutPrefix(c.want, "!"); refused {
				if code != exitUsage || len(bodies) > 0 || !strings.Contains(words, said) {
					t.Errorf("exit %d, sent %q: %s", code, bodies, words)
				}
				return
			}
			if code != exitDone || len(bodies) != 1 || !strings.Contains(bodies[0], c.want) || !json.Valid([]byte(bodies[0])) {
				t.Errorf("exit %d %s, sent %q", code, words, bodies)
			}
		})
	}
}

func TestABodyOfOnesOwnIsSentAsItIs(t *testing.T) {
	own := `{ "type":"some.type", "id":"evt_1","source":{"id":"x_1","type":"x"}, "more":[1, 2] }` + "\n"
	path, secret := filepath.Join(t.TempDir(), "event.json"), filepath.Join(t.TempDir(), "secret")
	for file, content := range map[string]string{path: own, secret: triggerSecret + "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := newTarget(t, http.StatusOK, "")
	code, _, words := invoke(t, "trigger", "--body", path, "--to", g.url, "--signing-secret-file", secret)
	headers, bodies := g.got()
	if code != exitDone || !slices.Equal(bodies, []string{own}) {
		t.Fatalf("exit %d %s, sent %q", code, words, bodies)
	}
	if got := headers[0].Get("X-Svc-Signature"); got != simulator.Signature(api.NewSecret(triggerSecret), []byte(own)) || headers[0].Get("X-Svc-Topic") != "some.type" {
		t.Errorf("the headers are %v", headers[0])
	}
	for args, said := range map[string]string{"checkout_intent.completed --to " + g.url: "leave out checkout_intent.completed", "": "--body needs --to"} {
		if code, _, words := invoke(t, append([]string{"trigger", "--body", path}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(words, said) {
			t.Errorf("exit %d: %s", code, words)
		}
	}
}

func TestAnEndpointThatDoesNotTakeAnEventIsReported(t *testing.T) {
	const challenge = "webhook_endpoint.verification_challenge"
	cases := []struct {
		name, kind string
		status     int
		text, want string
	}{
		{"another status", "checkout_intent.completed", http.StatusAccepted, "", "  not accepted  202 in "},
		{"a redirect", "checkout_intent.completed", http.StatusFound, "", "302 in "},
		{"an answer that must not reach a terminal", "checkout_intent.completed", http.StatusTeapot, "no\x1b[2J", "no"},
		{"an answer with a secret", "checkout_intent.completed", http.StatusBadRequest, `{"email":"a@b.example"}`, `{"email":"[masked]"}`},
		{"another challenge", challenge, http.StatusOK, `{"challenge":"we_other"}`, "the answer is not"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, out, words := invoke(t, "trigger", c.kind, "--to", newTarget(t, c.status, c.text).url)
			said := "not answered with 200 within 5 seconds: 1 of 1"
			if c.kind == challenge {
				said = `not answered with 200 and {"challenge": source.id} within 5 seconds: 1 of 1`
			}
			if regexp.MustCompile(`\b(dead|given up)\b`).MatchString(out) { // an id may hold these letters
				t.Errorf("nothing lies among the dead: %s", out)
			}
			if code != exitFailed || !strings.Contains(out, c.want) || strings.ContainsAny(out, "\x1b") || strings.Contains(out, "a@b") || !strings.Contains(words, said) {
				t.Errorf("exit %d: %s%s", code, out, words)
			}
		})
	}
}

// startStandIn serves a stand-in that delivers to an endpoint, and has the settings
// name it.
func startStandIn(t *testing.T, endpoint string) *simulator.Simulator {
	t.Helper()
	c := quiet()
	c.Key, c.SigningSecret, c.WebhookURL = api.NewSecret("key-of-the-test"), api.NewSecret(triggerSecret), endpoint
	service, err := simulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	owned(t, service.Run)
	t.Setenv("TILLWATCH_API_KEY", "key-of-the-test")
	t.Setenv("TILLWATCH_API_URL", server.URL)
	return service
}

func TestAnEventHappensInTheStandInAndItsAnswerIsPrinted(t *testing.T) {
	g := newTarget(t, http.StatusOK, "")
	service := startStandIn(t, g.url)
	// The endpoint has not answered its challenge yet.
	code, out, words := invoke(t, "trigger", "checkout_intent.completed", "--reference", "order-7", "--json")
	var line struct {
		Event            string
		State            string
		Status, Attempts int
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil || code != exitDone {
		t.Fatalf("exit %d: %s%s (%v)", code, out, words, err)
	}
	_, bodies := g.got()
	sent := len(slices.DeleteFunc(bodies, func(b string) bool { return !strings.Contains(b, line.Event) }))
	if line.State != "delivered" || line.Status != http.StatusOK || line.Attempts != 1 || sent != 1 {
		t.Errorf("%s, sent %d times", out, sent)
	}
	if n := service.Summary().Intents[api.Completed]; n != 1 {
		t.Errorf("%d intents are completed", n)
	}
	for _, c := range []struct {
		args, said string
		code       int
	}{
		{"checkout_intent.completed --set source.id=ci_none", "404", exitFailed},
		{"checkout_intent.completed --set data.note=x", "the stand-in makes its own events", exitUsage},
		{"product.updated --reference foo", "--reference is for a new intent, and product.updated has none", exitUsage},
		{"checkout_intent.order_failed --failure bad_luck", "one of bot_protection_blocked, captcha_blocked, ", exitUsage},
		{"webhook_endpoint.verification_challenge --product https://shop.example/a", "--product is for an intent or a product", exitUsage},
		{"checkout_intent.completed --failure payment_failed", "--failure is for checkout_intent.offer_failed and", exitUsage},
		{"checkout_intent.order_failed --failure bad_luck", "it must be one of", exitUsage},
		{"checkout_intent.completed --api-url " + g.url, "not a stand-in", exitUsage},
	} {
		if code, _, words := invoke(t, append([]string{"trigger"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(words, c.said) {
			t.Errorf("%s: exit %d: %s", c.args, code, words)
		}
	}
}

func TestWhatADeliveryOnceWasIsNotPrintedOfWhatItIs(t *testing.T) {
	answers := []string{
		`[{"id":"1","state":"waiting","attempts":1,"error":"no answer","next":"2026-03-04T12:00:00Z"},{"id":"2","state":"sending","attempts":1}]`,
		`[{"id":"1","state":"delivered","attempts":2,"status":200},{"id":"2","state":"delivered","attempts":1,"status":200}]`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.AnswerAsStandIn(w.Header(), r)
		if r.URL.Path == "/control/state" {
			fmt.Fprint(w, `{"webhookEndpoints":[{"verified":true},{"verified":true}]}`)
			return
		}
		fmt.Fprint(w, answers[0])
		answers = answers[1:]
	}))
	t.Cleanup(server.Close)
	client, err := api.New(api.Config{BaseURL: server.URL, Key: api.NewSecret("key-of-the-test"), StandIn: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	all, err := deliveriesOf(t.Context(), client, "evt_1")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v (%v)", all, err)
	}
	for _, d := range all {
		if d.Error != "" || !d.Next.IsZero() {
			t.Errorf("the delivery %s keeps the error %q and the next attempt %v of an earlier answer", d.ID, d.Error, d.Next)
		}
	}
}

func TestAStandInWithoutAnEndpointDeliversNothing(t *testing.T) {
	startStandIn(t, "")
	code, _, words := invoke(t, "trigger", "checkout_intent.completed")
	if code != exitDone || !strings.Contains(words, "It was not delivered") {
		t.Errorf("exit %d: %s", code, words)
	}
}

func TestABodyIsJSONWhateverCharactersItsFieldsHold(t *testing.T) {
	const odd = "a\x01\x7f\v\u2028\"b"
	for _, kind := range simulator.EventKinds() {
		body := kind.Sample(odd, time.Now())
		var event struct{ Source struct{ ID string } }
		if err := json.Unmarshal(body, &event); err != nil || event.Source.ID != odd {
			t.Errorf("%s: %s (%v)", kind.Type, body, err)
		}
	}
	body, err := override{[]string{"data", odd, odd}, "1"}.apply([]byte(`{"id":"evt_1","data":{}}`), false)
	var set struct{ Data map[string]map[string]int }
	if failed := json.Unmarshal(body, &set); err != nil || failed != nil || set.Data[odd][odd] != 1 {
		t.Errorf("%s (%v, %v)", body, err, failed)
	}
}

func TestAnyBodyIsSentByteForByte(t *testing.T) {
	t.Setenv("TILLWATCH_SIGNING_SECRET", triggerSecret)
	const both = "x-svc-event-id is empty: the body has no value for it\ntillwatch: x-svc-topic is empty"
	for _, c := range []struct{ name, body, set, sent, id, said string }{
		{"an event", " {\"id\":\"evt_1\", \"type\":\"shipment.created\"}\n", "", " {\"id\":\"evt_1\", \"type\":\"shipment.created\"}\n", "evt_1", ""},
		{"a field is changed, and no other byte", " {\"id\":\"evt_1\", \"type\":\"a\"}\n", "type=b", " {\"id\":\"evt_1\", \"type\":\"b\"}\n", "evt_1", ""},
		{"no JSON", "id=evt_1\x00\xff", "", "id=evt_1\x00\xff", "", both},
		{"nothing", "", "", "", "", both},
		{"a field of no JSON", "id=evt_1", "id=1", "", "", "--set id: the body is not a JSON object"},
		{"a field of a list", "[]", "id=1", "", "", "--set id: the body is not a JSON object"},
		{"a doubled field", `{"id":"a","type":"b","id":"c"}`, "id=d", "", "", "--set id: the body has the field id twice"},
		{"a doubled field on the way", `{"id":"a","data":{"price":1},"data":{}}`, "data.price=2", "", "", "--set data.price: the body has the field data twice"},
		{"a doubled field in another spelling", `{"id":"a","\u0069d":"c"}`, "id=d", "", "", "--set id: the body has the field id twice"},
		{"another field is doubled", `{"id":"a","x":1,"type":"b","x":2}`, "type=c", `{"id":"a","x":1,"type":"c","x":2}`, "a", ""},
		{"a doubled amount", `{"id":"a","data":{"price":{"amountSubunits":1,"amountSubunits":2}}}`, "data.price=3", "", "", "--set data.price: the body has the field amountSubunits twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newTarget(t, http.StatusOK, "")
			args := []string{"trigger", "--to", g.url, "--body", written(t, c.body)}
			refused := c.set != "" && c.id == ""
			if c.set != "" {
				args = append(args, "--set", c.set)
			}
			code, out, words := invoke(t, args...)
			headers, bodies := g.got()
			if !strings.Contains(words, c.said) || c.said == "" && words != "" {
				t.Errorf("said %q", words)
			}
			if refused {
				if code != exitUsage || len(bodies) > 0 {
					t.Errorf("exit %d %s, sent %q", code, out, bodies)
				}
				return
			}
			if code != exitDone || len(bodies) != 1 || bodies[0] != c.sent || headers[0].Get("X-Svc-Event-Id") != c.id ||
				headers[0].Get("X-Svc-Signature") != simulator.Signature(api.NewSecret(triggerSecret), []byte(c.sent)) {
				t.Errorf("exit %d %s, sent %q with %v", code, out, bodies, headers)
			}
		})
	}
}
