package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

// account is a service and a relay on loopback, with a history. It stands in for an
// account in production that a dashboard watches.
type account struct {
	intents int
	journal journal.Journal
	events  int // appended so far

	service              *httptest.Server
	serviceURL, relayURL string

	stop  context.CancelFunc
	tasks sync.WaitGroup
}

const (
	relayToken = "a-token-of-this-measurement"
	// day is the span of the history: on a board at rest, not everything has happened just now.
	day = 8 * time.Hour
	// atATime is how many intents are under way at the same time, with eventsEach events for each. If there are more
	// intents, each thousand ends before the next begins.
	atATime, eventsEach = 1000, 10
)

// openAccount makes an account with this many intents and events, and appends rate
// more events a second.
func openAccount(ctx context.Context, dir string, intents, events, rate int) (*account, error) {
	j, err := sqlite.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	a := &account{intents: intents, journal: j}
	ctx, a.stop = context.WithCancel(ctx)
	if err := errors.Join(a.append(ctx, events, day), a.serve(ctx)); err != nil {
		return nil, errors.Join(err, a.close())
	}
	if rate > 0 {
		a.tasks.Go(func() { a.goOn(ctx, rate) })
	}
	return a, nil
}

// goOn appends so many events a second, in a hundred steps, until ctx ends.
func (a *account) goOn(ctx context.Context, rate int) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began, sent := time.Now(), 0
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		due := int(time.Since(began).Seconds()*float64(rate)) - sent
		if a.append(ctx, due, 0) != nil {
			return
		}
		sent += due
	}
}

// append adds the next n events to the journal, as if they had come evenly over the given
// time until now.
func (a *account) append(ctx context.Context, n int, within time.Duration) error {
	now, total := time.Now(), max(n, 1)
	for n > 0 {
		entries := make([]journal.Entry, min(n, 1000))
		for i := range entries {
			entries[i] = a.event(a.events, now.Add(-within*time.Duration(n-i)/time.Duration(total)))
			a.events++
		}
		if _, err := a.journal.Append(ctx, entries); err != nil {
			return err
		}
		n -= len(entries)
	}
	return nil
}

// event is the nth event: an intent's offer, its end, and then updates of its shipment,
// which ten intents share.
func (a *account) event(n int, now time.Time) journal.Entry {
	intent, step := n%a.intents, n/a.intents
	if a.intents > atATime {
		const wave = atATime * eventsEach
		intent, step = (n/wave*atATime+n%atATime)%a.intents, n%wave/atATime
	}
	kind, source, sourceType := string(api.OfferRetrieved), fmt.Sprintf("ci_%032x", intent), "checkout_intent"
	switch {
	case step == 1:
		kind = string(api.IntentCompleted)
	case step > 1:
		kind, source, sourceType = string(api.ShipmentUpdated), fmt.Sprintf("shp_%032x", intent/10), "shipment"
	}
	id := fmt.Sprintf("evt_%040x", n)
	body := fmt.Sprintf(`{"id":%q,"type":%q,"createdAt":%q,"source":{"id":%q,"type":%q}}`,
		id, kind, now.Format("2006-01-02T15:04:05.000Z07:00"), source, sourceType)
	return journal.Entry{ID: id, Type: kind, CreatedAt: now, Received: now, Origin: journal.Webhook, Body: []byte(body)}
}

// serve serves the service and the relay until ctx ends.
func (a *account) serve(ctx context.Context) error {
	r, err := relay.New(relay.Config{
		Journal: a.journal, Tokens: []api.Secret{api.NewSecret(relayToken)},
		SigningSecrets: []api.Secret{api.NewSecret("a secret of this measurement")},
	})
	if err != nil {
		return err
	}
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	a.service = httptest.NewServer(service())
	a.serviceURL, a.relayURL = a.service.URL, "http://"+stream.Addr().String()
	a.tasks.Go(func() { _ = r.Serve(ctx, stream) })
	return nil
}

// service is the service: every intent exists and has ended, every shipment was delivered, and there are no lists.
func service() http.Handler {
	mux := http.NewServeMux()
	answer := func(path string, status int, body func(id string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["RateLimit-Policy"] = []string{`"default";q=1000;w=1`}
			w.Header()["RateLimit"] = []string{`"default";r=999;t=1`}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body(r.PathValue("id")))
		})
	}
	answer("/api/v1/checkout-intents/{id}", http.StatusOK, func(id string) string {
		return fmt.Sprintf(`{"id":%q,"createdAt":"2026-06-18T14:02:11.482Z","productUrl":"https://shop.example/mug",`+
			`"quantity":1,"state":"completed","orderId":"4711","offer":{"cost":{"subtotal":{"currencyCode":"USD",`+
			`"amountSubunits":1290},"total":{"currencyCode":"USD","amountSubunits":1490}}}}`, id)
	})
	answer("/api/v1/shipments/{id}", http.StatusOK, func(id string) string {
		var n int
		_, _ = fmt.Sscanf(id, "shp_%x", &n)
		return fmt.Sprintf(`{"id":%q,"checkoutIntentId":"ci_%032x","status":"delivered",`+
			`"createdAt":"2026-06-18T15:02:11.482Z","updatedAt":"2026-06-20T10:30:00.000Z",`+
			`"tracking":{"carrierName":"DHL","number":"00340434161094%06d"}}`, id, 10*n, n)
	})
	answer("/api/v1/shipments", http.StatusOK, func(string) string {
		return `{"pageInfo":{"hasPreviousPage":false,"hasNextPage":false,"startCursor":null,"endCursor":null},"data":[]}`
	})
	answer("/", http.StatusNotFound, func(string) string { return `{"message":"not found"}` })
	return mux
}

func (a *account) close() error {
	a.stop()
	if a.service != nil {
		a.service.Close()
	}
	a.tasks.Wait()
	return a.journal.Close()
}
