package confirm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// sendingLine is the record of a request: when it was sent, its attempt and its intent.
const sendingLine = `{"at":%q,"environment":"simulator","attempt":%q,"intent":%q,"stage":"sending"}` + "\n"

// sentAgo is an audit log that says that the intent was sent a while ago, and no
// more.
func sentAgo(t *testing.T, ago time.Duration) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "confirms.jsonl")
	line := fmt.Sprintf(sendingLine, time.Now().Add(-ago).Format(time.RFC3339Nano), "A", id)
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// recorded is the verdict on that confirm; "" while there is none.
func recorded(t *testing.T, file string) (verdict confirm.Verdict) {
	t.Helper()
	for _, line := range auditLines(t, file) {
		if line.Attempt == "A" && line.Verdict != "" {
			verdict = line.Verdict
		}
	}
	return verdict
}

// expire lets the confirm window of an intent close.
func expire(in *api.Intent) {
	in.State, in.Failure = api.Failed, &api.FailureReason{Code: "checkout_intent_expired"}
}

func TestAnUnknownOutcomeStandsInTheWayUntilReadsSettleIt(t *testing.T) {
	cases := []struct {
		name      string
		ago       time.Duration
		read      func(s *service) error // as the intent is read
		verdict   confirm.Verdict        // of the new confirm
		unsettled bool
		recorded  confirm.Verdict // of the earlier one; "" for none
		sends     int
	}{
		{"still awaiting a moment later", 30 * time.Second, nil, confirm.NotSent, true, "", 0},
		{"still awaiting just before three minutes are over", 179 * time.Second, nil, confirm.NotSent, true, "", 0},
		{"still awaiting long afterwards", 4 * time.Minute, nil, confirm.Accepted, false, confirm.NotTaken, 1},
		{"awaiting, says a copy that lags behind", 4 * time.Minute, func(s *service) error {
			if s.reads == 2 {
				s.intent.State = api.PlacingOrder
			}
			return nil
		}, confirm.Already, false, confirm.Accepted, 0},
		{"awaiting long afterwards, and then unreadable", 4 * time.Minute, func(s *service) error {
			if s.reads == 2 {
				return &lostAnswer{}
			}
			return nil
		}, confirm.NotSent, true, "", 0},
		{"repriced long afterwards", 4 * time.Minute, func(s *service) error { s.intent.Quantity = 2; return nil }, confirm.Changed, false, confirm.NotTaken, 0},
		{"repriced a moment later", 30 * time.Second, func(s *service) error { s.intent.Quantity = 2; return nil }, confirm.NotSent, true, "", 0},
		{"it was taken", 30 * time.Second, func(s *service) error { s.intent.State = api.PlacingOrder; return nil }, confirm.Already, false, confirm.Accepted, 0},
		{"it expired", 30 * time.Second, func(s *service) error { expire(&s.intent); return nil }, confirm.NotConfirmable, false, confirm.NotConfirmable, 0},
		{"it is in a state that nobody knows", 4 * time.Minute, func(s *service) error { s.intent.State = "requires_action"; return nil }, confirm.NotConfirmable, true, "", 0},
		{"the service knows it no more", 4 * time.Minute, func(*service) error { return &api.Error{Status: 404} }, confirm.NotSent, true, "", 0},
		{"the key is refused", 4 * time.Minute, func(*service) error { return &api.Error{Status: 401} }, confirm.NotSent, true, "", 0},
		{"nobody answers", 4 * time.Minute, func(*service) error { return &lostAnswer{} }, confirm.NotSent, true, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				p := proposal(t, s.intent)
				s.onRead = c.read
				file := sentAgo(t, c.ago)
				out := guardOn(t, s, file).Confirm(t.Context(), p, nil)
				if out.Verdict != c.verdict || out.Unsettled != c.unsettled || s.confirms != c.sends {
					t.Errorf("%q, unsettled %t (%v) after %d sends; want %q, unsettled %t after %d", out.Verdict, out.Unsettled, out.Err, s.confirms, c.verdict, c.unsettled, c.sends)
				}
				if proves := out.Proves(); c.unsettled && proves != confirm.Unproven {
					t.Errorf("it proves %d of the order", proves)
				}
				if got := recorded(t, file); got != c.recorded {
					t.Errorf("the earlier confirm is recorded as %q, want %q", got, c.recorded)
				}
			})
		})
	}
}

// settle reads what the log leaves open, until one outcome is recorded or the limit is over.
func settle(t *testing.T, s *service, file string, limit time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	g, err := confirm.New(confirm.Config{Service: s, Environments: []string{"simulator", tunnel}, AuditFile: file, Recorded: stop})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	g.Settle(ctx)
}

func TestConfirmsOfEarlierRunsAreSettledByReading(t *testing.T) {
	cases := []struct {
		name     string
		ago      time.Duration
		read     func(s *service) error
		verdict  confirm.Verdict // recorded; "" for none
		after    time.Duration   // at least
		reads    int             // at least
		notAfter time.Duration
	}{
		{"placed meanwhile", time.Second, func(s *service) error { s.intent.State = api.PlacingOrder; return nil }, confirm.Accepted, 0, 1, 0},
		{"expired meanwhile", time.Second, func(s *service) error { expire(&s.intent); return nil }, confirm.NotConfirmable, 0, 1, 0},
		{"held on its way, and taken half a minute later", time.Second, func(s *service) error {
			if s.reads > 2 {
				s.intent.State = api.PlacingOrder
			}
			return nil
		}, confirm.Accepted, 10 * time.Second, 3, time.Minute},
		{"still awaiting, and sent a second ago", time.Second, nil, confirm.NotTaken, 179 * time.Second, 3, 200 * time.Second},
		{"still awaiting, and sent an hour ago", time.Hour, nil, confirm.NotTaken, 10 * time.Second, 2, 10 * time.Second},
		{"unreadable", time.Hour, func(*service) error { return &lostAnswer{} }, "", time.Hour, 60, time.Hour},
		{"unreadable for a quarter of an hour", time.Second, func(s *service) error {
			if s.reads <= 65 {
				return &lostAnswer{}
			}
			return nil
		}, confirm.NotTaken, 15 * time.Minute, 67, 20 * time.Minute},
		{"unknown to the service twice in five minutes, and known between", time.Second, func(s *service) error {
			switch {
			case s.reads == 1 || s.reads == 31:
				return &api.Error{Status: 404, Name: "NotFoundError"}
			case s.reads < 30:
				return &lostAnswer{}
			}
			return nil
		}, confirm.NotTaken, 5 * time.Minute, 32, 6 * time.Minute},
		{"unknown to the service", time.Second, func(*service) error { return &api.Error{Status: 404, Name: "NotFoundError"} }, confirm.NeverKnown, 5 * time.Minute, 30, 6 * time.Minute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting(), onRead: c.read}
				file := sentAgo(t, c.ago)
				began := time.Now()
				settle(t, s, file, time.Hour)
				if took := time.Since(began); took < c.after || took > c.notAfter || s.reads < c.reads {
					t.Errorf("it took %s and %d reads; want %s to %s and %d", took, s.reads, c.after, c.notAfter, c.reads)
				}
				if got := recorded(t, file); got != c.verdict {
					t.Errorf("recorded is %q, want %q", got, c.verdict)
				}
				if s.confirms != 0 {
					t.Errorf("sent %d confirms", s.confirms)
				}
			})
		})
	}
}

func TestTheRecordOfASettledConfirmDoesNotSayThatItsRunHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		expire(&s.intent)
		file := sentAgo(t, time.Second) // by a run that may still go on
		settle(t, s, file, time.Hour)
		lines := auditLines(t, file)
		const want = "an earlier confirm of it is under way, or ended without a known outcome"
		if got := lines[len(lines)-1].Detail; !strings.Contains(got, want) {
			t.Errorf("the record says %q, want %q", got, want)
		}
	})
}

func TestWhatAnotherProcessSendsMeanwhileIsNotTakenForOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := sentAgo(t, time.Hour)
		g, other := guardOn(t, s, file), guardOn(t, s, file)
		p := proposal(t, s.intent)
		sending, release := make(chan struct{}), make(chan struct{})
		ended := make(chan confirm.Outcome)
		go func() {
			ended <- other.Confirm(t.Context(), p, func(at confirm.Progress) {
				if at.Stage == confirm.Sending {
					close(sending)
					<-release
				}
			})
		}()
		<-sending // it found A not taken, and its own confirm is on its way
		out := g.Confirm(t.Context(), p, nil)
		if out.Verdict != confirm.NotSent || !out.Unsettled || s.confirms != 0 {
			t.Errorf("%q, unsettled %t (%v) after %d sends", out.Verdict, out.Unsettled, out.Err, s.confirms)
		}
		close(release)
		if out := <-ended; out.Verdict != confirm.Accepted {
			t.Errorf("the other ended as %q: %v", out.Verdict, out.Err)
		}
	})
}

// No intent goes back by the contract, so a read that shows one awaiting again is behind. A stand-in that starts
// anew gives its ids again.
func TestWhatWasAcceptedIsNotSentAgain(t *testing.T) {
	cases := []struct {
		name    string
		from    api.Environment
		verdict confirm.Verdict
		sends   int
	}{
		{"the service", theService(), confirm.Already, 1},
		{"a stand-in", standIn(), confirm.Accepted, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &service{intent: awaiting(), from: c.from}
			p, err := confirm.Propose(&s.intent, c.from, api.ConfirmWindow)
			if err != nil {
				t.Fatal(err)
			}
			g, file := guard(t, s)
			if out := g.Confirm(t.Context(), p, nil); out.Verdict != confirm.Accepted {
				t.Fatalf("%q: %v", out.Verdict, out.Err)
			}
			s.intent.State = api.AwaitingConfirmation
			out := guardOn(t, s, file).Confirm(t.Context(), p, nil)
			if out.Verdict != c.verdict || s.confirms != c.sends || out.Proves() != confirm.Placed {
				t.Errorf("%q after %d sends, want %q after %d: %v", out.Verdict, s.confirms, c.verdict, c.sends, out)
			}
			s.onRead = func(*service) error { return &api.Error{Status: 503} }
			later := guardOn(t, s, file)
			for how, out := range map[string]confirm.Outcome{"a read again": later.Confirm(t.Context(), p, nil), "a first read": later.Unread(id, &api.Error{Status: 404, Name: "NotFoundError"})} {
				if placed := out.Proves() == confirm.Placed; placed != (c.verdict == confirm.Already) || s.confirms != c.sends {
					t.Errorf("%s fails: %q after %d sends: %s", how, out.Verdict, s.confirms, out)
				}
			}
		})
	}
}

// A run that settles what one attempt left open goes on when another process confirms the intent anew. What it has
// read before proves nothing of that.
func TestALaterAttemptIsSettledByReadsOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		name  string
		ahead time.Duration // of this clock, as both attempts wrote down when they were sent
	}{
		{"by its age", 0},
		{"by the time that this run has read it", 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				file := sentAgo(t, time.Second-c.ahead)
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					guardOn(t, s, file).Settle(ctx)
				}()
				time.Sleep(10 * time.Minute)
				if got := verdictsOf(t, file, "A"); !slices.Equal(got, []confirm.Verdict{confirm.NotTaken}) {
					t.Errorf("the first attempt is recorded as %q", got)
				}
				appendSending(t, file, "B", time.Now().Add(c.ahead))
				time.Sleep(170 * time.Second)
				if got := verdictsOf(t, file, "B"); len(got) != 0 {
					t.Errorf("the second attempt is recorded as %q before three minutes are over", got)
				}
				time.Sleep(2 * time.Minute)
				if got := verdictsOf(t, file, "B"); !slices.Equal(got, []confirm.Verdict{confirm.NotTaken}) {
					t.Errorf("five minutes after it was sent, the second attempt is recorded as %q", got)
				}
				stop()
				<-done
			})
		})
	}
}

func TestAConfirmSentLatelyIsNotNeverKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		file := sentAgo(t, time.Second)
		s.onRead = func(s *service) error {
			if s.reads == 20 {
				appendSending(t, file, "B", time.Now())
			}
			return &api.Error{Status: 404, Name: "NotFoundError"}
		}
		settle(t, s, file, 6*time.Minute)
		if a, b := verdictsOf(t, file, "A"), verdictsOf(t, file, "B"); len(a) != 1 || a[0] != confirm.NeverKnown || len(b) != 0 {
			t.Errorf("the old one is recorded as %q, the new one as %q; want only the old one", a, b)
		}
	})
}

// A request that was refused for its rate and sent again is as old as when it was last sent.
func TestARepeatedRequestIsAsOldAsItsLastSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := sentAgo(t, 10*time.Minute)
		appendSending(t, file, "A", time.Now())
		s := &service{intent: awaiting()}
		settle(t, s, file, 170*time.Second)
		if got := verdictsOf(t, file, "A"); len(got) != 0 {
			t.Errorf("it is recorded as %q before three minutes are over", got)
		}
	})
}

// appendSending writes that an attempt was sent, as another process would.
func appendSending(t *testing.T, file, attempt string, at time.Time) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, sendingLine, at.Format(time.RFC3339Nano), attempt, id); err != nil {
		t.Fatal(err)
	}
}

// verdictsOf lists what the log records of an attempt.
func verdictsOf(t *testing.T, file, attempt string) (all []confirm.Verdict) {
	t.Helper()
	for _, line := range auditLines(t, file) {
		if line.Attempt == attempt && line.Verdict != "" {
			all = append(all, line.Verdict)
		}
	}
	return all
}
