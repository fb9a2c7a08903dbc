package confirm_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/simulator"
)

func theService() api.Environment { return api.Environment{Name: tunnel, Live: true} }

func TestOnlyWhereItWasSeenIsAnythingSent(t *testing.T) {
	cases := []struct {
		name      string
		seen, now api.Environment
		verdict   confirm.Verdict
		standIn   bool // the confirm is for a stand-in alone
	}{
		{"a stand-in", standIn(), standIn(), confirm.Accepted, true},
		{"the service", theService(), theService(), confirm.Accepted, false},
		{"a stand-in, and then the service", standIn(), theService(), confirm.NotSent, false},
		{"the service, and then a stand-in", theService(), standIn(), confirm.NotSent, false},
		{"the service, guarded as a stand-in", api.Environment{Name: tunnel}, theService(), confirm.NotSent, false},
		{"before anybody answered", api.Environment{Name: "unknown", Live: true}, standIn(), confirm.NotSent, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &service{intent: awaiting(), from: c.now}
			g, _ := guard(t, s)
			p, err := confirm.Propose(&s.intent, c.seen, api.ConfirmWindow)
			if err != nil {
				t.Fatal(err)
			}
			out := g.Confirm(t.Context(), p, nil)
			if out.Verdict != c.verdict || (s.confirms == 1) != (c.verdict == confirm.Accepted) || s.body.StandIn != c.standIn {
				t.Errorf("%q after %d sends, for a stand-in alone %t: %v", out.Verdict, s.confirms, s.body.StandIn, out.Err)
			}
			if out.Verdict == confirm.NotSent && !strings.Contains(out.String(), "look at it again") {
				t.Errorf("it says %q", out)
			}
		})
	}
}

func TestWhatAnotherServiceAnswersSettlesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, _ := guard(t, s)
		p := proposal(t, s.intent)
		s.onSend = func(s *service) error {
			s.from, s.intent.State = theService(), api.PlacingOrder
			return &lostAnswer{}
		}
		if out := g.Confirm(t.Context(), p, nil); out.Verdict != confirm.Unknown {
			t.Errorf("%q: %v", out.Verdict, out.Err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting(), from: theService()}
		file := sentAgo(t, time.Hour) // to a stand-in
		if settle(t, s, file, time.Hour); recorded(t, file) != "" {
			t.Errorf("what was sent to a stand-in is settled by the service: %q", recorded(t, file))
		}
	})
}

func TestAYesFromAnotherServiceIsSettledByReading(t *testing.T) {
	for name, c := range map[string]struct {
		seen, sent api.Environment
		back       bool // the first one answers again
		verdict    confirm.Verdict
	}{
		"the service, and then a stand-in":           {theService(), standIn(), false, confirm.Unknown},
		"the service, a stand-in, and it again":      {theService(), standIn(), true, confirm.Accepted},
		"a stand-in, and then the service":           {standIn(), theService(), false, confirm.Unknown},
		"a stand-in, the service, and it again":      {standIn(), theService(), true, confirm.Accepted},
		"a stand-in, and a program that says so":     {standIn(), api.Environment{Name: tunnel}, false, confirm.Unknown},
		"the service, guarded as another afterwards": {theService(), api.Environment{Name: tunnel}, false, confirm.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting(), from: c.seen}
				var shown []api.Environment // as the answer to the confirm
				g, err := confirm.New(confirm.Config{
					Service: s, Environments: []string{"simulator", tunnel}, AuditFile: filepath.Join(t.TempDir(), "confirms.jsonl"),
					Read: func(in api.Intent, _ time.Time, confirmed bool) {
						if confirmed {
							shown = append(shown, in.Response.From)
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				p, err := confirm.Propose(&s.intent, c.seen, api.ConfirmWindow)
				if err != nil {
					t.Fatal(err)
				}
				s.onSend = func(s *service) error {
					s.from = c.sent
					s.onRead = func(s *service) error {
						if c.back {
							s.from = c.seen
						}
						return nil
					}
					return nil
				}
				out := g.Confirm(t.Context(), p, nil)
				if out.Verdict != c.verdict || s.confirms != 1 || len(shown) > 0 {
					t.Errorf("%q after %d sends, shown as answered by %v: %v", out.Verdict, s.confirms, shown, out.Err)
				}
			})
		})
	}
}

func TestASecondSendGoesNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, _ := guard(t, s)
		p := proposal(t, s.intent)
		s.onSend = func(s *service) error {
			s.from = theService()
			return &api.Error{Status: 429, Message: "Too many requests per second"}
		}
		if out := g.Confirm(t.Context(), p, nil); out.Verdict != confirm.Unknown || s.confirms != 1 {
			t.Errorf("%q after %d sends: %v", out.Verdict, s.confirms, out.Err)
		}
	})
}

// junction sends reads to a stand-in and all else to the service, as a tunnel does
// that took over an address between the two.
type junction struct{ standIn, service http.Handler }

func (j junction) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return simulator.RoundTripper{Handler: j.standIn}.RoundTrip(r)
	}
	return simulator.RoundTripper{Handler: j.service}.RoundTrip(r)
}

func TestAConfirmThatReachesTheServiceThoughAStandInWasReadBuysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := api.NewSecret(keyOfAll)
		open := func() (s *simulator.Simulator, id string) {
			s, err := simulator.New(simulator.Config{Key: key, Seed: 1, History: -1, AutoConfirm: -1})
			if err != nil {
				t.Fatal(err)
			}
			id = made(t, s, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp", State: api.AwaitingConfirmation})
			return s, id
		}
		standIn, id := open()
		behind, same := open() // the service knows an intent of the same id, at the worst
		if id != same {
			t.Fatalf("%s and %s", id, same)
		}
		confirms := 0
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			confirms++
			if r.Header.Get("Authorization") != "Bearer "+key.Reveal() {
				w.WriteHeader(http.StatusUnauthorized) // whatever else it may be
				return
			}
			behind.Handler().ServeHTTP(httptest.NewRecorder(), r)
		})
		client, err := api.New(api.Config{BaseURL: "http://127.0.0.1:7420", Key: key, Transport: junction{standIn.Handler(), service}})
		if err != nil {
			t.Fatal(err)
		}
		in, err := client.Intent(t.Context(), api.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		p, err := confirm.Propose(&in, in.Response.From, api.ConfirmWindow)
		if err != nil || p.Live {
			t.Fatalf("live is %t: %v", p.Live, err)
		}
		g, err := confirm.New(confirm.Config{Service: client, Environments: client.Environments(), AuditFile: filepath.Join(t.TempDir(), "confirms.jsonl")})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		out := g.Confirm(t.Context(), p, nil)
		if confirms == 0 || ordersOf(t, behind, id) != 0 || out.Proves() == confirm.Placed {
			t.Errorf("%d orders after %d confirms: %s", ordersOf(t, behind, id), confirms, out)
		}
	})
}
