package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/ui/wording"
)

// unheard is the consequence of a relay that cannot be followed.
const unheard = "dashboards receive no events, and poll"

// checkRelay asks the relay whether it is ready.
func (s *Setup) checkRelay(ctx context.Context) []Finding {
	if s.RelayURL == "" {
		return Skip("no relay is configured, so tillwatch polls the account")
	}
	var err error
	if s.reader, err = s.Reader(); err != nil {
		return Findings(Fault, err.Error(), unheard, "correct relay_url")
	}
	address := strings.TrimSuffix(strings.TrimSuffix(s.RelayURL, "/"), relay.StreamPath)
	if rest, ok := strings.CutPrefix(address, "ws"); ok {
		address = "http" + rest
	}
	probe, err := relay.NewProbe(address, nil)
	if err != nil {
		return Findings(Fault, err.Error(), unheard, "correct relay_url")
	}
	var unready *relay.UnreadyError
	switch status, err := probe.Ask(ctx); {
	case status/100 == 4 && s.servesEvents(ctx):
		s.unsure = true
		return Findings(Note, fmt.Sprintf("something answers at %s; if it is a relay, whether it is ready is unknown, as %s is answered %d", s.RelayURL, probe.URL(), status), "a front may pass only some of a relay's paths on", "")
	case errors.As(err, &unready):
		return Findings(Fault, err.Error(), "it refuses deliveries, and the service may not send them again", "look at its log and its disk: tillwatch doctor --data DIR there")
	case err != nil:
		return Findings(Fault, err.Error(), unheard, "start the relay (tillwatch relay), or correct relay_url")
	}
	return Fine("it is ready at %s", s.RelayURL)
}

// servesEvents reports whether what answers at the relay's address serves events or refuses the
// token. A sign-in page refuses it, too.
func (s *Setup) servesEvents(ctx context.Context) bool {
	_, err := s.reader.Head(ctx, 0)
	return err == nil || errors.As(err, new(*relay.RefusedError))
}

// checkToken finds out what the relay's token may do, as far as reads can show.
func (s *Setup) checkToken(ctx context.Context) []Finding {
	_, err := s.reader.Head(ctx, 0)
	var refused *relay.RefusedError
	switch {
	case err == nil:
		return Fine("the relay accepts it, and it may read events; whether it may report, as a proxy does, is not tested")
	case !errors.As(err, &refused):
		return Findings(Fault, "the relay cannot be read: "+err.Error(), "what answers may not be a relay", "correct relay_url, or check what is in between")
	case refused.Status == http.StatusForbidden:
		return Findings(Note, "the token may not read events one by one (scope read)", "tillwatch events ID, --last and switching profiles need that", "make one with tillwatch tokens")
	}
	if s.unsure {
		return Findings(Fault, "what answers at "+s.RelayURL+" does not accept the token (401), and it may not be a relay", unheard,
			"check that relay_url is the relay's address, not the service's; if it is, set TILLWATCH_RELAY_TOKEN to a token of this relay")
	}
	return Findings(Fault, "the relay does not accept the token (401)", unheard, "set TILLWATCH_RELAY_TOKEN to a token of this relay; tillwatch tokens on its machine lists them")
}

// lookBack is how many of the newest events are examined.
const lookBack = 20

// checkStream connects like a dashboard, and then again with a cursor.
func (s *Setup) checkStream(ctx context.Context) []Finding {
	first, err := s.stream(ctx, "")
	var refused *relay.RefusedError
	switch {
	case errors.As(err, &refused):
		return Findings(Fault, err.Error(), unheard, "use a token with the scope stream: make one with tillwatch tokens")
	case err != nil:
		return Findings(Fault, err.Error(), unheard, "check what is in between: it must let websockets pass")
	}
	again, err := s.stream(ctx, first.Epoch+":"+strconv.FormatInt(max(first.Head-lookBack, 0), 10))
	switch {
	case err != nil:
		return Findings(Fault, "the stream does not resume from a cursor: "+err.Error(), "after a disconnect, missed events come late", "check the relay's log")
	case again.Resume == relay.ResumeReset:
		return Findings(Fault, "a new cursor already belongs to another journal", "after each disconnect, all events come again", "let all relays behind one address use one database")
	}
	return Fine("it connects, and resumes from a cursor; the newest event is number %s", wording.Count(int(again.Head)))
}

// stream follows the relay's stream until it is live, that is, until it has sent
// everything after the cursor.
func (s *Setup) stream(ctx context.Context, cursor string) (relay.Status, error) {
	subscriber, err := s.Subscriber(relay.SubscriberConfig{Cursor: cursor, From: relay.FromLatest, Client: "tillwatch doctor"})
	if err != nil {
		return relay.Status{}, err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	l := &listening{end: end}
	_ = subscriber.Run(ctx, l) // the last status has the error
	if s.newest = l.items; l.status.State != relay.Live && l.status.Err == nil {
		l.status.Err = errors.New("the stream did not become live in time")
	}
	return l.status, l.status.Err
}

// listening is a [relay.Handler] that stops at the first conclusive status.
type listening struct {
	end        func()
	items      []relay.Item
	status     relay.Status
	conclusive bool
}

func (l *listening) Events(_ context.Context, batch []relay.Item) error {
	l.items = append(l.items, batch...) // copied: the slice is the subscriber's
	return nil
}

func (l *listening) Status(s relay.Status) {
	if l.conclusive {
		return // it is ending
	}
	l.status, l.conclusive = s, s.State == relay.Live || s.State == relay.Lost || s.State == relay.Refused
	if l.conclusive {
		l.end()
	}
}

const (
	// deliverWithin is how long an event may be on its way.
	deliverWithin = time.Minute
	// An event this recent shows that deliveries go on.
	recently = 15 * time.Minute
)

// checkEvents compares the newest events with what the service reports.
func (s *Setup) checkEvents(context.Context) []Finding {
	var newest relay.Item
	listed := 0 // taken from the service's list, not delivered
	for _, newest = range s.newest {
		if newest.Origin == "backfill" {
			listed++
		}
	}
	ago := func(t time.Time) string { return wording.Age(time.Since(t)) + " ago" }
	words := "the relay has received no event yet"
	if len(s.newest) > 0 {
		words = "the newest came " + ago(newest.Received)
	}
	const means, do = "deliveries have stopped, or never began", "check the endpoint in the account console, and save its address again"
	latest := s.events.newest
	if latest.at.IsZero() {
		latest = s.intents.newest
	}
	tells := func(i relay.Item) bool { return i.Event.ID == latest.id || i.Event.Source.ID == latest.id }
	switch {
	case listed > 1 && listed == len(s.newest):
		return Findings(Fault, fmt.Sprintf("none of the newest %d events was delivered: the relay took them from the service's list", listed), means, do)
	case time.Since(newest.Received) < recently && listed == 0 && latest.at.IsZero():
		return Fine("%s", words)
	case latest.at.IsZero() || !latest.due:
		return Findings(Note, words+"; whether newer ones are missing is unknown, as the service lists nothing newer", "", "")
	case time.Since(latest.at) > deliverWithin && latest.at.Sub(newest.Event.CreatedAt) > deliverWithin && !slices.ContainsFunc(s.newest, tells):
		return Findings(Fault, fmt.Sprintf("%s, but the service has %s from %s", words, latest.what, ago(latest.at)), means, do)
	}
	return Fine("%s, and the service has no newer one; %d of %d came from its list, not by delivery", words, listed, len(s.newest))
}

// checkEndpoint finds out how the service sees the relay as its endpoint: a stand-in
// says so; otherwise the relay's counters have to do.
func (s *Setup) checkEndpoint(ctx context.Context) []Finding {
	var sim simulator.Summary
	if s.client != nil && s.client.Control(ctx, http.MethodGet, "/control/state", nil, &sim) == nil {
		return s.asTheStandInSees(sim.Endpoints)
	}
	counts, err := s.reader.Deliveries(ctx)
	if err != nil {
		return Findings(Note, "how the service sees the endpoint is unknown: it does not say, and the token may not read the relay's counters (scope admin)", "", "")
	}
	good := counts["stored"] + counts["duplicate"]
	since := fmt.Sprintf("since the relay started: %d stored, %d again, %d refused for their signature, %d not stored, %d challenges",
		counts["stored"], counts["duplicate"], counts["unauthorized"], counts["unavailable"], counts["challenge"])
	switch {
	case good == 0 && counts["unauthorized"] > 0:
		return Findings(Fault, "all deliveries were refused for their signature; "+since, "the relay's signing secret is not the account's",
			"copy it again from the account console, and have the relay reload it (SIGHUP)")
	case counts["unavailable"] > good:
		return Findings(Fault, "most deliveries could not be stored; "+since, "the service may give them up", "check the relay's log and disk")
	case good+counts["challenge"] == 0 && len(s.newest) == 0:
		return Findings(Warning, "neither a challenge nor an event ever came; "+since, "the service may not know the relay", "save its address, ending in /webhooks, in the account console")
	}
	return Fine("%s", since)
}

// asTheStandInSees judges by the stand-in's own counters.
func (s *Setup) asTheStandInSees(endpoints []simulator.EndpointSummary) []Finding {
	const means, do = "events of the stand-in do not reach the relay", "give the stand-in --webhook-url with the relay's address and /webhooks, and give both the same signing secret"
	port := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return api.PortOf(u)
	}
	var elsewhere []string
	for _, e := range endpoints {
		words := fmt.Sprintf("%s delivered, %s failed, %s given up", wording.Count(int(e.Delivered)), wording.Counted(int(e.Failures), "attempt", "attempts"), wording.Count(int(e.GivenUp)))
		switch {
		case port(e.URL) != port(s.RelayURL):
			elsewhere = append(elsewhere, e.URL)
		case !e.Verified && e.LastError == "":
			return Findings(Note, "the stand-in's first challenge is not answered so far", "", "look again in a moment")
		case !e.Verified:
			return Findings(Fault, "the stand-in's challenge was not answered: "+e.LastError, means, do)
		case e.GivenUp > e.Delivered:
			return Findings(Fault, fmt.Sprintf("the stand-in gives up most events (%s): %s", words, e.LastError), means, do)
		default:
			return Fine("the stand-in delivers to the relay: %s", words)
		}
	}
	if len(elsewhere) > 0 && len(s.newest) > 0 { // perhaps another address of the same relay
		return Findings(Note, "the stand-in delivers to "+strings.Join(elsewhere, ", ")+"; whether that is this relay is unknown", "", "")
	}
	return Findings(Fault, "the stand-in does not know the relay; it delivers to "+cmp.Or(strings.Join(elsewhere, ", "), "none"), means, do)
}
