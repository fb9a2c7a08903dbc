package simulator

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

// told is what a simulator says by default.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *told) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

// lines are those that hold some words.
func (w *told) lines(words string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var some []string
	for line := range strings.Lines(w.text.String()) {
		if strings.Contains(line, words) {
			some = append(some, line)
		}
	}
	return some
}

// toldInBubble runs a test against a simulator whose receiver answers as given.
func toldInBubble(t *testing.T, change func(*Config), answer func(attempt) (int, string), test func(a *account, w *told)) {
	t.Helper()
	w := &told{}
	inBubble(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(w, nil))
		c.Transport.(*receiver).answer = answer
		if change != nil {
			change(c)
		}
	}, func(a *account) { test(a, w) })
}

// refuses answers every event with a status and a body, but challenges rightly.
func refuses(status int, body string) func(d attempt) (int, string) {
	return func(d attempt) (int, string) {
		if d.kind() == string(api.VerificationChallenge) {
			return 0, ""
		}
		return status, body
	}
}

const challengeUnanswered = "does not answer the verification challenge"

func TestAWrongAnswerToTheChallengeIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		says   string
	}{
		"not found":     {http.StatusNotFound, "404 page not found\n", "answered 404 with 404 page not found; want 200"},
		"no body":       {http.StatusNoContent, "", "answered 204 without a body; want 200"},
		"another value": {http.StatusOK, `{"challenge":"we_other"}`, `answered 200 with {\"challenge\":\"we_other\"}; want 200 with {\"challenge\":\"we_`},
		"several lines": {http.StatusBadGateway, "<html>\r\n\x1b[2Jbad\ngateway\x00</html>", "bad gateway"},
		"silence":       {-1, "", "no answer within 5s"},
		"a secret":      {http.StatusInternalServerError, "bad signature with " + testSecret + " for " + testKey, "bad signature with … for …"},
		"a book":        {http.StatusInternalServerError, strings.Repeat("sorry ", 100_000), "sorry sorry"},
	} {
		t.Run(name, func(t *testing.T) {
			toldInBubble(t, nil, func(attempt) (int, string) { return c.status, c.body }, func(a *account, w *told) {
				later(5 * time.Second)
				got := w.lines(challengeUnanswered)
				if len(got) != 1 || !strings.Contains(got[0], c.says) || !strings.Contains(got[0], "host=receiver.example") {
					t.Fatalf("got %q, want one line with %s", got, c.says)
				}
				later(25 * time.Second)
				if n := len(w.lines(challengeUnanswered)); n < 2 || n > 4 {
					t.Errorf("%d lines in half a minute", n)
				}
				a.receiver.answers(nil)
				if later(10 * time.Second); len(w.lines("webhook endpoint verified")) != 1 {
					t.Errorf("no line says that it is verified: %q", w.lines(""))
				}
				for _, line := range w.lines("") {
					if len(line) > 1200 || strings.Contains(line, testSecret) || strings.Contains(line, testKey) || strings.ContainsAny(line, "\x1b\x00\r") {
						t.Errorf("a line of %d bytes: %.300q", len(line), line)
					}
				}
			})
		})
	}
}

func TestRejectedDeliveriesShareLines(t *testing.T) {
	body := `{"error":"signature with ` + testSecret + `"}`
	toldInBubble(t, nil, refuses(http.StatusUnauthorized, body), func(a *account, w *told) {
		for range 200 {
			a.happens(chiliCrisp, "product.updated")
		}
		later(time.Second)
		got := w.lines("webhook delivery rejected")
		if len(got) != 1 || !strings.Contains(got[0], "answered 401 with") || !strings.Contains(got[0], "topic=product.updated") {
			t.Fatalf("got %q", got)
		}
		later(3 * time.Minute)
		if n := len(w.lines("")); n > 60 || len(w.lines("webhook delivery given up")) == 0 {
			t.Errorf("%d lines in three minutes", n)
		}
		sum := a.summary().Endpoints[0]
		if sum.GivenUp != 200 || sum.Failures != 200*uint64(1+len(RetryPauses())) || !strings.Contains(sum.LastError, "answered 401") {
			t.Errorf("the endpoint says %+v", sum)
		}
		if text := strings.Join(w.lines(""), "") + sum.LastError; strings.Contains(text, testSecret) {
			t.Error("a secret is told")
		}
	})
}

// deadLine is a network on which nobody listens.
type deadLine struct{}

func (deadLine) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
}

func TestAReceiverThatIsNotThereIsReported(t *testing.T) {
	w := &told{}
	inBubble(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(w, nil))
		c.Transport = deadLine{}
		c.WebhookURL = "http://user:hunter22@receiver.example:81/hooks/token-in-the-path?token=query-token"
	}, func(*account) { later(5 * time.Second) })
	got := w.lines(challengeUnanswered)
	if len(got) == 0 || !strings.Contains(got[0], "no answer: dial: connection refused") || !strings.Contains(got[0], "host=receiver.example:81") {
		t.Fatalf("got %q", got)
	}
	for _, secret := range []string{"hunter22", "token-in-the-path", "query-token"} {
		if strings.Contains(strings.Join(got, ""), secret) {
			t.Errorf("the lines hold %s: %q", secret, got)
		}
	}
}

// A wrong signature is refused by a receiver that verifies, and that is no news; one that takes it is.
func TestAForgeryThatIsTakenIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(attempt) (int, string)
		lines  int
	}{
		"it is taken":   {nil, 1},
		"it is refused": {refuses(http.StatusUnauthorized, ""), 0},
	} {
		t.Run(name, func(t *testing.T) {
			forge := func(c *Config) { c.Faults.BadSignature, c.Retries = 1, 1 }
			toldInBubble(t, forge, c.answer, func(a *account, w *told) {
				a.happens(chiliCrisp, "product.updated")
				later(300 * time.Millisecond)
				if got := w.lines("WARN"); len(got) != c.lines {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// delivered is the newest delivery of a type, as the control API lists it.
func (a *account) delivered(kind api.EventType) *deliveries.Delivery {
	a.Helper()
	all := a.sim.webhooks.sent.newest("", keptDeliveries)
	for i := range all {
		if all[i].Type == kind {
			return &all[i]
		}
	}
	a.Fatalf("no delivery of %s among %d", kind, len(all))
	return nil
}

func TestDeliveriesAreListedWithTheirAnswers(t *testing.T) {
	soldOut := func(a *account, answer func(d attempt) (int, string), after time.Duration) *deliveries.Delivery {
		a.receiver.answers(answer)
		a.create(magicURL("sold-out"))
		later(after)
		return a.delivered(api.OfferFailed)
	}
	rows{
		"one that was taken, with both sides": func(a *account) {
			d := soldOut(a, nil, 10*time.Second)
			got := a.receiver.got(api.OfferFailed)[0]
			if d.State != deliveries.Delivered || d.Attempts != 1 || d.Status != http.StatusOK || d.Target != "http://receiver.example/hooks" ||
				string(d.Request.Body) != string(got.body) || string(d.Answer.Body) != "{}" {
				a.Errorf("kept: %+v", d)
			}
			listed := a.asks("GET", "/control/deliveries?limit=5&event="+string(d.Event), "")
			if listed.Get("#").Int() != 1 || listed.Get("0.answer.body").String() != "{}" || listed.Get("0.request.header.x-svc-event-id.0").String() != string(d.Event) {
				a.Errorf("listed: %s", listed)
			}
		},
		"the challenge is one": func(a *account) {
			if d := a.delivered(api.VerificationChallenge); d.State != deliveries.Delivered || !strings.Contains(string(d.Answer.Body), "challenge") {
				a.Errorf("kept: %+v", d)
			}
		},
		"one that is refused waits for its next attempt, and in the end is dead": func(a *account) {
			d := soldOut(a, refuses(http.StatusInternalServerError, strings.Repeat("no ", 3000)), 8200*time.Millisecond)
			if d.State != deliveries.Waiting || d.Attempts != 1 || d.Status != http.StatusInternalServerError || d.Next.Sub(d.Sent) != RetryPauses()[0] ||
				len(d.Answer.Body) != deliveries.KeptAnswer {
				a.Errorf("kept: %+v", d)
			}
			later(5 * time.Minute)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Dead || d.Attempts != 1+len(RetryPauses()) || !d.Next.IsZero() {
				a.Errorf("kept: %+v", d)
			}
		},
		"one under way is shown, and its silence told": func(a *account) {
			if d := soldOut(a, refuses(-1, ""), 9*time.Second); d.State != deliveries.Sending || d.Status != 0 {
				a.Errorf("kept: %+v", d)
			}
			later(4*time.Second + 200*time.Millisecond)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Waiting || d.Took != answerTimeout || !strings.HasPrefix(string(d.Error), "no answer") {
				a.Errorf("kept: %+v", d)
			}
		},
		"the secret that an answer repeats is not": func(a *account) {
			d := soldOut(a, refuses(http.StatusBadRequest, "key was "+testSecret), 10*time.Second)
			if strings.Contains(string(d.Answer.Body)+string(d.Error), testSecret) || len(d.Answer.Body) == 0 {
				a.Errorf("kept: %+v", d)
			}
		},
		"one that ends with its endpoint waits no more": func(a *account) {
			soldOut(a, refuses(http.StatusInternalServerError, ""), 10*time.Second)
			a.asks("POST", "/control/webhook-endpoints", `{"url":"http://receiver.example/hooks"}`)
			later(time.Minute)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Dead {
				a.Errorf("kept: %+v", d)
			}
		},
	}.run(t)
}
