package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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
	intents  int
	journal  journal.Journal
	service  *http.Server
	events   int       // appended so far
	log      io.Writer // gets a line for each event, for log viewers; nil: none
	endpoint struct{ service, relay string }

	ctx   context.Context // ends as the account is closed
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

const relayToken = "a-token-of-this-measurement"

// openAccount makes an account with this many intents and events, and appends rate
// more events a second. Each event is also written to log, unless that is nil.
func openAccount(ctx context.Context, dir string, intents, events, rate int, log io.Writer) (*account, error) {
	j, err := sqlite.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	a := &account{intents: intents, journal: j, log: log}
	if err := a.append(ctx, events, day); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	a.ctx, a.stop = context.WithCancel(ctx)
	if err := a.serve(a.ctx); err != nil {
		a.stop()
		return nil, errors.Join(err, j.Close())
	}
	if rate > 0 {
		a.tasks.Go(func() { paced(a.ctx, rate, func(due int) error { return a.append(a.ctx, due, 0) }) })
	}
	return a, nil
}

// day is the span of the history: on a board at rest, not everything has happened just
// now.
const day = 8 * time.Hour

// append adds the next n events to the journal, as if they had come evenly over the given
// time until now.
func (a *account) append(ctx context.Context, n int, within time.Duration) error {
	now, total := time.Now(), max(n, 1)
	for n > 0 {
		entries := make([]journal.Entry, min(n, 1000))
		for i := range entries {
			entries[i] = a.event(a.events, now.Add(-within*time.Duration(n-i)/time.Duration(total)))
			a.events++
			if a.log != nil {
				if err := logLine(a.log, entries[i]); err != nil {
					return err
				}
			}
		}
		if _, err := a.journal.Append(ctx, entries); err != nil {
			return err
		}
		n -= len(entries)
	}
	return nil
}

// atATime is how many intents are under way at the same time. If there are more, each
// thousand ends before the next begins.
const atATime = 1000

// eventsEach is how many events an intent gets before the next thousand begins.
const eventsEach = 10

// event is the nth event: an intent's offer, its end, and then updates of its shipment,
// which ten intents share.
func (a *account) event(n int, now time.Time) journal.Entry {
	intent, step := n%a.intents, n/a.intents
	if a.intents > atATime {
		const wave = atATime * eventsEach
		intent, step = (n/wave*atATime+n%atATime)%a.intents, n%wave/atATime
	}
	kind, source, sourceType := string(api.OfferRetrieved), intentID(intent), "checkout_intent"
	switch {
	case step == 1:
		kind = string(api.IntentCompleted)
	case step > 1:
		kind, source, sourceType = string(api.ShipmentUpdated), fmt.Sprintf("shp_%032x", intent/10), "shipment"
	}
	id := fmt.Sprintf("evt_%040x", n)
	created := now.Format("2006-01-02T15:04:05.000Z07:00")
	body := fmt.Sprintf(`{"id":%q,"type":%q,"createdAt":%q,"source":{"id":%q,"type":%q}}`, id, kind, created, source, sourceType)
	return journal.Entry{ID: id, Type: kind, CreatedAt: now, Received: now, Origin: journal.Webhook, Body: []byte(body)}
}

// logLine writes an event as tillwatch events --json prints it, after a time and a level
// that log viewers recognize.
func logLine(w io.Writer, e journal.Entry) error {
	_, err := fmt.Fprintf(w, "%s INFO {\"id\":%q,\"type\":%q,\"at\":%q,\"received\":%q,\"src\":%q,\"event\":%s}\n", e.Received.Format("2006-01-02 15:04:05.000"),
		e.ID, e.Type, e.CreatedAt.Format(time.RFC3339Nano), e.Received.Format(time.RFC3339Nano), e.Origin, e.Body)
	return err
}

func intentID(n int) string { return fmt.Sprintf("ci_%032x", n) }

// paced makes so many of something a second, a hundred times a second, until ctx ends or make fails.
func paced(ctx context.Context, rate int, make func(due int) error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began, sent := time.Now(), 0
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		due := int(time.Since(began).Seconds()*float64(rate)) - sent
		if make(due) != nil {
			return
		}
		sent += due
	}
}

func (a *account) serve(ctx context.Context) error {
	r, err := relay.New(relay.Config{
		Journal: a.journal, SigningSecrets: []api.Secret{api.NewSecret("a secret of this measurement")}, Tokens: []api.Secret{api.NewSecret(relayToken)},
	})
	if err != nil {
		return err
	}
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, stream.Close())
	}
	a.endpoint.relay, a.endpoint.service = "http://"+stream.Addr().String(), "http://"+service.Addr().String()
	a.service = &http.Server{Handler: http.HandlerFunc(a.answer)}
	a.tasks.Go(func() { _ = r.Serve(ctx, stream) })
	a.tasks.Go(func() { _ = a.service.Serve(service) })
	return nil
}

// answer is the service: every intent exists and has ended, every shipment was
// delivered, and there are no lists.
func (a *account) answer(w http.ResponseWriter, req *http.Request) {
	w.Header()["RateLimit-Policy"] = []string{`"default";q=1000;w=1`}
	w.Header()["RateLimit"] = []string{`"default";r=999;t=1`}
	w.Header().Set("Content-Type", "application/json")
	id, intent := strings.CutPrefix(req.URL.Path, "/api/v1/checkout-intents/")
	parcel, shipment := strings.CutPrefix(req.URL.Path, "/api/v1/shipments/")
	switch {
	case intent:
		fmt.Fprintf(w, `{"id":%q,"createdAt":"2026-06-18T14:02:11.482Z","productUrl":"https://shop.example/mug","quantity":1,"state":"completed","orderId":"4711",`+
			`"offer":{"cost":{"subtotal":{"currencyCode":"USD","amountSubunits":1290},"total":{"currencyCode":"USD","amountSubunits":1490}}}}`, id)
	case shipment:
		var n int
		_, _ = fmt.Sscanf(parcel, "shp_%x", &n)
		fmt.Fprintf(w, `{"id":%q,"checkoutIntentId":%q,"status":"delivered","createdAt":"2026-06-18T15:02:11.482Z","updatedAt":"2026-06-20T10:30:00.000Z",`+
			`"tracking":{"carrierName":"DHL","number":"00340434161094%06d"}}`, parcel, intentID(10*n), n)
	case req.URL.Path == "/api/v1/shipments":
		fmt.Fprint(w, `{"pageInfo":{"hasPreviousPage":false,"hasNextPage":false,"startCursor":null,"endCursor":null},"data":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"not found"}`)
	}
}

func (a *account) close() error {
	a.stop()
	err := a.service.Close()
	a.tasks.Wait()
	return errors.Join(err, a.journal.Close())
}

// watch is a dashboard on the account.
func (a *account) watch(name, program, stateDir string, more ...string) subject {
	return subject{
		name:  name,
		args:  append([]string{program, "watch", "--api-url", a.endpoint.service, "--relay-url", a.endpoint.relay, "--state-dir", stateDir}, more...),
		env:   []string{"TILLWATCH_API_KEY=measured", "TILLWATCH_RELAY_TOKEN=" + relayToken, "TILLWATCH_CONFIG="},
		keys:  [2]string{"\t", "\x1b[Z"}, // visible whatever the account holds
		ready: func(text string) bool { return strings.Contains(text, "live") },
	}
}
