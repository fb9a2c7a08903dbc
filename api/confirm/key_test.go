package confirm_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/simulator"
)

// till is a stand-in that remembers failures under their key, with one intent and the keys of its confirms.
type till struct {
	*testing.T
	sim    *simulator.Simulator
	client *api.Client
	id     api.ID
	keys   []string
	file   string
}

func newTill(t *testing.T) *till {
	s := &till{T: t, file: filepath.Join(t.TempDir(), "confirms.jsonl")}
	key := api.NewSecret(keyOfAll)
	var err error
	if s.sim, err = simulator.New(simulator.Config{Key: key, Seed: 1, History: -1, AutoConfirm: -1, RememberFailures: true}); err != nil {
		t.Fatal(err)
	}
	id := made(t, s.sim, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp", State: api.AwaitingConfirmation})
	s.id = api.ID(id)
	observed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/confirm") {
			s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		}
		s.sim.Handler().ServeHTTP(w, r)
	})
	s.client, err = api.New(api.Config{BaseURL: "http://127.0.0.1:7420", Key: key, Transport: simulator.RoundTripper{Handler: observed}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fail has the next confirms answered with a status.
func (s *till) fail(fault string) {
	s.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1:7420/control/faults", strings.NewReader(fault))
	r.Header.Set("Authorization", "Bearer "+keyOfAll)
	w := httptest.NewRecorder()
	if s.sim.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
		s.Fatal(w.Body)
	}
}

// run is another run of tillwatch on this machine.
func (s *till) run() *confirm.Guard {
	s.Helper()
	g, err := confirm.New(confirm.Config{Service: s.client, Environments: s.client.Environments(), AuditFile: s.file})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { g.Close() })
	return g
}

// consent is a person's yes to what is read now.
func (s *till) consent(g *confirm.Guard) confirm.Outcome {
	s.Helper()
	in, err := s.client.Intent(s.Context(), s.id)
	if err != nil {
		s.Fatal(err)
	}
	p, err := confirm.Propose(&in, in.Response.From, api.ConfirmWindow)
	if err != nil {
		s.Fatal(err)
	}
	return g.Confirm(s.Context(), p, nil)
}

func TestAConfirmAfterOneThatWasNotTakenIsNoRepetitionOfIt(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		first       confirm.Verdict
		restart     bool
	}{
		{"an error of the service", `{"status":500,"method":"POST"}`, confirm.NotTaken, false},
		{"an error of the service, and a restart", `{"status":500,"method":"POST"}`, confirm.NotTaken, true},
		{"a refused payment", `{"status":402,"method":"POST"}`, confirm.Refused, false},
		{"a refused payment, and a restart", `{"status":402,"method":"POST"}`, confirm.Refused, true},
		{"not confirmable then", `{"status":404,"method":"POST"}`, confirm.NotConfirmable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTill(t)
				g := s.run()
				for range 2 { // each is new, not only the first
					s.fail(c.fault)
					if out := s.consent(g); out.Verdict != c.first {
						t.Fatalf("the first is %s", out)
					}
					if c.restart {
						g = s.run()
					}
					time.Sleep(time.Minute)
				}
				out := s.consent(g)
				if out.Verdict != confirm.Accepted || ordersOf(t, s.sim, string(s.id)) != 1 {
					t.Errorf("%d orders: %s", ordersOf(t, s.sim, string(s.id)), out)
				}
				if len(s.keys) != 3 || s.keys[0] == s.keys[1] || s.keys[1] == s.keys[2] || s.keys[0] == s.keys[2] {
					t.Errorf("the keys are %q", s.keys)
				}
			})
		})
	}
}

func TestRepetitionsOfAConfirmCarryItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTill(t)
		s.fail(`{"status":500,"method":"POST"}`)
		if out := s.consent(s.run()); out.Verdict != confirm.NotTaken {
			t.Fatal(out)
		}
		time.Sleep(time.Minute)
		s.fail(`{"status":429,"count":3,"method":"POST"}`) // each send is repeated
		if out := s.consent(s.run()); out.Verdict != confirm.Accepted {
			t.Fatal(out)
		}
		if len(s.keys) != 5 {
			t.Fatalf("%d were sent", len(s.keys))
		}
		for i, key := range s.keys[1:] {
			if key == s.keys[0] || key != s.keys[1] {
				t.Errorf("send %d carries %q, of %q", i+1, key, s.keys)
			}
		}
	})
}

func TestWithoutItsAuditLogAConfirmOfUnknownOutcomeKeepsItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTill(t)
		s.fail(`{"status":500,"method":"POST"}`)
		s.consent(s.run())
		s.file = filepath.Join(t.TempDir(), "of-another-machine.jsonl")
		out := s.consent(s.run())
		if len(s.keys) != 2 || s.keys[0] != s.keys[1] || ordersOf(t, s.sim, string(s.id)) != 0 {
			t.Errorf("%d orders after the keys %q: %s", ordersOf(t, s.sim, string(s.id)), s.keys, out)
		}
	})
}

func TestTheAuditLogTellsWhatTheKeyIsDerivedFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTill(t)
		s.fail(`{"status":402,"method":"POST"}`)
		first := s.consent(s.run())
		s.consent(s.run())
		sent := []confirm.Line{}
		for _, line := range auditLines(t, s.file) {
			if line.Stage == confirm.Sending {
				sent = append(sent, line)
			}
		}
		if len(sent) != 2 || sent[0].After != "" || sent[1].After != first.Attempt {
			t.Errorf("%+v", sent)
		}
	})
}

// control makes a request to the control API of a stand-in and returns its answer.
func control(t testing.TB, of *simulator.Simulator, method, path string, body any) gjson.Result {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "/control/"+path, bytes.NewReader(sent))
	r.Header.Set("Authorization", "Bearer "+keyOfAll)
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

// keyOfAll is the key of all stand-ins.
const keyOfAll = "key-of-the-test"
