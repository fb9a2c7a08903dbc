package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// confirmed runs the command and returns its exit code, its object and its words.
func (s *till) confirmed(ctx context.Context, t *testing.T, words *attentive, args ...string) (code int, r confirmReport, said string) {
	t.Helper()
	var out bytes.Buffer
	code = run(ctx, append([]string{"confirm", "--config", s.config, "--allow-confirm", "--json"}, args...), nil, &out, words)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Errorf("%v in %s", err, out.String())
		}
	}
	return code, r, words.text.String()
}

// attentive says when it is written to.
type attentive struct {
	mu    sync.Mutex
	text  bytes.Buffer
	heard func(text string) // nil: nobody
}

func (w *attentive) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if w.heard != nil {
		w.heard(w.text.String())
	}
	return n, err
}

// whenSettling interrupts a confirm once it has no clear answer.
func whenSettling(interrupt context.CancelFunc) *attentive {
	return &attentive{heard: func(text string) {
		if strings.Contains(text, "reading the intent until the outcome is clear") {
			interrupt()
		}
	}}
}

func TestARefusalOfAConfirmThatTookEffectIsNoReasonToBuyAgain(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	for _, status := range []int{400, 401, 402, 403, 404, 409, 422, 429} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			id, total := s.awaiting(t, chiliCrisp)
			s.fail(t, fmt.Sprintf(`{"status":%d,"after":true,"method":"POST","path":"/api/v1/"}`, status))
			code, r, said := s.confirmed(t.Context(), t, &attentive{}, id, "--total", total)
			if code != exitAlready || r.ExitCode != exitAlready || r.Verdict != "overtaken" || !strings.Contains(said, "already confirmed") || ordersOf(t, s.service, id) != 1 {
				t.Errorf("exit code %d, %q, %d orders: %s", code, r.Verdict, ordersOf(t, s.service, id), said)
			}
		})
	}
}

func TestWhatIsConfirmedAlreadyIsFollowedToItsOrder(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	if code, _, said := s.confirmed(t.Context(), t, &attentive{}, id, "--total", total); code != exitDone {
		t.Fatalf("exit code %d: %s", code, said)
	}
	code, r, said := s.confirmed(t.Context(), t, &attentive{}, id, "--total", total, "--wait", "30s")
	if code != exitAlready || r.Verdict != "already_confirmed" || r.Intent.State != api.Completed || len(r.Intent.Latest.OrderIDs) == 0 || !strings.Contains(said, "already confirmed, and the order is placed: ") {
		t.Errorf("exit code %d, %+v: %s", code, r, said)
	}
	failing, total := s.awaiting(t, "https://shop.example/magic/payment_failed")
	s.fail(t, `{"status":404,"after":true,"method":"POST","path":"/api/v1/"}`)
	if code, r, said := s.confirmed(t.Context(), t, &attentive{}, failing, "--total", total, "--wait", "30s"); code != exitFailed || r.Intent.State != api.Failed || !strings.Contains(said, "but the order failed: payment failed") {
		t.Errorf("exit code %d, %+v: %s", code, r, said)
	}
}

func TestAnInterruptBetweenAuditLineAndProofIsAnUnknownOutcomeThatStandsInTheWay(t *testing.T) {
	for _, fault := range []string{
		`{"drop":true,"method":"POST","path":"/api/v1/"}`,
		`{"status":404,"method":"POST","path":"/api/v1/"}`,
		`{"status":401,"method":"POST","path":"/api/v1/"}`,
		`{"status":409,"method":"POST","path":"/api/v1/"}`,
		`{"status":422,"method":"POST","path":"/api/v1/"}`,
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := newTill(t)
			id, total := s.awaiting(t, chiliCrisp)
			s.fail(t, fault)
			ctx, interrupt := context.WithCancel(t.Context())
			if code, r, said := s.confirmed(ctx, t, whenSettling(interrupt), id, "--total", total); code != exitUnknown || r.Verdict != "unknown" || !strings.Contains(said, "outcome unknown") {
				t.Fatalf("exit code %d: %s", code, said)
			}
			log, err := os.ReadFile(filepath.Join(s.state, "confirms.jsonl"))
			if err != nil || strings.Count(string(log), "\n") != 3 || !strings.Contains(string(log), `"stage":"answered"`) || !strings.Contains(string(log), `"verdict":"unknown"`) {
				t.Errorf("%v; the audit log says\n%s", err, log)
			}
			for _, again := range []struct{ name, fault, total string }{
				{name: "the same", total: total},
				{name: "another total", total: "1.00USD"},
				{"while the key is refused", `{"status":401,"method":"GET","path":"/api/v1/"}`, total},
				{"while the intent is not found", `{"status":404,"method":"GET","path":"/api/v1/"}`, total},
			} {
				if again.fault != "" {
					s.fail(t, again.fault)
				}
				code, r, said := s.confirmed(t.Context(), t, &attentive{}, id, "--total", again.total)
				if code != exitUnknown || r.ExitCode != exitUnknown || !strings.Contains(said, "an earlier confirm of it, sent at") || !strings.Contains(said, "Do not buy it elsewhere") {
					t.Errorf("%s: exit code %d, %q: %s", again.name, code, r.Verdict, said)
				}
			}
			if n := ordersOf(t, s.service, id); n != 0 {
				t.Errorf("%d orders", n)
			}
		})
	}
}

func TestWhatWasConfirmedIsNotSaidToBeUnboughtWhileItCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.config = configFile(t, "api_url", strings.Replace(s.url, "127.0.0.1", "0.0.0.0", 1), "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
	id, total := s.awaiting(t, chiliCrisp)
	args := []string{id, "--total", total, "--live", id[len(id)-4:]}
	if code, _, said := s.confirmed(t.Context(), t, &attentive{}, args...); code != exitDone {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, status := range []int{401, 404} {
		s.fail(t, fmt.Sprintf(`{"status":%d,"method":"GET","path":"/api/v1/"}`, status))
		code, r, said := s.confirmed(t.Context(), t, &attentive{}, args...)
		if code != exitAlready || r.Verdict != "already_confirmed" || !strings.Contains(said, "already confirmed") {
			t.Errorf("%d: exit code %d, %q: %s", status, code, r.Verdict, said)
		}
	}
}

func TestALostAnswerStaysUnknownWhenTheAuditLogCannotBeOpenedAnyMore(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id, total := s.awaiting(t, chiliCrisp)
	s.fail(t, `{"drop":true,"method":"POST","path":"/api/v1/"}`)
	ctx, interrupt := context.WithCancel(t.Context())
	if code, _, said := s.confirmed(ctx, t, whenSettling(interrupt), id, "--total", total); code != exitUnknown {
		t.Fatalf("exit code %d: %s", code, said)
	}
	log := filepath.Join(s.state, "confirms.jsonl")
	if err := errors.Join(os.Rename(log, log+".moved"), os.Mkdir(log, 0o700)); err != nil {
		t.Fatal(err)
	}
	code, r, said := s.confirmed(t.Context(), t, &attentive{}, id, "--total", total)
	if code != exitUnknown || r.ExitCode != exitUnknown || r.Verdict != "unknown" || !strings.Contains(said, "Do not buy it elsewhere") {
		t.Errorf("exit code %d, %q: %s", code, r.Verdict, said)
	}
}

func TestNoExitCodeSaysThatNothingWasBoughtUnlessThatIsProven(t *testing.T) {
	state := func(s api.IntentState) *api.Intent { return &api.Intent{ID: "ci_1", State: s} }
	cases := []struct {
		name string
		o    confirm.Outcome
		want int
	}{
		{"taken", confirm.Outcome{Verdict: confirm.Accepted, Intent: state(api.PlacingOrder)}, exitDone},
		{"taken, and the order failed", confirm.Outcome{Verdict: confirm.Accepted, Intent: state(api.Failed)}, exitFailed},
		{"changed", confirm.Outcome{Verdict: confirm.Changed, Intent: state(api.AwaitingConfirmation)}, exitNotConfirmable},
		{"too early", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: state(api.RetrievingOffer)}, exitNotConfirmable},
		{"expired", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: state(api.Failed)}, exitNotConfirmable},
		{"proven after a 404", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: state(api.AwaitingConfirmation)}, exitNotConfirmable},
		{"in a state that nobody knows", confirm.Outcome{Verdict: confirm.NotConfirmable, Intent: state("requires_action")}, exitUnknown},
		{"placing before it was sent", confirm.Outcome{Verdict: confirm.Already, Intent: state(api.PlacingOrder)}, exitAlready},
		{"completed before it was sent", confirm.Outcome{Verdict: confirm.Already, Intent: state(api.Completed)}, exitAlready},
		{"placing after it was refused", confirm.Outcome{Verdict: confirm.Overtaken, Intent: state(api.PlacingOrder)}, exitAlready},
		{"refused, and the order failed", confirm.Outcome{Verdict: confirm.Overtaken, Intent: state(api.Failed)}, exitFailed},
		{"refused", confirm.Outcome{Verdict: confirm.Refused, Intent: state(api.AwaitingConfirmation)}, exitFailed},
		{"never sent", confirm.Outcome{Verdict: confirm.NotSent}, exitFailed},
		{"never sent, while an earlier one is open", confirm.Outcome{Verdict: confirm.NotSent, Unsettled: true}, exitUnknown},
		{"changed, while an earlier one is open", confirm.Outcome{Verdict: confirm.Changed, Intent: state(api.AwaitingConfirmation), Unsettled: true}, exitUnknown},
		{"unknown", confirm.Outcome{Verdict: confirm.Unknown, Err: errors.New("404")}, exitUnknown},
		{"not taken", confirm.Outcome{Verdict: confirm.NotTaken, Intent: state(api.AwaitingConfirmation), Err: errors.New("500")}, exitFailed},
		{"without an audit log", *confirm.Unlogged(filepath.Join(t.TempDir(), "none.jsonl"), "ci_1", errors.New("permission denied")), exitFailed},
		{"unknown, read as awaiting", confirm.Outcome{Verdict: confirm.Unknown, Intent: state(api.AwaitingConfirmation)}, exitUnknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &confirmReport{}
			r.end(c.o)
			if r.ExitCode != c.want {
				t.Errorf("exit code %d, want %d: %s", r.ExitCode, c.want, r.said)
			}
			if unknown := r.ExitCode == exitUnknown; unknown != (r.Verdict == "unknown") || unknown != strings.Contains(r.said, "Do not buy it elsewhere") {
				t.Errorf("exit code %d, with the verdict %q and the words %q", r.ExitCode, r.Verdict, r.said)
			}
			for _, denies := range []string{"nothing was placed", "nothing was bought", "not confirmed", "not taken"} {
				if strings.Contains(r.said, denies) && c.o.Proves() != confirm.NotPlaced {
					t.Errorf("%q is not proven", r.said)
				}
			}
		})
	}
}
