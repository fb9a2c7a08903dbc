package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// unheard is what a relay that cannot be followed means.
const unheard = "dashboards hear of no change, and poll"

// checkRelay asks the relay whether it is ready.
func (p *patient) checkRelay(ctx context.Context) []doctor.Finding {
	s := p.settings
	if s.RelayURL == "" {
		return doctor.Skip("no relay is configured, so the account is polled")
	}
	var err error
	if p.reader, err = newReader(s); err != nil {
		return doctor.Findings(doctor.Fault, err.Error(), unheard, "correct relay_url")
	}
	address := strings.TrimSuffix(strings.TrimSuffix(s.RelayURL, "/"), relay.StreamPath)
	if rest, is := strings.CutPrefix(address, "ws"); is {
		address = "http" + rest
	}
	probe, err := relay.NewProbe(address, nil)
	if err != nil { // the address has a path: a web server's, before the relay
		return doctor.Findings(doctor.Note, "its probes are not asked, as its address has a path", "", "")
	}
	var unready *relay.UnreadyError
	switch _, err = probe.Ask(ctx); {
	case errors.As(err, &unready):
		return doctor.Findings(doctor.Fault, err.Error(), "it refuses deliveries, which the service may send again or not", "look at its log and its disk: tillwatch doctor --data DIR there")
	case err != nil:
		return doctor.Findings(doctor.Fault, err.Error(), unheard, "start the relay (tillwatch relay), or correct relay_url")
	}
	return doctor.Fine("it is ready at %s", s.RelayURL)
}

// checkToken tells what the relay's token may do, as far as reads can tell.
func (p *patient) checkToken(ctx context.Context) []doctor.Finding {
	_, err := p.reader.Head(ctx, 0)
	var refused *relay.RefusedError
	switch {
	case err == nil:
		return doctor.Fine("the relay takes it, and it may read events; whether it may report, as a proxy does, no read tells")
	case !errors.As(err, &refused):
		return doctor.Findings(doctor.Fault, "the relay cannot be read: "+err.Error(), "what answers may be no relay", "correct relay_url, or look at what stands in between")
	case refused.Status == http.StatusForbidden:
		return doctor.Findings(doctor.Note, "the token may not read events one by one (scope read)", "tillwatch events ID, --last and a change of profile need that", "tillwatch tokens makes one that may")
	}
	return doctor.Findings(doctor.Fault, "the relay does not accept the token (401)", unheard, "set TILLWATCH_RELAY_TOKEN to one that it knows: tillwatch tokens there lists them")
}

// lookBack is how many of the newest events are looked at.
const lookBack = 20

// checkStream connects as a dashboard does, and then once more with a cursor.
func (p *patient) checkStream(ctx context.Context) []doctor.Finding {
	first, err := p.stream(ctx, "")
	var refused *relay.RefusedError
	switch {
	case errors.As(err, &refused):
		return doctor.Findings(doctor.Fault, err.Error(), unheard, "use a token with the scope stream: tillwatch tokens makes one")
	case err != nil:
		return doctor.Findings(doctor.Fault, err.Error(), unheard, "look at what stands in between: it must let websockets pass")
	}
	again, err := p.stream(ctx, first.Epoch+":"+strconv.FormatInt(max(first.Head-lookBack, 0), 10))
	switch {
	case err != nil:
		return doctor.Findings(doctor.Fault, "the stream does not resume from a cursor: "+err.Error(), "after a break, what was missed comes late", "look at the relay's log")
	case again.Resume == relay.ResumeReset:
		return doctor.Findings(doctor.Fault, "a cursor of a moment ago is of another journal", "after each break, all events come anew", "have relays behind one address use one database")
	}
	return doctor.Fine("it connects, and resumes from a cursor; the journal has come to event %s", wording.Count(int(again.Head)))
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
	if p.newest = l.items; l.status.State != relay.Live && l.status.Err == nil {
		l.status.Err = errors.New("the stream has not become live in time")
	}
	return l.status, l.status.Err
}

// listening is a [relay.Handler] that ends at the first status that tells enough.
type listening struct {
	end    func()
	items  []relay.Item
	status relay.Status
	told   bool
}

// Events implements [relay.Handler].
func (l *listening) Events(_ context.Context, batch []relay.Item) error {
	l.items = append(l.items, batch...) // of which nothing is read that is the subscriber's
	return nil
}

// Status implements [relay.Handler].
func (l *listening) Status(s relay.Status) {
	if l.told {
		return // it ends now
	}
	l.status, l.told = s, s.State == relay.Live || s.State == relay.Lost || s.State == relay.Refused
	if l.told {
		l.end()
	}
}

const (
	// deliverWithin is how long an event may be under way.
	deliverWithin = time.Minute
	// recently is since when an event shows by itself that deliveries go on.
	recently = 15 * time.Minute
)

// checkEvents compares the newest events with what the service has to tell.
func (p *patient) checkEvents(context.Context) []doctor.Finding {
	var newest relay.Item
	listed := 0 // that the relay took from the service's list
	for _, newest = range p.newest {
		if newest.Origin == "backfill" {
			listed++
		}
	}
	ago := func(t time.Time) string { return wording.Lasting(time.Since(t)) + " ago" }
	words := "the relay has received no event yet"
	if len(p.newest) > 0 {
		words = "the newest came " + ago(newest.Received)
	}
	const means, do = "deliveries have stopped, or never began", "look at the endpoint in the account console, and save its address again"
	latest := p.events.newest
	if latest.at.IsZero() {
		latest = p.intents.newest
	}
	tells := func(i relay.Item) bool { return i.Event.ID == latest.id || i.Event.Source.ID == latest.id }
	switch {
	case listed > 1 && listed == len(p.newest):
		return doctor.Findings(doctor.Fault, fmt.Sprintf("no delivery brought any of the newest %d events: the relay took them from the service's list", listed), means, do)
	case time.Since(newest.Received) < recently && listed == 0 && latest.at.IsZero():
		return doctor.Fine("%s", words)
	case latest.at.IsZero() || !latest.due:
		return doctor.Findings(doctor.Note, words+"; what the account did since cannot be known, as the service lists nothing new", "", "")
	case time.Since(latest.at) > deliverWithin && latest.at.Sub(newest.Event.CreatedAt) > deliverWithin && !slices.ContainsFunc(p.newest, tells):
		return doctor.Findings(doctor.Fault, fmt.Sprintf("%s, and the service has %s of %s", words, latest.what, ago(latest.at)), means, do)
	}
	return doctor.Fine("%s, and the service has none that is newer; %d of %d came by its list and not by a delivery", words, listed, len(p.newest))
}

// checkEndpoint tells how the service sees the relay as its endpoint: by the word of a
// stand-in, or by what the relay counts.
func (p *patient) checkEndpoint(ctx context.Context) []doctor.Finding {
	var sim simulator.Summary
	if p.client != nil && p.client.Control(ctx, http.MethodGet, "/control/state", nil, &sim) == nil {
		return p.asTheStandInSees(sim.Endpoints)
	}
	counts, err := p.reader.Deliveries(ctx)
	if err != nil {
		return doctor.Findings(doctor.Note, "how the service sees the endpoint cannot be known: it does not tell, and the token may not read what the relay counts (scope admin)", "", "")
	}
	good := counts["stored"] + counts["duplicate"]
	since := fmt.Sprintf("since the relay started: %d stored, %d again, %d refused for their signature, %d not stored, %d challenges",
		counts["stored"], counts["duplicate"], counts["unauthorized"], counts["unavailable"], counts["challenge"])
	switch {
	case good == 0 && counts["unauthorized"] > 0:
		return doctor.Findings(doctor.Fault, "all deliveries were refused for their signature; "+since, "the relay's signing secret is not that of the account",
			"copy it anew from the account console, and have the relay read it again (SIGHUP)")
	case counts["unavailable"] > good:
		return doctor.Findings(doctor.Fault, "most deliveries could not be stored; "+since, "the service may give them up", "look at the relay's log and disk")
	case good+counts["challenge"] == 0 && len(p.newest) == 0:
		return doctor.Findings(doctor.Warning, "no challenge came, and no event ever; "+since, "the service may not know the relay", "save its address, ending in /webhooks, in the account console")
	}
	return doctor.Fine("%s", since)
}

// asTheStandInSees judges by the word of the stand-in.
func (p *patient) asTheStandInSees(endpoints []simulator.EndpointSummary) []doctor.Finding {
	const means, do = "events of the stand-in do not reach the relay", "give the stand-in --webhook-url, the relay's address and /webhooks, and the relay the same signing secret"
	port := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return u.Port()
	}
	var elsewhere []string
	for _, e := range endpoints {
		words := fmt.Sprintf("%s delivered, %s attempts failed, %s given up", wording.Count(int(e.Delivered)), wording.Count(int(e.Failures)), wording.Count(int(e.GivenUp)))
		switch {
		case port(e.URL) != port(p.settings.RelayURL):
			elsewhere = append(elsewhere, e.URL)
		case !e.Verified:
			return doctor.Findings(doctor.Fault, "the stand-in's challenge was not answered: "+e.LastError, means, do)
		case e.GivenUp > e.Delivered:
			return doctor.Findings(doctor.Fault, fmt.Sprintf("the stand-in gives most events up (%s): %s", words, e.LastError), means, do)
		default:
			return doctor.Fine("the stand-in delivers to the relay: %s", words)
		}
	}
	if len(elsewhere) > 0 && len(p.newest) > 0 { // perhaps by another address of the same relay
		return doctor.Findings(doctor.Note, "the stand-in delivers to "+orNone(elsewhere)+"; whether that is the relay cannot be known", "", "")
	}
	return doctor.Findings(doctor.Fault, "the stand-in does not know the relay; it delivers to "+orNone(elsewhere), means, do)
}
