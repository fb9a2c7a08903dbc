package confirm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// guardOn opens a guard on an audit file, as another process would.
func guardOn(t *testing.T, s *service, file string) *confirm.Guard {
	t.Helper()
	g, err := confirm.New(confirm.Config{Service: s, Environments: []string{"simulator", tunnel}, AuditFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func TestGuardsOfOneAuditFileSendAnIntentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := filepath.Join(t.TempDir(), "confirms.jsonl")
		first, second := guardOn(t, s, file), guardOn(t, s, file)
		p := proposal(t, s.intent)
		inside, release := make(chan struct{}), make(chan struct{})
		ended := make(chan confirm.Outcome)
		go func() {
			ended <- first.Confirm(t.Context(), p, func(at confirm.Progress) {
				if at.Stage == confirm.Sending {
					close(inside)
					<-release
				}
			})
		}()
		<-inside
		out := second.Confirm(t.Context(), p, nil)
		var unsettled *confirm.UnsettledError
		if out.Verdict != confirm.NotSent || !errors.As(out.Err, &unsettled) || unsettled.Earlier.Intent != id || s.confirms != 0 {
			t.Errorf("while another process sends: %q, %v", out.Verdict, out.Err)
		}
		close(release)
		if out := <-ended; out.Verdict != confirm.Accepted || s.confirms != 1 {
			t.Errorf("the first ended as %q after %d sends", out.Verdict, s.confirms)
		}
	})
}

func TestManyGuardsThatRaceSendAnIntentOnce(t *testing.T) {
	s := &service{intent: awaiting()}
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	p := proposal(t, s.intent)
	var racing sync.WaitGroup
	var mu sync.Mutex
	verdicts := map[confirm.Verdict]int{}
	for range 8 {
		g := guardOn(t, s, file)
		racing.Go(func() {
			out := g.Confirm(t.Context(), p, nil)
			mu.Lock()
			defer mu.Unlock()
			verdicts[out.Verdict]++
		})
	}
	racing.Wait()
	if s.confirms != 1 || verdicts[confirm.Accepted] != 1 {
		t.Errorf("%d sends, verdicts %v", s.confirms, verdicts)
	}
	if lines := auditLines(t, file); len(lines) != 2 || lines[1].Verdict != confirm.Accepted || lines[1].Attempt != lines[0].Attempt {
		t.Errorf("the log holds %+v, want a send and one verdict", lines)
	}
}

// answeredLate lets others look before whoever sent a confirm learns the answer.
type answeredLate struct {
	*service
	meanwhile func()
}

func (s answeredLate) ConfirmIntent(ctx context.Context, id api.ID, body api.ConfirmIntent) (api.Intent, error) {
	answer, err := s.service.ConfirmIntent(ctx, id, body)
	s.meanwhile()
	return answer, err
}

func TestWhoeverLearnsFirstHowASendEndedRecordsIt(t *testing.T) {
	s := &service{intent: awaiting()}
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	p := proposal(t, s.intent)
	sender, err := confirm.New(confirm.Config{AuditFile: file, Environments: []string{"simulator"}, Service: answeredLate{s, func() {
		var looking sync.WaitGroup
		for range 4 {
			other := guardOn(t, s, file)
			looking.Go(func() {
				if out := other.Confirm(t.Context(), p, nil); out.Verdict != confirm.Already {
					t.Errorf("whoever looks meanwhile gets %q: %v", out.Verdict, out.Err)
				}
			})
		}
		looking.Wait()
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	out := sender.Confirm(t.Context(), p, nil)
	lines := auditLines(t, file)
	if out.Verdict != confirm.Accepted || len(lines) != 2 || lines[1].Verdict != confirm.Accepted || lines[1].Attempt != out.Attempt {
		t.Errorf("%q, and the log holds %+v, want a send and one verdict", out.Verdict, lines)
	}
}

func TestAnAttemptThatWasSentTwiceHasOneVerdict(t *testing.T) {
	s := &service{intent: awaiting()}
	s.intent.State = api.PlacingOrder
	file := sentAgo(t, time.Minute)
	sent, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(sent, sent...), 0o600) // refused for its rate, and sent again
	}
	if err != nil {
		t.Fatal(err)
	}
	now := s.intent
	now.Response.From = standIn()
	out := guardOn(t, s, file).Unsent(t.Context(), now, nil)
	if lines := auditLines(t, file); out.Unsettled || len(lines) != 3 || lines[2].Verdict != confirm.Accepted {
		t.Errorf("%+v, and the log holds %+v, want one verdict", out, lines)
	}
}

// An address has many spellings, and a service more than one address.
func TestWhatWasSentByAnotherAddressStandsInTheWay(t *testing.T) {
	s := &service{intent: awaiting(), from: api.Environment{Name: "localhost:4443", Live: true}}
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	sent := fmt.Sprintf(`{"at":%q,"environment":"127.0.0.1:4443","attempt":"A","intent":%q,"stage":"sending"}`+"\n", time.Now().Format(time.RFC3339Nano), id)
	if err := os.WriteFile(file, []byte(sent), 0o600); err != nil {
		t.Fatal(err)
	}
	p := proposal(t, s.intent)
	p.Environment, p.Live = "localhost:4443", true
	g, err := confirm.New(confirm.Config{Service: s, Environments: []string{"localhost:4443"}, AuditFile: file})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if out := g.Confirm(t.Context(), p, nil); out.Verdict != confirm.NotSent || !out.Unsettled || s.confirms != 0 {
		t.Errorf("%q after %d sends, %v", out.Verdict, s.confirms, out.Err)
	}
}

func TestAYesAfterWhichTheIntentStillAwaitsProvesNothing(t *testing.T) {
	for name, later := range map[string]struct {
		state   api.IntentState
		verdict confirm.Verdict
		proves  confirm.Purchase
	}{
		"for ever":       {api.AwaitingConfirmation, confirm.Unknown, confirm.Unproven},
		"and moves then": {api.PlacingOrder, confirm.Accepted, confirm.Placed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting(), taken: api.AwaitingConfirmation}
				g, _ := guard(t, s)
				s.onSend = func(s *service) error {
					s.onRead = func(s *service) error { s.intent.State = later.state; return nil }
					return nil
				}
				out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
				if out.Verdict != later.verdict || out.Proves() != later.proves || s.confirms != 1 {
					t.Errorf("%q after %d sends: %s", out.Verdict, s.confirms, out)
				}
			})
		})
	}
}

// stateless answers a confirm without a state.
type stateless struct{ *service }

func (s stateless) ConfirmIntent(ctx context.Context, id api.ID, body api.ConfirmIntent) (api.Intent, error) {
	in, err := s.service.ConfirmIntent(ctx, id, body)
	in.State = ""
	return in, err
}

func TestAYesWithoutAStateIsSettledByReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, err := confirm.New(confirm.Config{Service: stateless{s}, Environments: []string{"simulator"}, AuditFile: filepath.Join(t.TempDir(), "confirms.jsonl")})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
		if out.Verdict != confirm.Accepted || out.Intent.State != api.PlacingOrder || s.reads != 2 {
			t.Errorf("%q after %d reads: %s", out.Verdict, s.reads, out)
		}
	})
}

func TestWhatAStandInWasSentStandsInTheWayOfNothingElse(t *testing.T) {
	s := &service{intent: awaiting()}
	file := filepath.Join(t.TempDir(), "confirms.jsonl")
	sent := fmt.Sprintf(`{"at":%q,"environment":"production","attempt":"A","intent":%q,"stage":"sending"}`+"\n", time.Now().Format(time.RFC3339Nano), id)
	if err := os.WriteFile(file, []byte(sent), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := guardOn(t, s, file).Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Accepted {
		t.Errorf("%q, %v", out.Verdict, out.Err)
	}
}

func TestARefusalOfADoubledRequestIsNoFailure(t *testing.T) {
	for name, refusal := range map[string]*api.Error{
		"not found":         {Status: 404},
		"a conflict":        {Status: 409},
		"not understood":    {Status: 422},
		"the agents cap":    {Status: 429, Message: "limit of 10 running agents"},
		"the second's rate": {Status: 429, Message: "Too many requests per second"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				s.onSend = func(s *service) error {
					s.intent.State = api.PlacingOrder // the first of two took effect
					return refusal
				}
				g, _ := guard(t, s)
				out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
				if out.Verdict != confirm.Overtaken || !strings.Contains(out.String(), "placing order") || s.confirms != 1 {
					t.Errorf("%q, %q after %d sends", out.Verdict, out, s.confirms)
				}
			})
		})
	}
}

func TestARefusalThatNoReadBearsOutIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		s.onSend = func(s *service) error {
			s.onRead = func(*service) error { return &lostAnswer{} }
			return &api.Error{Status: 404}
		}
		g, _ := guard(t, s)
		if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.Unknown {
			t.Errorf("%q, %v", out.Verdict, out.Err)
		}
	})
}

func TestAnExpiredIntentWasNotPlacedWhateverItCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		s.onSend = func(s *service) error {
			s.intent.State, s.intent.Payment = api.Failed, &api.PaymentMethod{Type: api.Drawdown}
			s.intent.Failure = &api.FailureReason{Code: "checkout_intent_expired"}
			return &lostAnswer{}
		}
		g, _ := guard(t, s)
		if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != confirm.NotConfirmable {
			t.Errorf("%q, %v", out.Verdict, out.Err)
		}
	})
}
