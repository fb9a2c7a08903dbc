package command

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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

func TestEventsAreForwardedAsTheServiceDeliversThem(t *testing.T) {
	startEvents(t, 3)
	e := newEndpoint(t)
	code, out, said := events(t, "resend", "--since", "earliest", "--json", "--to", e.url, "--type", "shipment.*")
	all := eventLines(t, out)
	if d := all[0].Forwarded; d.Event != all[0].Event.ID || d.Type != all[0].Event.Type || d.Target != api.Text(e.url) {
		t.Errorf("the delivery of %s is %+v", all[0].Event.ID, d)
	}
	if code != exitDone || said != "" || seqs(all) != "1 3" || len(e.bodies) != 2 {
		t.Fatalf("%d %s%s, %d forwarded", code, out, said, len(e.bodies))
	}
	for i, n := range []int{1, 3} {
		body, header := eventOf(n, "shipment.created"), e.requests[i].Header
		if e.bodies[i] != body || header.Get("x-svc-signature") != signed(oldSecret, body) || header.Get("x-svc-event-id") != fmt.Sprintf("evt_%d", n) ||
			header.Get("x-svc-topic") != "shipment.created" || header.Get("x-svc-timestamp") == "" || e.requests[i].Method != http.MethodPost {
			t.Errorf("event %d arrives as %v %s", n, header, e.bodies[i])
		}
		if all[i].Forwarded == nil || all[i].Forwarded.Status != 200 {
			t.Errorf("event %d: got %+v", n, all[i].Forwarded)
		}
	}
	e.answer(http.StatusTeapot)
	code, out, _ = events(t, "resend", "evt_2", "--to", e.url)
	if code != exitFailed || !strings.Contains(out, "forwarded: 418 in") || e.bodies[2] != eventOf(2, "checkout_intent.completed") {
		t.Errorf("one event again: %d %s", code, out)
	}
	t.Setenv("TILLWATCH_SIGNING_SECRET", "")
	code, out, said = events(t, "resend", "evt_1", "--to", e.url)
	if code != exitFailed || !strings.Contains(out, "forwarded: 418") || !strings.Contains(said, "are not signed") || len(e.requests[3].Header.Values("x-svc-signature")) != 0 {
		t.Errorf("without a secret: %d %s%s", code, out, said)
	}
}

func TestAnEndpointThatIsAwayIsReportedAndTheStreamGoesOn(t *testing.T) {
	startEvents(t, 2)
	code, out, said := events(t, "resend", "--since", "earliest", "--to", "http://127.0.0.1:1/")
	if code != exitFailed || strings.Count(out, "not forwarded: ") != 2 || !strings.Contains(said, "2 of 2 events were not accepted") || strings.Contains(said, oldSecret) {
		t.Errorf("%d %s%s", code, out, said)
	}
	for _, wrong := range []string{"127.0.0.1:3000", "ftp://127.0.0.1/", "http://", "http://name:word@127.0.0.1/"} {
		if code, _, said := events(t, "resend", "--since", "earliest", "--to", wrong); code != exitUsage || strings.Contains(said, "word@") {
			t.Errorf("%s: %d %s", wrong, code, said)
		}
	}
}
