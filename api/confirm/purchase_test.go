package confirm_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/simulator"
)

// counter is a service that takes purchases, and a guard of them.
type counter struct {
	t      *testing.T
	guard  *confirm.Guard
	client *api.Client
	file   string
	answer http.HandlerFunc
	keys   []string // idempotency keys of what was sent
}

func newCounter(t *testing.T, answer http.HandlerFunc) *counter {
	t.Helper()
	s := &counter{t: t, answer: answer, file: filepath.Join(t.TempDir(), "confirms.jsonl")}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		log, err := os.ReadFile(s.file)
		if err != nil || !strings.Contains(string(log), `"stage":"sending"`) {
			t.Errorf("it is sent before it is written down: %s (%v)", log, err)
		}
		s.answer(w, r)
	})
	var err error
	s.client, err = api.New(api.Config{BaseURL: "https://" + tunnel, Key: api.NewSecret("key-of-the-till"), Transport: simulator.RoundTripper{Handler: handler}})
	if err != nil {
		t.Fatal(err)
	}
	s.open()
	return s
}

// open opens the audit log, as a new run does.
func (s *counter) open() {
	s.t.Helper()
	var err error
	s.guard, err = confirm.New(confirm.Config{Environments: []string{"simulator", tunnel}, AuditFile: s.file})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.guard.Close() })
}

// buys purchases an order, and holds the outcome and how often something was sent so far.
func (s *counter) buys(reference string, again bool, want confirm.Verdict, sent int) confirm.Outcome {
	s.t.Helper()
	body := fmt.Appendf(nil, `{"productUrl":"https://spice-lab.example/products/chili-crisp","quantity":2,"referenceId":%q,"constraints":{"maxTotalPrice":6000}}`, reference)
	o := confirm.ReadPurchase(body)
	o.Environment, o.Again, o.Request = tunnel, again, api.Request{Method: http.MethodPost, Path: "/api/v1/checkout-intents/purchase", Body: body}
	_, out := s.guard.Purchase(s.t.Context(), s.client, o)
	if out.Verdict != want || len(s.keys) != sent {
		s.t.Errorf("%s: %q (%v) after %d requests, want %q after %d", reference, out.Verdict, out.Err, len(s.keys), want, sent)
	}
	return out
}

func answersWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const chili = "https://spice-lab.example/products/chili-crisp"

const bought = `{"id":"ci_1","state":"retrieving_offer","createdAt":"2026-01-02T03:04:05Z","productUrl":"https://spice-lab.example/","quantity":2,"referenceId":"order-7"}`

func TestHowAPurchaseEnds(t *testing.T) {
	broken := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		verdict  confirm.Verdict
		proves   confirm.Purchase
		next     confirm.Verdict // of the same reference
		nextSent int
		unsure   bool // the next one: for want of this outcome
	}{
		"taken":                      {answersWith(201, bought), confirm.Accepted, confirm.Placed, confirm.Already, 1, false},
		"refused for what it says":   {answersWith(422, `{"name":"ValidateError","message":"","status":400,"fields":{}}`), confirm.Refused, confirm.NotPlaced, confirm.Refused, 2, false},
		"refused for the day":        {answersWith(429, `{"message":"limit of 50 checkout intents per day"}`), confirm.Refused, confirm.NotPlaced, confirm.Refused, 2, false},
		"a conflict":                 {answersWith(409, `{"name":"ConflictError","message":""}`), confirm.Unknown, confirm.Unproven, confirm.NotSent, 1, true},
		"an error of the service":    {answersWith(500, `{"name":"RuntimeError","message":""}`), confirm.Unknown, confirm.Unproven, confirm.NotSent, 1, true},
		"a broken connection":        {broken, confirm.Unknown, confirm.Unproven, confirm.NotSent, 1, true},
		"an answer that is none":     {answersWith(201, `{"ok":true}`), confirm.Unknown, confirm.Unproven, confirm.NotSent, 1, true},
		"an answer about another":    {answersWith(201, strings.Replace(bought, "order-7", "order-8", 1)), confirm.Unknown, confirm.Unproven, confirm.NotSent, 1, true},
		"a reference in other words": {answersWith(201, strings.Replace(bought, "order-7", " order-7 ", 1)), confirm.Accepted, confirm.Placed, confirm.Already, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newCounter(t, c.answer)
				out := s.buys("order-7", false, c.verdict, 1)
				if out.Proves() != c.proves || out.Attempt == "" {
					t.Errorf("it proves %v, as attempt %q", out.Proves(), out.Attempt)
				}
				s.open()
				if out := s.buys("order-7", false, c.next, c.nextSent); out.Unsettled != c.unsure {
					t.Errorf("the same again: unsettled %t, %v", out.Unsettled, out.Err)
				}
				if warned := strings.Join(s.guard.Warnings(), "\n"); strings.Contains(warned, "tillwatch order order-7") != c.unsure {
					t.Errorf("warned of %q", warned)
				}
				s.answer = answersWith(201, strings.Replace(bought, "order-7", "order-9", 1))
				s.buys("order-9", false, confirm.Accepted, c.nextSent+1)
			})
		})
	}
}

func TestAnUnknownPurchaseIsSentAgainOnlyWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCounter(t, answersWith(500, "{}"))
		s.buys("order-7", false, confirm.Unknown, 1)
		s.answer = answersWith(201, bought)
		s.buys("order-7", true, confirm.NotSent, 1) // it may still be on its way
		time.Sleep(5 * time.Minute)
		s.buys("order-7", false, confirm.NotSent, 1)
		s.buys("order-7", true, confirm.Accepted, 2)
		s.buys("order-7", false, confirm.Already, 2)
		s.buys("order-7", true, confirm.Accepted, 3)
		if s.keys[0] == "" || s.keys[0] != s.keys[1] || s.keys[1] != s.keys[2] {
			t.Errorf("the idempotency keys are %q", s.keys)
		}
	})
}

func TestAPurchaseAfterARefusalHasAnotherIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCounter(t, answersWith(422, `{"name":"ValidateError","message":"","status":400,"fields":{}}`))
		s.buys("order-7", false, confirm.Refused, 1)
		s.answer = answersWith(201, bought)
		s.buys("order-7", false, confirm.Accepted, 2)
		if s.keys[0] == "" || s.keys[1] == "" || s.keys[0] == s.keys[1] {
			t.Errorf("the idempotency keys are %q: the service would repeat its refusal", s.keys)
		}
	})
}

func TestAPurchaseWithoutItsAuditLogIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCounter(t, answersWith(201, bought))
		s.buys("", false, confirm.NotSent, 0)
		if err := os.Remove(s.file); err != nil {
			t.Fatal(err)
		}
		s.buys("order-7", false, confirm.NotSent, 0)
	})
}

func TestAPurchaseOfAnotherEnvironmentIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCounter(t, answersWith(201, bought))
		s.buys("order-7", false, confirm.Accepted, 1)
		body := []byte(`{"referenceId":"order-7"}`)
		o := confirm.ReadPurchase(body)
		o.Environment, o.Request = "staging", api.Request{Method: http.MethodPost, Path: "/api/v1/checkout-intents/purchase", Body: body}
		if _, out := s.guard.Purchase(t.Context(), s.client, o); out.Verdict != confirm.Accepted {
			t.Errorf("in staging: %q, %v", out.Verdict, out.Err)
		}
	})
}
