package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
)

// journal is a relay's: events that any number of streams read.
type journal struct {
	mu    sync.Mutex
	items []relay.Item
	more  chan struct{}
}

func newJournal() *journal { return &journal{more: make(chan struct{})} }

// add stores an event, and returns its id.
func (j *journal) add(t *testing.T) api.ID {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	seq := len(j.items) + 1
	body := fmt.Sprintf(`{"id":"evt_%d","object":"event","type":%q,"createdAt":"2026-01-02T03:04:05Z",`+
		`"source":{"type":"checkout_intent","id":"ci_1"}}`, seq, api.IntentCompleted)
	event, err := api.DecodeEvent([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	j.items = append(j.items, relay.Item{Seq: int64(seq), Event: event, Received: time.Now(), Origin: "webhook"})
	close(j.more)
	j.more = make(chan struct{})
	return event.ID
}

func (j *journal) after(seq int64) ([]relay.Item, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.items[seq:min(seq+50, int64(len(j.items)))], j.more
}

// stream reads a journal as a subscriber does.
type stream struct {
	journal *journal
	mu      sync.Mutex
	at      int64
}

func (s *stream) Cursor() string { return fmt.Sprintf("epoch:%d", s.Status().Cursor) }

func (s *stream) Status() relay.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return relay.Status{Epoch: "epoch", Cursor: s.at}
}

func (s *stream) Run(ctx context.Context, h relay.Handler) error {
	welcome := s.Status()
	welcome.State = relay.Replaying
	h.Status(welcome)
	for {
		batch, more := s.journal.after(s.Status().Cursor)
		if len(batch) == 0 {
			h.Status(relay.Status{State: relay.Live, Epoch: "epoch"})
			select {
			case <-more:
			case <-ctx.Done():
				return nil
			}
			continue
		}
		if err := h.Events(ctx, append([]relay.Item(nil), batch...)); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			continue // as after a lost connection
		}
		s.mu.Lock()
		s.at = batch[len(batch)-1].Seq
		s.mu.Unlock()
	}
}

// subscribe streams a journal from a cursor, or from its beginning.
func (j *journal) subscribe(_ Target, cursor string) (Source, error) {
	s := &stream{journal: j}
	if cursor != "" {
		if _, err := fmt.Sscanf(cursor, "epoch:%d", &s.at); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// endpoint is a target in memory, which does as it is told with each event.
type endpoint struct {
	do func(e api.Event, dice *rand.Rand) verdict

	mu    sync.Mutex
	dice  *rand.Rand
	taken map[api.ID]int // answered with 200
	tried []api.ID
	seen  func(api.Event) // of each request, in order
}

// verdict is what an endpoint does with an event.
type verdict struct {
	status int // 0: it refuses the connection
	hangs  bool
	after  string // of Retry-After; "": it says nothing of it
}

func newEndpoint(do func(api.Event, *rand.Rand) verdict) *endpoint {
	return &endpoint{do: do, dice: rand.New(rand.NewPCG(1, 2)), taken: map[api.ID]int{}}
}

// set changes what the endpoint does.
func (e *endpoint) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

func taking(api.Event, *rand.Rand) verdict { return verdict{status: 200} }

func (e *endpoint) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	event, err := api.DecodeEvent(body)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.tried = append(e.tried, event.ID)
	if e.seen != nil {
		e.seen(event)
	}
	v, took := e.do(event, e.dice), time.Duration(1+e.dice.IntN(20))*time.Millisecond
	e.mu.Unlock()
	if v.hangs {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	if err := api.Sleep(request.Context(), took); err != nil {
		return nil, err
	}
	if v.status == 0 {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.status == http.StatusOK {
		e.taken[event.ID]++
	}
	header := http.Header{}
	if v.after != "" {
		header.Set("Retry-After", v.after)
	}
	return &http.Response{StatusCode: v.status, Header: header, Body: http.NoBody, Request: request}, nil
}
