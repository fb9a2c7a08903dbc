package confirm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
)

// way is how a POST goes out: what happens while it waits for quota, before it is written, and after its answer.
// Each is given the audit log's file and may be nil.
type way struct {
	simulator.RoundTripper
	audit                   string
	waiting, before, behind func(audit string)
	sent                    int
}

func (w *way) Acquire(_ context.Context, class quota.Class) (quota.Permit, error) {
	w.call(w.waiting, class != quota.Reads)
	return quota.Permit{}, nil
}

func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	post := r.Method == http.MethodPost
	if post {
		w.sent++
	}
	w.call(w.before, post)
	answer, err := w.RoundTripper.RoundTrip(r)
	w.call(w.behind, post)
	return answer, err
}

func (w *way) call(what func(audit string), post bool) {
	if post && what != nil {
		what(w.audit)
	}
}

// sendOne sends a request of a kind by a way, and returns how it ended.
func sendOne(t *testing.T, kind string, w *way) (out confirm.Outcome) {
	t.Helper()
	key := api.NewSecret(keyOfAll)
	service, err := simulator.New(simulator.Config{Key: key, Seed: 1, History: -1, AutoConfirm: -1})
	if err != nil {
		t.Fatal(err)
	}
	w.Handler, w.audit = service.Handler(), filepath.Join(t.TempDir(), "confirms.jsonl")
	client, err := api.New(api.Config{BaseURL: "http://127.0.0.1:7420", Key: key, Transport: w, Pacer: w})
	if err != nil {
		t.Fatal(err)
	}
	g, err := confirm.New(confirm.Config{Service: client, Environments: client.Environments(), AuditFile: w.audit})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if kind == "confirm" {
		id := made(t, service, simulator.Order{ProductURL: chili, State: api.AwaitingConfirmation})
		in, err := client.Intent(t.Context(), api.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		p, err := confirm.Propose(&in, in.Response.From, api.ConfirmWindow)
		if err != nil {
			t.Fatal(err)
		}
		return g.Confirm(t.Context(), p, nil)
	}
	body := fmt.Appendf(nil, `{"productUrl":%q,"quantity":2,"referenceId":"order-7","paymentMethod":{"type":"drawdown"},"buyer":{"firstName":"Ada",`+
		`"lastName":"L","email":"ada@example.com","phone":"+14155550100","address1":"1 Main St","city":"Oakland","province":"CA","postalCode":"94607","country":"US"}}`, chili)
	o := confirm.ReadPurchase(body)
	o.Environment = "simulator"
	o.Request = api.Request{Method: http.MethodPost, Path: "/api/v1/checkout-intents/purchase", Body: body, StandIn: true}
	_, ended := g.Purchase(t.Context(), client, o)
	return ended
}

// conclude records in an audit log what another process concluded about the only attempt in it.
func conclude(t *testing.T, audit string) {
	t.Helper()
	line := auditLines(t, audit)[0]
	line.Stage, line.Verdict = "", confirm.NotTaken
	raw, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(audit, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(raw, '\n')); err != nil {
		t.Fatal(err)
	}
}

// forEachKind runs a test for each kind of request that may cost money.
func forEachKind(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{"confirm", "purchase"} {
		t.Run(kind, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, kind) }) })
	}
}

// A process can be suspended, and the machine sleep, while a request waits for quota. Timers do not notice that.
func TestWhatOthersConcludedIsNotTakenIsNotSentAnyMore(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		w := &way{waiting: func(audit string) { conclude(t, audit) }}
		out := sendOne(t, kind, w)
		if w.sent != 0 || out.Verdict != confirm.NotSent || !out.Unsettled {
			t.Errorf("%d requests went out, and it ended as %q, unsettled %t: %v", w.sent, out.Verdict, out.Unsettled, out.Err)
		}
	})
}

func TestNobodyConcludesAnythingBetweenTheLastLookAndTheRequest(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		open := func(audit string) error {
			g, err := confirm.New(confirm.Config{Environments: []string{"simulator"}, AuditFile: audit})
			if err == nil {
				err = g.Close()
			}
			return err
		}
		w := &way{
			before: func(audit string) {
				link := filepath.Join(t.TempDir(), "confirms.jsonl")
				if err := os.Symlink(audit, link); err != nil {
					t.Skip("no symlinks here: ", err)
				}
				for _, path := range []string{audit, link} {
					if err := open(path); err == nil || !strings.Contains(err.Error(), "is one suspended?") {
						t.Errorf("before the request is written, another process can look at the log by %s: %v", path, err)
					}
				}
			},
			behind: func(audit string) {
				if err := open(audit); err != nil {
					t.Errorf("once the request was written: %v", err)
				}
			},
		}
		if out := sendOne(t, kind, w); w.sent != 1 || out.Verdict != confirm.Accepted {
			t.Errorf("%d requests went out, and it ended as %q: %v", w.sent, out.Verdict, out.Err)
		}
	})
}
