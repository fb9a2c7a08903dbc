package confirm_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// slow answers reads after a while.
type slow struct {
	*service
	takes time.Duration
}

func (s slow) Intent(ctx context.Context, id api.ID) (api.Intent, error) {
	if err := api.Sleep(ctx, s.takes); err != nil {
		return api.Intent{}, err
	}
	return s.service.Intent(ctx, id)
}

// Until it is written down, a yes can be taken back; from then on it stands.
func TestAYesThatIsTakenBackInTimeSendsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		at      confirm.Stage
		verdict confirm.Verdict
		sends   int
	}{
		"while it is read again":  {confirm.Rereading, confirm.NotSent, 0},
		"just before it is noted": {confirm.Recording, confirm.NotSent, 0},
		"once it is on its way":   {confirm.Sending, confirm.Accepted, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				file := t.TempDir() + "/confirms.jsonl"
				g, err := confirm.New(confirm.Config{Service: slow{s, 12 * time.Second}, Environments: []string{"simulator"}, AuditFile: file})
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				p, back := proposal(t, s.intent), make(chan struct{})
				p.Withdrawn = back
				taken := false
				began := time.Now()
				out := g.Confirm(t.Context(), p, func(at confirm.Progress) {
					if at.Stage == c.at && !taken {
						taken = true
						close(back)
						synctest.Wait()
					}
				})
				if out.Verdict != c.verdict || s.confirms != c.sends {
					t.Errorf("%q after %d sends: %s", out.Verdict, s.confirms, out)
				}
				if c.at == confirm.Rereading && time.Since(began) > time.Second {
					t.Errorf("it took %s to cancel", time.Since(began))
				}
				if raw, _ := os.ReadFile(file); c.sends == 0 && len(raw) > 0 {
					t.Errorf("the audit log says %s", raw)
				}
				if c.sends == 0 && !strings.Contains(out.String(), "canceled") {
					t.Errorf("it says %q", out)
				}
			})
		})
	}
}

// Whoever looks at a dialog sees what a confirm waits for, how long, and which try it is.
func TestProgressTellsTriesAndTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{intent: awaiting()}
		g, _ := guard(t, s)
		s.onSend = func(s *service) error {
			if s.confirms < 3 {
				return &api.Error{Status: 429, Message: "Too many requests per second", RetryAfter: 3 * time.Second}
			}
			return nil
		}
		var pauses []time.Duration
		var tries []int
		out := g.Confirm(t.Context(), proposal(t, s.intent), func(at confirm.Progress) {
			switch at.Stage {
			case confirm.Pausing:
				pauses = append(pauses, at.Until.Sub(at.At))
				if at.Why == nil || at.Tries != 4 {
					t.Errorf("a pause is reported as %+v", at)
				}
			case confirm.Sending:
				tries = append(tries, at.Try)
				if at.Until.Sub(at.At) != 20*time.Second {
					t.Errorf("a send is given up after %s", at.Until.Sub(at.At))
				}
			}
			if at.BeforeWriting() != (at.Try == 1 && (at.Stage == confirm.Rereading || at.Stage == confirm.Recording)) {
				t.Errorf("%s of try %d is before the writing: %t", at.Stage, at.Try, at.BeforeWriting())
			}
		})
		if out.Verdict != confirm.Accepted || len(pauses) != 2 || pauses[0] != 3*time.Second || len(tries) != 3 || tries[2] != 3 {
			t.Errorf("%q, with pauses %v and tries %v", out.Verdict, pauses, tries)
		}
	})
}

// What is said to be waited for the answer is what the client waits, however long quota took before.
func TestAnAnswerIsAwaitedAsLongAsItSays(t *testing.T) {
	for _, c := range []struct {
		name         string
		quota, until time.Duration
	}{
		{"sent at once", 0, api.AttemptTimeout},
		{"after a short wait for quota", 3 * time.Second, api.AttemptTimeout},
		{"after a long wait for quota", 12 * time.Second, 8 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{intent: awaiting()}
				s.onSend = func(s *service) error {
					time.Sleep(c.quota)
					written, err := s.body.Departure()
					if written != nil {
						written()
					}
					return err
				}
				g, _ := guard(t, s)
				var waits []time.Duration
				g.Confirm(t.Context(), proposal(t, s.intent), func(at confirm.Progress) {
					if at.Stage == confirm.Sending && at.Gone {
						waits = append(waits, at.Until.Sub(at.At))
					}
				})
				if len(waits) != 1 || waits[0] != c.until {
					t.Errorf("it waits %v for the answer, not %s", waits, c.until)
				}
			})
		})
	}
}
