package confirm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// answers are what can come back of a confirm that went out.
func answers() map[string]error {
	status := func(code int, message api.Text) error { return &api.Error{Status: code, Message: message} }
	return map[string]error{
		"no answer":                  &lostAnswer{},
		"a broken connection":        &api.TransportError{MaybeSent: true, Err: errors.New("connection reset by peer")},
		"an unreadable success":      &api.UnreadableError{Status: 200, Err: errors.New("unexpected end of JSON input")},
		"a redirect":                 status(307, ""),
		"not understood":             status(400, "bad request"),
		"the key refused":            status(401, "Invalid API key"),
		"payment required":           status(402, ""),
		"forbidden":                  status(403, ""),
		"not found":                  status(404, "Checkout intent not found"),
		"a timeout of a gateway":     status(408, ""),
		"a conflict":                 status(409, "Checkout intent is not awaiting confirmation"),
		"invalid":                    status(422, ""),
		"the agents cap":             status(429, "You have reached the limit of 10 running agents"),
		"the daily limit":            status(429, "You have reached the limit of 50 checkout intents per day"),
		"the per-second limit":       status(429, "Too many requests per second"),
		"an error of the service":    status(500, "Internal server error"),
		"an error of a gateway":      status(502, ""),
		"a gateway that cannot wait": status(504, ""),
	}
}

// later is where an intent stands after a confirm of it went out.
type later struct {
	name   string
	read   func(s *service, since time.Duration) error // how it is read, since so long after it was first sent
	placed bool                                        // there is an order of it, or there will be
	never  bool                                        // there is none, and reads can prove it
}

// At no time may a script be told that nothing was placed where something was.
func laters() []later {
	becomes := func(state api.IntentState, after time.Duration) func(*service, time.Duration) error {
		return func(s *service, since time.Duration) error {
			if since >= after {
				s.intent.State = state
			}
			return nil
		}
	}
	fails := func(err error) func(*service, time.Duration) error {
		return func(*service, time.Duration) error { return err }
	}
	return []later{
		{name: "placing at once", read: becomes(api.PlacingOrder, 0), placed: true},
		{name: "completed at once", read: becomes(api.Completed, 0), placed: true},
		{name: "placing, which a first read does not show yet", read: becomes(api.PlacingOrder, time.Second), placed: true},
		{name: "placing, held on its way for 100 s", read: becomes(api.PlacingOrder, 100*time.Second), placed: true},
		{name: "the order failed", read: func(s *service, _ time.Duration) error {
			s.intent.State, s.intent.Failure = api.Failed, &api.FailureReason{Code: "payment_failed"}
			return nil
		}, never: true},
		{name: "expired", read: func(s *service, _ time.Duration) error { expire(&s.intent); return nil }, never: true},
		{name: "awaiting for ever", read: fails(nil), never: true},
		{name: "a state that nobody knows", read: becomes("requires_action", 0), placed: true},
		{name: "a state before the offer", read: becomes(api.RetrievingOffer, 0), placed: true},
		{name: "the key is refused", read: fails(&api.Error{Status: 401}), placed: true},
		{name: "not found", read: fails(&api.Error{Status: 404}), placed: true},
		{name: "too many reads", read: fails(&api.Error{Status: 429, Message: "Too many requests per second"}), placed: true},
		{name: "the service fails", read: fails(&api.Error{Status: 500}), placed: true},
		{name: "nobody answers", read: fails(&lostAnswer{}), placed: true},
	}
}

func TestNothingIsClaimedOfAConfirmThatIsNotProven(t *testing.T) {
	for answer, err := range answers() {
		for _, l := range laters() {
			t.Run(answer+", then "+l.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { claim(t, err, l) })
			})
		}
	}
}

// claim confirms with an answer, reads what comes later, and holds what is claimed
// against it.
func claim(t *testing.T, answer error, l later) {
	s := &service{intent: awaiting()}
	g, file := guard(t, s)
	p := proposal(t, s.intent)
	s.onSend = func(s *service) error {
		sent := time.Now()
		if s.onRead == nil {
			s.onRead = func(s *service) error { return l.read(s, time.Since(sent)) }
		}
		return answer
	}
	began := time.Now()
	out := g.Confirm(t.Context(), p, nil)
	took, proves := time.Since(began), out.Proves()
	t.Logf("%q after %s, %d sends and %d reads: %s", out.Verdict, took, s.confirms, s.reads, out)
	switch {
	case l.placed && proves == confirm.NotPlaced:
		t.Error("it claims that nothing was placed")
	case l.never && proves == confirm.Placed:
		t.Error("it claims that something was placed")
	case l.name == "awaiting for ever" && proves != confirm.NotPlaced:
		t.Errorf("it proves %d", proves)
	case l.name == "awaiting for ever" && s.reads < 3:
		t.Errorf("that it awaits was read %d times", s.reads-1)
	case (strings.HasPrefix(l.name, "placing") || l.name == "completed at once") && proves != confirm.Placed:
		t.Error("a read showed it, and nothing says that it was placed")
	case took > 4*time.Minute:
		t.Errorf("it took %s", took)
	case out.Attempt == "":
		t.Error("what was sent has no line in the audit log")
	}
	if rate := errors.Is(answer, api.ErrPerSecond); s.confirms != 1 && (!rate || s.confirms > 4) {
		t.Errorf("sent %d times", s.confirms)
	}
	said := out.String()
	if proves != confirm.NotPlaced && (strings.HasPrefix(said, "not confirmed") || strings.Contains(said, "nothing was placed")) {
		t.Errorf("it says %q", said)
	}
	last := auditLines(t, file)
	if line := last[len(last)-1]; line.Verdict != out.Verdict || line.Attempt != out.Attempt {
		t.Errorf("the audit log ends with %+v", line)
	}
}

func TestALeaveBeforeItIsSettledLeavesItUnknown(t *testing.T) {
	for answer, err := range answers() {
		t.Run(answer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				s.onSend = func(*service) error { return err }
				g, _ := guard(t, s)
				ctx, leave := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer leave()
				if out := g.Confirm(ctx, proposal(t, s.intent), nil); out.Verdict != confirm.Unknown || out.Proves() != confirm.Unproven {
					t.Errorf("%q: %v", out.Verdict, out.Err)
				}
			})
		})
	}
}

func TestWhatGoesWrongBetweenTwoSendsIsNoProofThatNothingWasSent(t *testing.T) {
	rate := &api.Error{Status: 429, Message: "Too many requests per second"}
	for name, c := range map[string]struct {
		arrange func(s *service, file string)
		proves  confirm.Purchase
	}{
		"it cannot be read any more": {func(s *service, _ string) { s.onRead = func(*service) error { return &lostAnswer{} } }, confirm.Unproven},
		"it was repriced":            {func(s *service, _ string) { s.intent.Quantity = 2 }, confirm.NotPlaced},
		"it expired":                 {func(s *service, _ string) { expire(&s.intent) }, confirm.NotPlaced},
		"the first was taken":        {func(s *service, _ string) { s.intent.State = api.PlacingOrder }, confirm.Placed},
		"the second never leaves": {func(s *service, _ string) {
			s.onSend = func(*service) error { return errNeverLeft }
		}, confirm.NotPlaced},
		"the second never leaves, and the first was held": {func(s *service, _ string) {
			s.onSend = func(s *service) error {
				s.onRead = func(s *service) error { s.intent.State = api.PlacingOrder; return nil }
				return errNeverLeft
			}
		}, confirm.Placed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				g, file := guard(t, s)
				s.onSend = func(s *service) error {
					reads := s.reads
					s.onRead = func(s *service) error { // the read after the refusal still says awaiting
						if s.reads == reads+2 {
							s.onRead = nil
							c.arrange(s, file)
						}
						if s.onRead != nil && s.reads >= reads+2 {
							return s.onRead(s)
						}
						return nil
					}
					return rate
				}
				out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
				if got := out.Proves(); got != c.proves {
					t.Errorf("%q proves %d of the order, want %d: %s", out.Verdict, got, c.proves, out)
				}
			})
		})
	}
}

func TestARequestThatWaitsTooLongIsGivenUpBeforeItLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := t.TempDir() + "/confirms.jsonl"
		g, err := confirm.New(confirm.Config{Service: waiting{s}, Environments: []string{"simulator", tunnel}, AuditFile: file})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		began := time.Now()
		out := g.Confirm(t.Context(), proposal(t, s.intent), nil)
		if took := time.Since(began); out.Verdict != confirm.NotSent || took != 20*time.Second || !strings.Contains(out.String(), "given up after 20s") {
			t.Errorf("%q after %s: %s", out.Verdict, took, out)
		}
	})
}

// waiting is a service whose confirms wait for quota until they are given up.
type waiting struct{ *service }

func (w waiting) ConfirmIntent(ctx context.Context, _ api.ID, _ api.ConfirmIntent) (api.Intent, error) {
	<-ctx.Done()
	return api.Intent{}, &api.TransportError{Err: fmt.Errorf("wait for quota: %w", ctx.Err())}
}

func TestAnUnknownOutcomeSaysWhatTheReadsShowed(t *testing.T) {
	for name, c := range map[string]struct {
		after  func(s *service) error // each read after the lost answer
		showed string
	}{
		"a state that nobody knows": {func(s *service) error { s.intent.State = "requires_action"; return nil }, "reads for 3m2s showed it requires action"},
		"no read succeeds":          {func(*service) error { return &api.Error{Status: 401} }, "no read succeeded for 3m32s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				s.onSend = func(s *service) error { s.onRead = c.after; return &lostAnswer{} }
				g, _ := guard(t, s)
				var until time.Time
				out := g.Confirm(t.Context(), proposal(t, s.intent), func(at confirm.Progress) { until = at.Until })
				if out.Verdict != confirm.Unknown || !strings.Contains(out.String(), c.showed) {
					t.Errorf("%q says %q, want it to say %q", out.Verdict, out, c.showed)
				}
				if late := time.Since(until); late > 0 {
					t.Errorf("it ended %s later than it said", late)
				}
			})
		})
	}
}

func TestReadsThatHangDoNotHoldUpTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := t.TempDir() + "/confirms.jsonl"
		g, err := confirm.New(confirm.Config{Service: hanging{s}, Environments: []string{"simulator", tunnel}, AuditFile: file})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		s.onSend = func(*service) error { return &lostAnswer{} }
		var until time.Time
		out := g.Confirm(t.Context(), proposal(t, s.intent), func(at confirm.Progress) { until = at.Until })
		if late := time.Since(until); out.Verdict != confirm.Unknown || late > 0 {
			t.Errorf("%q, %s later than it said", out.Verdict, late)
		}
	})
}

// hanging is a service that answers no read once a confirm was sent.
type hanging struct{ *service }

func (h hanging) Intent(ctx context.Context, id api.ID) (api.Intent, error) {
	if h.confirms == 0 {
		return h.service.Intent(ctx, id)
	}
	<-ctx.Done()
	return api.Intent{}, ctx.Err()
}
