package confirm_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

const id = api.ID("ci_779d1ba1900f41e1ace4536c64382ed7")

// service answers as its functions say and keeps what it was asked.
type service struct {
	mu       sync.Mutex
	intent   api.Intent
	reads    int
	confirms int
	onRead   func(s *service) error
	onSend   func(s *service) error
	taken    api.IntentState // of the intent after a yes; placing where it is ""
	from     api.Environment // what answers reads; the stand-in where it is zero
	date     time.Time       // of its clock when the test began; zero: its answers do not say
	began    time.Time
	body     api.ConfirmIntent // that was sent last
}

// tunnel is the name of what leads to the service.
const tunnel = "127.0.0.1:7420"

func standIn() api.Environment { return api.Environment{Name: "simulator", StandIn: true} }

func (s *service) Intent(ctx context.Context, id api.ID) (api.Intent, error) {
	sent := time.Now()
	in, err := s.read(ctx)
	in.Response = api.Response{Sent: sent, From: s.answerer()}
	if !s.date.IsZero() {
		in.Response.Date = s.date.Add(sent.Sub(s.began))
	}
	return in, err
}

func (s *service) answerer() api.Environment {
	if s.from.Name == "" {
		return standIn()
	}
	return s.from
}

func (s *service) read(ctx context.Context) (api.Intent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.onRead != nil {
		if err := s.onRead(s); err != nil {
			return api.Intent{}, err
		}
	}
	return s.intent, ctx.Err()
}

func (s *service) ConfirmIntent(_ context.Context, _ api.ID, body api.ConfirmIntent) (api.Intent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirms++
	s.body = body
	if s.onSend != nil {
		if err := s.onSend(s); err != nil {
			return api.Intent{}, err
		}
	}
	s.intent.State = cmp.Or(s.taken, api.PlacingOrder)
	answer := s.intent
	answer.Response.From = s.answerer()
	return answer, nil
}

func awaiting() api.Intent {
	total := api.Money{Currency: "USD", Subunits: 4452}
	return api.Intent{
		ID: id, State: api.AwaitingConfirmation, Quantity: 1, CreatedAt: time.Now().Add(-time.Minute),
		ProductURL: "https://spice-lab.example/products/chili-crisp",
		Offer:      &api.Offer{ProductTitle: "Chili Crisp", Cost: api.Cost{Subtotal: &total, Total: &total}},
	}
}

func proposal(t *testing.T, in api.Intent) confirm.Proposal {
	t.Helper()
	p, err := confirm.Propose(&in, standIn(), api.ConfirmWindow)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func guard(t *testing.T, s *service) (*confirm.Guard, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state", "confirms.jsonl")
	g, err := confirm.New(confirm.Config{Service: s, Environments: []string{"simulator", tunnel}, AuditFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, file
}

func auditLines(t *testing.T, file string) []confirm.Line {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []confirm.Line
	for decoder := json.NewDecoder(strings.NewReader(string(raw))); ; {
		var line confirm.Line
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

func TestAnOrderThatCostsAnotherTotalThanWasSeenSaysSo(t *testing.T) {
	costs := func(in *api.Intent, subunits int64) {
		total := api.Money{Currency: "USD", Subunits: subunits}
		in.Offer = &api.Offer{ProductTitle: "Chili Crisp", Cost: api.Cost{Subtotal: in.Offer.Cost.Subtotal, Total: &total}}
	}
	for _, c := range []struct {
		name   string
		answer func(in *api.Intent)
		want   []confirm.Difference
	}{
		{"the same", func(*api.Intent) {}, nil},
		{"another total", func(in *api.Intent) { costs(in, 999900) }, []confirm.Difference{{What: "total", Seen: "44.52 USD", Now: "9999.00 USD"}}},
		{"an answer without an offer", func(in *api.Intent) { in.Offer = nil }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &service{intent: awaiting()}
			g, file := guard(t, s)
			s.onSend = func(s *service) error { c.answer(&s.intent); return nil }
			out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
			if out.Verdict != confirm.Accepted || !slices.Equal(out.Differences, c.want) {
				t.Errorf("%s with differences %v, want accepted with %v", out.Verdict, out.Differences, c.want)
			}
			lines := auditLines(t, file)
			if logged := lines[len(lines)-1].Detail; len(c.want) > 0 && !strings.Contains(logged, c.want[0].Now) {
				t.Errorf("the audit log says %q, without the total", logged)
			}
		})
	}
}

func TestConfirmVerdicts(t *testing.T) {
	lost := &lostAnswer{}
	cases := []struct {
		name     string
		arrange  func(s *service)
		verdict  confirm.Verdict
		confirms int
	}{
		{"an unchanged intent is accepted", func(*service) {}, confirm.Accepted, 1},
		{"a changed total is refused before anything is sent", func(s *service) {
			more := api.Money{Currency: "USD", Subunits: 4453}
			s.intent.Offer = &api.Offer{ProductTitle: "Chili Crisp", Cost: api.Cost{Subtotal: s.intent.Offer.Cost.Subtotal, Total: &more}}
		}, confirm.Changed, 0},
		{"a tax that appeared is a change although the total is the same", func(s *service) {
			tax := api.Money{Currency: "USD"}
			cost := s.intent.Offer.Cost
			cost.Tax = &tax
			s.intent.Offer = &api.Offer{ProductTitle: "Chili Crisp", Cost: cost}
		}, confirm.Changed, 0},
		{"another quantity is a change", func(s *service) { s.intent.Quantity = 2 }, confirm.Changed, 0},
		{"an intent that is being placed is confirmed already", func(s *service) { s.intent.State = api.PlacingOrder }, confirm.Already, 0},
		{"an intent that failed is not confirmable", func(s *service) { s.intent.State = api.Failed }, confirm.NotConfirmable, 0},
		{"a reread that fails sends nothing", func(s *service) {
			s.onRead = func(*service) error { return &api.Error{Status: 500} }
		}, confirm.NotSent, 0},
		{"not found on confirm means not confirmable now", func(s *service) {
			s.onSend = func(*service) error { return &api.Error{Status: 404} }
		}, confirm.NotConfirmable, 1},
		{"a conflict on confirm means not confirmable now", func(s *service) {
			s.onSend = func(*service) error { return &api.Error{Status: 409} }
		}, confirm.NotConfirmable, 1},
		{"a validation error is a refusal", func(s *service) {
			s.onSend = func(*service) error { return &api.Error{Status: 422} }
		}, confirm.Refused, 1},
		{"the agents cap is a refusal and is not retried", func(s *service) {
			s.onSend = func(*service) error {
				return &api.Error{Status: 429, Message: "Limit of 10 running agents reached"}
			}
		}, confirm.Refused, 1},
		{"a confirm that never left was not sent", func(s *service) {
			s.onSend = func(*service) error { return errNeverLeft }
		}, confirm.NotSent, 1},
		{"a lost answer of a taken confirm settles as accepted", func(s *service) {
			s.onSend = func(s *service) error { s.intent.State = api.PlacingOrder; return lost }
		}, confirm.Accepted, 1},
		{"a server error of a taken confirm settles as accepted", func(s *service) {
			s.onSend = func(s *service) error { s.intent.State = api.Completed; return &api.Error{Status: 500} }
		}, confirm.Accepted, 1},
		{"a lost answer of a confirm that was never taken settles as not taken, and is not sent again", func(s *service) {
			s.onSend = func(*service) error { return lost }
		}, confirm.NotTaken, 1},
		{"an intent that expired instead was not placed", func(s *service) {
			s.onSend = func(s *service) error {
				s.intent.State = api.Failed
				s.intent.Failure = &api.FailureReason{Code: "checkout_intent_expired"}
				return lost
			}
		}, confirm.NotConfirmable, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				g, file := guard(t, s)
				p := proposal(t, s.intent)
				c.arrange(s)
				out := g.Confirm(t.Context(), p, nil)
				if out.Verdict != c.verdict {
					t.Errorf("verdict %q, want %q (%v)", out.Verdict, c.verdict, out.Err)
				}
				if s.confirms != c.confirms {
					t.Errorf("sent %d confirms, want %d", s.confirms, c.confirms)
				}
				lines := slices.DeleteFunc(auditLines(t, file), func(l confirm.Line) bool { return l.Stage == confirm.Answered })
				if len(lines) != 2*c.confirms {
					t.Fatalf("audit log has %d lines, want one before and one after each send", len(lines))
				}
				if c.confirms > 0 && (lines[0].Stage != confirm.Sending || lines[0].Total != "44.52 USD" || lines[1].Verdict != c.verdict) {
					t.Errorf("audit log says %+v", lines)
				}
			})
		})
	}
}

// errNeverLeft stands for what a client returns before anything was written.
var errNeverLeft = &api.TransportError{Err: errors.New("connection refused")}

// lostAnswer is what a client returns when a request went out and no answer
// came.
type lostAnswer struct{}

func (*lostAnswer) Error() string   { return "the answer was lost" }
func (*lostAnswer) Timeout() bool   { return true }
func (*lostAnswer) Temporary() bool { return true }

func TestAPerSecondRefusalIsSentAgainAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		s.onSend = func(s *service) error {
			if s.confirms < 3 {
				return &api.Error{Status: 429, Message: "Too many requests per second", RetryAfter: 2 * time.Second}
			}
			return nil
		}
		g, _ := guard(t, s)
		begin := time.Now()
		out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
		if out.Verdict != confirm.Accepted || s.confirms != 3 || s.reads != 3+2 {
			t.Errorf("%q after %d confirms and %d reads; want accepted after 3 sends, a read before each and after each refusal", out.Verdict, s.confirms, s.reads)
		}
		if waited := time.Since(begin); waited < 4*time.Second {
			t.Errorf("waited %v, less than was asked for", waited)
		}
	})
}

func TestErrorsOfAConfirmCannotRepeatTheTokenOfItsIntent(t *testing.T) {
	s := &service{intent: awaiting()}
	s.intent.Payment = &api.PaymentMethod{Type: api.VaultToken, Token: api.NewSecret("tok_of_the_test")}
	g, _ := guard(t, s)
	if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted || !s.body.Hidden.Equal(s.intent.Payment.Token) {
		t.Errorf("%q; hidden is the token: %t", out.Verdict, s.body.Hidden.Equal(s.intent.Payment.Token))
	}
}

func TestTwoConfirmsOfOneIntentSendOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, _ := guard(t, s)
		p := proposal(t, s.intent)
		inside, release := make(chan struct{}), make(chan struct{})
		first := make(chan confirm.Outcome)
		go func() {
			first <- g.Confirm(t.Context(), p, func(at confirm.Progress) {
				if at.Stage == confirm.Sending {
					close(inside)
					<-release
				}
			})
		}()
		<-inside
		if second := g.Confirm(t.Context(), p, nil); second.Verdict != confirm.NotSent {
			t.Errorf("a second confirm beside the first ended as %q", second.Verdict)
		}
		close(release)
		if out := <-first; out.Verdict != confirm.Accepted || s.confirms != 1 {
			t.Errorf("%q after %d sends", out.Verdict, s.confirms)
		}
		if third := g.Confirm(t.Context(), p, nil); third.Verdict != confirm.Already || s.confirms != 1 {
			t.Errorf("a third confirm ended as %q after %d sends", third.Verdict, s.confirms)
		}
	})
}

func TestAProposalOfAnotherEnvironmentIsNotSent(t *testing.T) {
	s := &service{intent: awaiting()}
	g, _ := guard(t, s)
	p := proposal(t, s.intent)
	p.Environment = "production"
	if out := g.Confirm(t.Context(), p, nil); out.Verdict != confirm.NotSent || s.reads+s.confirms != 0 {
		t.Errorf("%q after %d reads and %d confirms", out.Verdict, s.reads, s.confirms)
	}
}

func TestWithoutAnAuditLineNothingIsSent(t *testing.T) {
	s := &service{intent: awaiting()}
	g, _ := guard(t, s)
	g.Close() // a log that can no longer be written
	if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.NotSent || s.confirms != 0 {
		t.Errorf("%q after %d confirms", out.Verdict, s.confirms)
	}
}

func TestTheNextRunNamesConfirmsWithoutAVerdict(t *testing.T) {
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	log := strings.ReplaceAll(`{E"attempt":"A","intent":"ci_1","stage":"sending"}
{E"attempt":"A","intent":"ci_1","verdict":"accepted"}
{E"attempt":"B","intent":"ci_2","stage":"sending","total":"44.52 USD"}
not a line
{E"attempt":"C","intent":"ci_3","stage":"sending"}
{E"attempt":"C","intent":"ci_3","verdict":"unknown"}
{"environment":"production","attempt":"F","intent":"ci_5","stage":"sending"}
{E"attempt":"D","intent":"ci_4","sta`, "E", `"environment":"simulator",`)
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	longAgo := time.Now().Add(-48 * time.Hour) // what cannot be read hides nothing that matters
	if err := os.Chtimes(file, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	s := &service{intent: awaiting()}
	g, err := confirm.New(confirm.Config{Service: s, Environments: []string{"simulator", tunnel}, AuditFile: file})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var ids []api.ID
	for _, a := range confirm.NewHistory(file, []string{"simulator"}).Read() {
		if a.Open() {
			ids = append(ids, a.Sent.Intent)
		}
	}
	if len(ids) != 2 || ids[0] != "ci_2" || ids[1] != "ci_3" {
		t.Errorf("unsettled %v, want ci_2 and ci_3", ids)
	}
	if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted {
		t.Fatal(out)
	}
	raw, _ := os.ReadFile(file)
	if lines := strings.Split(strings.TrimSpace(string(raw)), "\n"); len(lines) != 9 || !strings.Contains(lines[7], `"stage":"sending"`) {
		t.Errorf("a new line was glued to the torn one:\n%s", raw)
	}
}

func TestProposeRefusesWhatNobodyCanSayYesTo(t *testing.T) {
	placing, unpriced := awaiting(), awaiting()
	placing.State = api.PlacingOrder
	unpriced.Offer = nil
	for name, in := range map[string]*api.Intent{"never read": nil, "placing": &placing, "without a total": &unpriced} {
		if _, err := confirm.Propose(in, standIn(), api.ConfirmWindow); err == nil {
			t.Errorf("%s: proposed", name)
		}
	}
}

func TestANegativeTotalIsNothingToSayYesTo(t *testing.T) {
	in := awaiting()
	in.Offer.Cost.Total = &api.Money{Currency: "USD", Subunits: -5}
	if _, err := confirm.Propose(&in, standIn(), api.ConfirmWindow); err == nil || !strings.Contains(err.Error(), "-0.05 USD") {
		t.Errorf("proposed, %v", err)
	}
}
