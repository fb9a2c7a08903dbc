package relay

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// linesWith returns the lines of a log that contain part, without their times.
func linesWith(log *recorded, part string) (lines []string) {
	for line := range strings.Lines(log.String()) {
		if _, said, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(said, part) {
			lines = append(lines, said)
		}
	}
	return lines
}

func TestAKindOfFailureIsLoggedOnceASecondWithItsCount(t *testing.T) {
	for _, test := range []struct {
		name string
		fail func(t *testing.T, r *Relay) // once
		line string
	}{
		{"the journal cannot be written", func(t *testing.T, r *Relay) {
			if w := serve(r.Ingest(), signedRequest(eventBody(1))); w.Code != http.StatusServiceUnavailable {
				t.Fatalf("%d", w.Code)
			}
		}, `level=ERROR msg="delivery not stored" error="disk full"`},
		{"no signature", func(t *testing.T, r *Relay) {
			serve(r.Ingest(), httptest.NewRequest(http.MethodPost, WebhookPath, nil))
		}, `level=WARN msg="delivery rejected: the signature is missing or wrong" status=401`},
		{"a body that cannot be kept aside", func(t *testing.T, r *Relay) {
			serve(r.Ingest(), signedRequest([]byte("no event")))
		}, `level=ERROR msg="delivery not stored" error="disk full"`},
		{"no stream can be opened", func(t *testing.T, r *Relay) {
			r.draining.Store(true)
			r.hub.closed = true
			serve(r.Admin(), asked(StreamPath, testToken))
		}, `level=WARN msg="stream refused" error="the relay is shutting down"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, log := newMemory(t), &recorded{}
				memory.Fail(errors.New("disk full"))
				r := newTestRelay(t, memory, func(cfg *Config) { cfg.Logger = log.logger() })
				for range 300 { // 111 a second for not quite 3 s
					test.fail(t, r)
					<-time.After(9 * time.Millisecond)
				}
				<-time.After(time.Minute)
				test.fail(t, r)
				want := []string{test.line, test.line + " more_since_last=111", test.line + " more_since_last=111", test.line + " more_since_last=77", test.line}
				if got := linesWith(log, "msg="); !slices.Equal(got, want) {
					t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}
