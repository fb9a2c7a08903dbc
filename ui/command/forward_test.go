package command

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
)

// endpoint is an integration under development.
type endpoint struct {
	url      string
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	status   int
	ok       map[string]bool // the ids that were answered with 200
	arrived  chan struct{}   // closed at the next request
}

func (e *endpoint) seen() []*http.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests
}

func (e *endpoint) taken() map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.ok)
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{status: http.StatusOK, ok: map[string]bool{}, arrived: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.requests, e.bodies = append(e.requests, request), append(e.bodies, string(body))
		if e.status == http.StatusOK {
			e.ok[request.Header.Get("x-svc-event-id")] = true
		}
		close(e.arrived)
		e.arrived = make(chan struct{})
		w.WriteHeader(e.status)
		if event, err := api.DecodeEvent(body); err == nil && event.Type == api.VerificationChallenge {
			fmt.Fprintf(w, `{"challenge":%q}`, event.Source.ID)
		}
	}))
	t.Cleanup(server.Close)
	e.url = server.URL + "/webhooks"
	return e
}

// await waits until the endpoint has had n requests.
func (e *endpoint) await(t *testing.T, n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for late := time.Now().Add(patience); len(e.requests) < n; {
		if time.Now().After(late) {
			t.Fatalf("%d of %d requests came", len(e.requests), n)
		}
		arrived := e.arrived
		e.mu.Unlock()
		select {
		case <-arrived:
		case <-time.After(patience):
		}
		e.mu.Lock()
	}
}

func (e *endpoint) answer(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = status
}

// mustExit runs a command, which must end with this code and say this.
func mustExit(t *testing.T, want int, says string, args ...string) (out string) {
	t.Helper()
	stdout, said := &utterances{}, &utterances{}
	code := run(t.Context(), args, strings.NewReader(""), stdout, said)
	if code != want || !strings.Contains(said.String(), says) {
		t.Errorf("%v: exit code %d, not %d: %s%s", args, code, want, stdout, said)
	}
	return stdout.String()
}

// A forwarder that is killed lets go of its state, and the next one goes on.
func TestAKilledForwarderIsFollowedByTheNext(t *testing.T) {
	startEvents(t, 6)
	e := newEndpoint(t)
	program := func(enough func() bool) {
		t.Helper()
		run := exec.Command(os.Args[0], "forward", "--to", e.url, "--since", "earliest")
		run.Env = append(os.Environ(), asProgram+"=1")
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		for late := time.Now().Add(patience); !enough() && time.Now().Before(late); {
			e.await(t, len(e.seen())+1)
		}
		_ = run.Process.Kill()
		_ = run.Wait() // it was killed
	}
	e.answer(http.StatusInternalServerError)
	for range 3 {
		before := len(e.seen())
		program(func() bool { return len(e.seen()) > before })
	}
	e.answer(http.StatusOK)
	program(func() bool { return len(e.taken()) == 6 })
	if taken := e.taken(); len(taken) != 6 {
		t.Errorf("taken is %v", taken)
	}
}
