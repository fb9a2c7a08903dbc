package postgres

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal"
)

const (
	signingSecret = "a signing secret of tests"
	streamToken   = "a token of tests"
)

func newRelay(t testing.TB, j journal.Journal) *relay.Relay {
	t.Helper()
	r, err := relay.New(relay.Config{
		Journal:        j,
		SigningSecrets: []api.Secret{api.NewSecret(signingSecret)},
		Tokens:         []api.Secret{api.NewSecret(streamToken)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventBody is the nth of a row of events, at least size bytes long.
func eventBody(n, size int) []byte {
	text := fmt.Sprintf(`{"id":"evt_ci_%032x_completed","object":"event","type":"checkout_intent.completed",`+
		`"createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_%032x"}`, n, n)
	return fmt.Appendf(nil, `%s,"padding":"%0*d"}`, text, max(1, size-len(text)-14), 0)
}

func signatureOf(body []byte) string {
	mac := hmac.New(sha256.New, []byte(signingSecret))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

func deliver(r *relay.Relay, body []byte) (status int) {
	request := httptest.NewRequest(http.MethodPost, relay.WebhookPath, bytes.NewReader(body))
	request.Header.Set("x-svc-signature", signatureOf(body))
	answer := httptest.NewRecorder()
	r.Ingest().ServeHTTP(answer, request)
	return answer.Code
}

// listener collects what a subscriber gets, until it has want events.
type listener struct {
	want     int
	done     context.CancelFunc
	mu       sync.Mutex
	items    []relay.Item
	statuses []relay.Status
}

func (l *listener) Events(_ context.Context, batch []relay.Item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.items = append(l.items, batch...); len(l.items) >= l.want {
		l.done()
	}
	return nil
}

func (l *listener) Status(s relay.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses = append(l.statuses, s)
}

// subscribe follows the relay at address behind cursor until want events came,
// and returns them with the cursor behind them.
func subscribe(t *testing.T, address, cursor string, want int) ([]relay.Item, string) {
	t.Helper()
	s, err := relay.NewSubscriber(relay.SubscriberConfig{
		URL: "http://" + address, Token: api.NewSecret(streamToken), Cursor: cursor,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	l := &listener{want: want, done: done}
	if err := s.Run(ctx, l); err != nil {
		t.Error(err)
	}
	for _, status := range l.statuses {
		if status.Resume == relay.ResumeReset || status.Resume == relay.ResumeGap {
			t.Errorf("the cursor %q was answered %s", cursor, status.Resume)
		}
	}
	return l.items, s.Cursor()
}

func TestAnyRelayTakesAnyServesAndCursorsHoldEverywhere(t *testing.T) {
	const events = 60
	dsn := schema(t)
	relays := []*relay.Relay{newRelay(t, opened(t, dsn)), newRelay(t, opened(t, dsn))}
	var addresses []string
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	for _, r := range relays {
		listening, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, listening.Addr().String())
		serving.Go(func() {
			if err := r.Serve(ctx, listening); err != nil {
				t.Error(err)
			}
		})
	}
	defer serving.Wait()
	defer stop()
	serving.Go(func() {
		for n := range 2 * events { // each event reaches both relays
			if status := deliver(relays[n%2], eventBody(n/2, 0)); status != http.StatusOK {
				t.Errorf("delivery %d: status %d", n, status)
			}
		}
	})
	// A subscriber that a balancer sends from one relay to the other misses nothing.
	var all []relay.Item
	cursor := ""
	for leg := range 4 {
		items, at := subscribe(t, addresses[leg%2], cursor, min(events/4, events-len(all)))
		all, cursor = append(all, items...), at
		if len(all) == events {
			break
		}
	}
	if len(all) != events {
		t.Errorf("%d events arrived, want %d", len(all), events)
	}
	for i, item := range all {
		if item.Seq != int64(i+1) {
			t.Fatalf("event %d of the row has number %d", i+1, item.Seq)
		}
	}
}
