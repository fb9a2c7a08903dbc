package simulator

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tillwatch/api"
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

var timesTold = regexp.MustCompile(`more_since_last=(\d+)`)

// times is how many failures the lines stand for.
func times(t *testing.T, lines []string) int {
	t.Helper()
	total := 0
	for _, line := range lines {
		n := 1
		if found := timesTold.FindStringSubmatch(line); found != nil {
			var err error
			if n, err = strconv.Atoi(found[1]); err != nil {
				t.Fatal(err)
			}
		}
		total += n
	}
	return total
}

const (
	challengeUnanswered = "does not answer the verification challenge"
	rejected            = "webhook delivery rejected"
)

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

func TestAFailingChallengeIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		says   string
	}{
		"not found":       {http.StatusNotFound, "404 page not found\n", "answered 404 with 404 page not found; want 200"},
		"no body":         {http.StatusNoContent, "", "answered 204 without a body; want 200"},
		"another value":   {http.StatusOK, `{"challenge":"we_other"}`, `answered 200 with {\"challenge\":\"we_other\"}; want 200 with {\"challenge\":\"we_`},
		"several lines":   {http.StatusBadGateway, "<html>\r\n\x1b[2Jbad\ngateway\x00</html>", "bad gateway"},
		"silence":         {-1, "", "no answer within 5s"},
		"a secret":        {http.StatusInternalServerError, "bad signature with " + testSecret + " for " + testKey, "bad signature with … for …"},
		"a book":          {http.StatusInternalServerError, strings.Repeat("sorry ", 100_000), "sorry sorry"},
		"half of a rune":  {http.StatusInternalServerError, strings.Repeat("é", 199) + "\xc3", "éé"},
		"a lonely quote":  {http.StatusInternalServerError, `"`, `answered 500 with`},
		"secrets at once": {http.StatusInternalServerError, strings.Repeat(testSecret, 9), "………"},
	} {
		t.Run(name, func(t *testing.T) {
			toldInBubble(t, nil, func(attempt) (int, string) { return c.status, c.body }, func(a *account, w *told) {
				later(5 * time.Second)
				got := w.lines(challengeUnanswered)
				if len(got) != 1 || !strings.Contains(got[0], c.says) || !strings.Contains(got[0], "host=receiver.example") || !strings.Contains(got[0], "level=WARN") {
					t.Fatalf("got %q, want one line with %s", got, c.says)
				}
				later(25 * time.Second)
				got = w.lines(challengeUnanswered)
				if n := len(got); n < 2 || n > 4 {
					t.Errorf("%d lines in half a minute: %q", n, got)
				}
				a.receiver.mu.Lock()
				a.receiver.answer = nil
				a.receiver.mu.Unlock()
				later(10 * time.Second)
				if all := w.lines(""); len(w.lines("webhook endpoint verified")) != 1 || !strings.Contains(all[len(all)-1], "verified") {
					t.Errorf("the last line does not say that it is verified: %q", all)
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

func TestEveryFailedChallengeIsCounted(t *testing.T) {
	toldInBubble(t, nil, func(attempt) (int, string) { return http.StatusNotFound, "" }, func(a *account, w *told) {
		later(35 * time.Second)
		a.receiver.mu.Lock()
		a.receiver.answer = nil
		a.receiver.mu.Unlock()
		later(15 * time.Second)
		if got, want := times(t, w.lines(challengeUnanswered)), int(a.sim.Summary().Endpoints[0].Failures); got != want || want < 10 {
			t.Errorf("%d failures were reported, want %d", got, want)
		}
	})
}

// onlyChallenges answers the challenge and refuses the rest.
func onlyChallenges(status int, body string) func(attempt) (int, string) {
	return func(d attempt) (int, string) {
		if d.kind() == string(api.VerificationChallenge) {
			return 0, ""
		}
		return status, body
	}
}

func TestRejectedDeliveriesAreReportedInOneLineForEachKind(t *testing.T) {
	toldInBubble(t, nil, onlyChallenges(http.StatusUnauthorized, `{"error":"signature with `+testSecret+`"}`), func(a *account, w *told) {
		for range 200 {
			a.happens(chiliCrisp, "product.updated")
		}
		later(time.Second)
		got := w.lines(rejected)
		if len(got) != 1 || !strings.Contains(got[0], "answered 401 with") || !strings.Contains(got[0], "event=evt_spice-lab.example:chili-crisp_") ||
			!strings.Contains(got[0], "topic=product.updated") || strings.Contains(got[0], testSecret) {
			t.Fatalf("got %q", got)
		}
		a.receiver.mu.Lock()
		a.receiver.answer = onlyChallenges(http.StatusServiceUnavailable, "")
		a.receiver.mu.Unlock()
		later(3 * time.Minute)
		if got := w.lines("answered 503 without a body; want 200"); len(got) == 0 {
			t.Error("another answer was not reported")
		}
		givenUp := w.lines("webhook delivery given up")
		if got := times(t, givenUp); got != 200 {
			t.Errorf("%d events were reported as given up: %q", got, givenUp)
		}
		sum := a.sim.Summary().Endpoints[0]
		if got := times(t, append(w.lines(rejected), givenUp...)); got != int(sum.Failures) || sum.Failures != 200*uint64(1+len(RetryPauses())) {
			t.Errorf("%d rejections of %d were reported", got, sum.Failures)
		}
		if n := len(w.lines("")); n > 60 {
			t.Errorf("%d lines in three minutes", n)
		}
		if strings.Contains(sum.LastError, testSecret) || !strings.Contains(sum.LastError, "answered 503") {
			t.Errorf("the last error is %q", sum.LastError)
		}
	})
}

func TestWhatIsLeftIsReportedAtTheEnd(t *testing.T) {
	var left *told
	toldInBubble(t, func(c *Config) { c.Retries = -1 }, onlyChallenges(http.StatusUnauthorized, ""), func(a *account, w *told) {
		left = w
		for range 20 {
			a.happens(chiliCrisp, "product.updated")
		}
		later(time.Second)
	})
	if got := times(t, left.lines("webhook delivery given up")); got != 20 {
		t.Errorf("%d of 20 were reported: %q", got, left.lines(""))
	}
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

// deadLine is a network on which nobody listens.
type deadLine struct{}

func (deadLine) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
}

// A wrong signature is refused by a receiver that verifies, and that is no news;
// one that takes it is.
func TestAForgeryThatIsTakenIsReported(t *testing.T) {
	forge := func(c *Config) { c.Faults.BadSignature = 1 }
	happen := func(a *account) {
		for range 10 {
			a.happens(chiliCrisp, "product.updated")
		}
		later(30 * time.Second)
	}
	toldInBubble(t, forge, nil, func(a *account, w *told) {
		happen(a)
		if got := w.lines("took a delivery with a wrong signature"); times(t, got) != 10 {
			t.Errorf("got %q", w.lines(""))
		}
	})
	toldInBubble(t, forge, func(d attempt) (int, string) {
		signature := strings.ToLower("X-Svc-Signature") // as it is sent, not in its canonical form
		if sent := d.header[signature]; sent == nil || sent[0] != Signature(api.NewSecret(testSecret), d.body) {
			return http.StatusUnauthorized, ""
		}
		return 0, ""
	}, func(a *account, w *told) {
		happen(a)
		if got := w.lines("WARN"); len(got) != 0 {
			t.Errorf("got %q", got)
		}
	})
}
