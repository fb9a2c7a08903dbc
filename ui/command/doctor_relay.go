package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkRelay asks the relay whether it is ready.
func (p *patient) checkRelay(ctx context.Context) []doctor.Finding {
	s := p.settings
	if s.RelayURL == "" {
		return doctor.Skip("no relay is configured, so the account is polled")
	}
	const means = "dashboards hear of no change, and poll"
	reader, err := relay.NewReader(relay.ReaderConfig{URL: s.RelayURL, Token: s.RelayToken, InsecureHTTP: s.InsecureHTTP})
	if err != nil {
		return doctor.Findings(doctor.Fault, addressed(err).Error(), means, "correct relay_url")
	}
	p.reader = reader
	address := strings.TrimSuffix(strings.TrimSuffix(s.RelayURL, "/"), relay.StreamPath)
	if rest, is := strings.CutPrefix(address, "ws"); is {
		address = "http" + rest
	}
	probe, err := relay.NewProbe(address, nil)
	if err != nil {
		return doctor.Findings(doctor.Note, "whether it is ready is not asked, as its address has a path", "a way to it through a web server may not lead to its probes", "")
	}
	began := time.Now()
	_, err = probe.Ask(ctx)
	var unready *relay.UnreadyError
	switch {
	case err == nil:
		return doctor.Fine("it is ready at %s, and answered in %d ms", s.RelayURL, time.Since(began).Milliseconds())
	case errors.As(err, &unready):
		return doctor.Findings(doctor.Fault, err.Error(), "it refuses deliveries, which the service may send again or not", "look at its log and its disk: tillwatch doctor --data DIR there")
	}
	return doctor.Findings(doctor.Fault, err.Error(), means, "start the relay (tillwatch relay), or correct relay_url")
}

// checkToken tells what the relay's token may do, as far as reads can tell.
func (p *patient) checkToken(ctx context.Context) []doctor.Finding {
	head, err := p.reader.Head(ctx, 0)
	var refused *relay.RefusedError
	switch {
	case err == nil:
		p.head = head
		return doctor.Fine("the relay takes it, and it may read events; whether it may report, as a proxy does, no read tells")
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		return doctor.Findings(doctor.Note, "the token may not read events one by one (scope read)", "tillwatch events ID, --last and a change of profile need that", "tillwatch tokens makes one that may")
	case errors.As(err, &refused):
		return doctor.Findings(doctor.Fault, "the relay does not accept the token (401)", "dashboards hear of no change, and poll", "set TILLWATCH_RELAY_TOKEN to one that it knows: tillwatch tokens there lists them")
	}
	return doctor.Findings(doctor.Fault, "the relay cannot be read: "+err.Error(), "what answers may be no relay", "correct relay_url, or look at what stands in between")
}

// lookBack is how many of the newest events are looked at.
const lookBack = 20

// checkStream connects as a dashboard does, and then once more with a cursor.
func (p *patient) checkStream(ctx context.Context) []doctor.Finding {
	const means = "dashboards hear of no change, and poll"
	first, err := p.stream(ctx, "")
	if err != nil {
		do := "look at what stands in between: it must let websockets pass"
		var refused *relay.RefusedError
		if errors.As(err, &refused) {
			do = "use a token with the scope stream: tillwatch tokens makes one"
		}
		return doctor.Findings(doctor.Fault, err.Error(), means, do)
	}
	back := max(first.Head-lookBack, 0)
	again, err := p.stream(ctx, first.Epoch+":"+strconv.FormatInt(back, 10))
	switch {
	case err != nil:
		return doctor.Findings(doctor.Fault, "the stream does not resume from a cursor: "+err.Error(), "after a break, events may be missed until they are read", "look at the relay's log")
	case again.Resume == relay.ResumeReset:
		return doctor.Findings(doctor.Fault, "the relay has begun a new journal between two connections", "cursors of before mean nothing to it", "several relays behind one address need one database")
	case again.Resume == relay.ResumeGap:
		return doctor.Findings(doctor.Note, "the relay has let go of its newest events (--retention)", "a dashboard that was away for long reads what it missed", "")
	}
	return doctor.Fine("it connects, and resumes from a cursor; %s in the journal", wording.Counted(int(again.Head), "event", "events"))
}

// stream follows the relay's stream until it is live: then it has sent what follows
// the cursor.
func (p *patient) stream(ctx context.Context, cursor string) (relay.Status, error) {
	subscriber, err := relay.NewSubscriber(relay.SubscriberConfig{
		URL: p.settings.RelayURL, Token: p.settings.RelayToken, InsecureHTTP: p.settings.InsecureHTTP,
		Cursor: cursor, From: relay.FromLatest, Client: "tillwatch doctor",
	})
	if err != nil {
		return relay.Status{}, err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	l := &listening{end: end}
	_ = subscriber.Run(ctx, l) // what it ends with, the last status has
	p.newest = l.items
	switch {
	case l.live:
		return l.status, nil
	case l.status.Err != nil:
		return l.status, l.status.Err
	}
	return l.status, fmt.Errorf("the stream has not become live within %s", doctor.Within)
}

// listening is a [relay.Handler] that ends at the first moment that tells enough.
type listening struct {
	end    func()
	items  []relay.Item
	status relay.Status
	live   bool
}

// Events implements [relay.Handler].
func (l *listening) Events(_ context.Context, batch []relay.Item) error {
	for _, item := range batch {
		item.Event.Raw = nil // the batch is the subscriber's
		l.items = append(l.items, item)
	}
	return nil
}

// Status implements [relay.Handler].
func (l *listening) Status(s relay.Status) {
	if l.live {
		return // it ends now
	}
	l.status, l.live = s, s.State == relay.Live
	if l.live || s.State == relay.Lost || s.State == relay.Refused {
		l.end()
	}
}

// checkEvents compares the newest event with what the service has to tell.
func (p *patient) checkEvents(context.Context) []doctor.Finding {
	now := time.Now()
	latest, byList := p.latest(now)
	var newest relay.Item
	backfilled := 0
	for _, item := range p.newest {
		newest = item
		if item.Origin == "backfill" {
			backfilled++
		}
	}
	known := !newest.Received.IsZero()
	words := "the relay has received no event yet"
	if known {
		words = fmt.Sprintf("the newest came %s ago", wording.Lasting(now.Sub(newest.Received)))
	}
	const stopped = "deliveries have stopped, or never began"
	const do = "look at the endpoint in the account console, and save its address again"
	switch {
	case known && backfilled == len(p.newest) && backfilled > 1:
		return doctor.Findings(doctor.Fault, fmt.Sprintf("no delivery brought any of the newest %d events: the relay took them from the service's list", backfilled), stopped, do)
	case latest != nil && !p.has(latest.id) && now.Sub(latest.at) > deliverWithin && latest.at.Sub(newest.Event.CreatedAt) > deliverWithin:
		what := fmt.Sprintf("an intent of %s ago is past its offer", wording.Lasting(now.Sub(latest.at)))
		if byList {
			what = fmt.Sprintf("the service tells of an event of %s ago", wording.Lasting(now.Sub(latest.at)))
		}
		return doctor.Findings(doctor.Fault, words+", and "+what, stopped, do)
	case latest == nil:
		return doctor.Findings(doctor.Note, words+"; what the account did since cannot be known, as the service lists nothing new", "", "")
	case backfilled > 0:
		return doctor.Findings(doctor.Note, fmt.Sprintf("%s; of the newest %d, %d came by the service's list and not by a delivery", words, len(p.newest), backfilled), "single deliveries were lost, and made good", "")
	}
	return doctor.Fine("%s, and the service has none that is newer", words)
}

// deliverWithin is how long an event may be under way.
const deliverWithin = time.Minute

// latest is the newest thing of the service that an event tells of, if it can be
// known, and whether that is the event itself.
func (p *patient) latest(now time.Time) (latest *happened, event bool) {
	if p.events.newest != nil && !p.events.newest.at.IsZero() {
		return p.events.newest, true
	}
	if l := p.intents.newest; l != nil && l.eventful && !l.at.IsZero() {
		return l, false
	}
	return nil, false
}

// has reports whether the newest events tell of an event or an intent.
func (p *patient) has(id api.ID) bool {
	for _, item := range p.newest {
		if item.Event.ID == id || item.Event.Source.ID == id {
			return true
		}
	}
	return false
}
