package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

const (
	// askWithin is how long the service may take for one answer: a check may ask twice.
	askWithin = 2 * time.Second
	// quotaReserve is what is left to others, as [quota.PacerConfig] does by default.
	quotaReserve = 2
	// longLimit is a wait for quota that does not pass by itself in a moment.
	longLimit = 10 * time.Second
	// Clocks that differ by more are told of, and are at fault.
	clockOff   = 20 * time.Second
	clockWrong = 2 * time.Minute
)

// heard is what the service's first answer said beside its body.
type heard struct {
	next   http.RoundTripper
	any    bool
	dated  bool
	ahead  time.Duration // this machine's clock of the Date
	fields quota.Fields
}

// RoundTrip implements [http.RoundTripper]. Requests go out one after another.
func (h *heard) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := h.next.RoundTrip(request)
	if err != nil || h.any {
		return answer, err
	}
	h.any, h.fields = true, quota.ParseFields(answer.Header)
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		// A Date is cut to the second, and the answer was made on the way.
		h.dated, h.ahead = true, sent.Add(time.Since(sent)/2).Sub(date.Add(500*time.Millisecond))
	}
	return answer, nil
}

// asking makes a client that asks once, whatever comes.
func (p *patient) asking(address string, transport http.RoundTripper) (*api.Client, error) {
	s := p.settings
	client, err := api.New(api.Config{
		BaseURL: address, Key: s.APIKey, InsecureHTTP: s.InsecureHTTP, LookupPath: s.LookupPath, Timeout: askWithin, Retries: -1, Pacer: p.pacer, Transport: transport,
		Observe: func(e api.Exchange) {
			if strings.HasPrefix(e.Path, "/api/") { // what a stand-in is asked beside costs nothing
				p.reads.Add(1)
			}
		},
	})
	if err != nil {
		return nil, addressed(err)
	}
	return client, nil
}

// readShipments reads the one list that the contract promises.
func (p *patient) readShipments(ctx context.Context, from *api.Client) error {
	for _, err := range from.ShipmentPages(ctx, api.ShipmentQuery{Limit: 1}) {
		return err
	}
	return nil
}

// checkService reads once, as any look at the account begins.
func (p *patient) checkService(ctx context.Context) (found []doctor.Finding) {
	at := p.settings.APIURL
	if at == "" {
		return doctor.Skip("no service is configured")
	}
	p.heard.next = api.TransportTo(hostOf(at))
	p.pacer = quota.NewPacer(quota.PacerConfig{Share: p.settings.PollShare})
	fault := func(what, do string) []doctor.Finding {
		return doctor.Findings(doctor.Fault, what, "nothing can be read or confirmed", do)
	}
	client, err := p.asking(at, &p.heard)
	if err != nil {
		return fault(err.Error(), "correct api_url or api_key")
	}
	p.client = client
	began := time.Now()
	p.first = p.readShipments(quota.WithPriority(ctx, quota.Reconcile), client)
	var refused *api.Error
	var unreadable *api.UnreadableError
	status := 0
	if errors.As(p.first, &refused) {
		status = refused.Status
	}
	switch {
	case p.first == nil, errors.Is(p.first, api.ErrUnauthorized), errors.Is(p.first, api.ErrForbidden), errors.Is(p.first, api.ErrRateLimited):
		return doctor.Fine("it answers at %s in %d ms", at, time.Since(began).Milliseconds())
	case status >= http.StatusInternalServerError:
		return fault("the service does not answer as it should: "+p.first.Error(), "wait, or ask the provider; behind a proxy of yours, look there")
	case status == http.StatusBadRequest && strings.HasPrefix(at, "http://"):
		return fault(fmt.Sprintf("what answers at %s takes no http://: %v", at, p.first), "give https:// in api_url")
	case status != 0 || errors.As(p.first, &unreadable):
		return fault(fmt.Sprintf("what answers at %s is not the service: %v", at, p.first), "correct api_url: it is the base address, without /api/v1")
	}
	why, do := whyAway(p.first)
	return fault(fmt.Sprintf("nothing can be had from %s: %s", at, why), do)
}

// whyAway says why nothing answers, and what to do.
func whyAway(err error) (why, do string) {
	var transport *api.TransportError
	if errors.As(err, &transport) {
		err = transport.Err
	}
	var unknown *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &unknown):
		return "the name " + unknown.Name + " leads nowhere", "correct the host, or look at this machine's DNS"
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "it speaks no TLS", "give http:// in the address, on this machine alone"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time", "look at the firewalls on the way; behind a proxy, set HTTPS_PROXY"
	case errors.As(err, &dial) && dial.Op == "dial":
		return dial.Err.Error(), "start what should listen there (tillwatch simulate, tillwatch proxy), or correct the address"
	}
	return err.Error(), "correct the address, or look at what stands in between"
}

// hostOf is the host of an address; "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// checkClock compares this machine's clock with that of the service.
func (p *patient) checkClock(context.Context) []doctor.Finding {
	off, direction, verdict := p.heard.ahead.Abs(), "ahead of", doctor.Fault
	if p.heard.ahead < 0 {
		direction = "behind"
	}
	switch {
	case !p.heard.dated:
		return doctor.Findings(doctor.Note, "it cannot be compared, as the service's answers have no Date", "", "")
	case off < clockOff:
		return doctor.Fine("within seconds of the service's")
	case off < clockWrong:
		verdict = doctor.Warning
	}
	return doctor.Findings(verdict, fmt.Sprintf("this machine's clock is %s %s the service's", api.Span(off.Round(time.Second)), direction),
		"ages, confirm windows and resets are off by as much", "have the system keep its time (NTP, chrony, systemd-timesyncd)")
}

// checkKey tells whether the service takes the key, and what it may read.
func (p *patient) checkKey(ctx context.Context) []doctor.Finding {
	switch {
	case errors.Is(p.first, api.ErrUnauthorized):
		do := "copy it whole from the account console, for the environment of " + p.settings.APIURL
		if says := api.KeyEnvironment(p.settings.APIKey); says != "" {
			do += "; this one is of " + says
		}
		return doctor.Findings(doctor.Fault, "the service refuses the API key (401)", "nothing can be read or confirmed with it", do)
	case errors.Is(p.first, api.ErrForbidden):
		return doctor.Findings(doctor.Fault, "the key may not read shipments (403)", "parcels stay unknown", "give it the scopes to read in the account console")
	case !p.maySpend():
		return doctor.Findings(doctor.Note, "the service takes the key; its scopes are not tried, as the quota is down to its reserve", "", "")
	}
	ctx = quota.WithPriority(ctx, quota.Reconcile)
	p.intents = probe(p.client.Intents(ctx), func(i api.Intent) happened {
		return happened{i.ID, i.CreatedAt, "an intent past its offer", i.State != api.RetrievingOffer}
	})
	p.events = probe(p.client.Events(ctx), func(e api.Event) happened { return happened{e.ID, e.CreatedAt, "an event", true} })
	if p.events.err != nil {
		switch _, err := p.client.Event(ctx, "evt_tillwatch_doctor"); {
		case errors.Is(err, api.ErrForbidden), errors.Is(err, api.ErrUnauthorized):
			return doctor.Findings(doctor.Warning, "the key may not read events (scope events:read)", "an event that a delivery lost cannot be read again", "give it that scope in the account console")
		case err != nil && !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrValidation):
			return doctor.Findings(doctor.Note, "the service takes the key; whether it may read events cannot be known: "+err.Error(), "", "")
		}
	}
	return doctor.Fine("the service takes it; it may read shipments and events")
}

// maySpend reports whether the reads bucket has room for more than its reserve, now or
// within a moment.
func (p *patient) maySpend() bool {
	for _, b := range p.pacer.Buckets(time.Now()) {
		if b.Class == quota.Reads && b.Left(time.Now()) <= quotaReserve && b.Reset > askWithin {
			return false
		}
	}
	return !errors.Is(p.first, api.ErrRateLimited)
}

// happened is the newest thing of a list. It is due where an event has told of it, or
// should have.
type happened struct {
	id   api.ID
	at   time.Time
	what string
	due  bool
}

// listProbe is what came of asking for a list that need not be there.
type listProbe struct {
	newest happened // zero: there is none
	err    error
	asked  bool
}

// probe reads the first item of a list.
func probe[T any](list iter.Seq2[T, error], of func(T) happened) listProbe {
	var unreadable *api.ItemError
	for item, err := range list {
		switch {
		case errors.As(err, &unreadable):
			return listProbe{asked: true}
		case err != nil:
			return listProbe{asked: true, err: err}
		}
		return listProbe{asked: true, newest: of(item)}
	}
	return listProbe{asked: true}
}

// checkEnvironment says whose money it is.
func (p *patient) checkEnvironment(context.Context) []doctor.Finding {
	where := p.client.Environment()
	switch {
	case where.StandIn:
		return doctor.Fine("a stand-in, by its own word: no money moves")
	case !where.Live:
		return doctor.Fine("%s: no money moves", where.Name)
	case api.Loopback(hostOf(p.settings.APIURL)):
		return doctor.Findings(doctor.Note, "what answers on this machine does not say that it is a stand-in", "it may be a tunnel to the service, so money counts as real", "")
	case p.settings.AllowConfirm:
		return doctor.Findings(doctor.Note, where.Name+": REAL money, and confirming is allowed", "each confirm asks for the last four of the id, or the total", "")
	}
	return doctor.Fine("%s: REAL money; confirming is not allowed", where.Name)
}

// checkHeaders tells whether answers say what is left of the quota.
func (p *patient) checkHeaders(context.Context) []doctor.Finding {
	what := ""
	switch f := p.heard.fields; {
	case len(f.Ignored) > 0:
		what = fmt.Sprintf("the field %s of answers cannot be used: %s", f.Ignored[0].Field, f.Ignored[0].Text)
	case len(f.Reports) == 0 && f.Older:
		what = "answers have RateLimit fields of another draft than IETF draft 8"
	case len(f.Reports) == 0:
		what = "answers have no RateLimit fields"
	}
	if what != "" {
		return doctor.Findings(doctor.Warning, what, "what is left of the quota is not known; the contract's limits are assumed", "look at what stands in between: a gateway may take or change them")
	}
	var names []string
	for _, r := range p.heard.fields.Reports {
		names = append(names, fmt.Sprintf("%s (%s in %s)", r.Policy, wording.Count(int(r.Limit)), wording.Lasting(r.Window)))
	}
	return doctor.Fine("RateLimit fields of draft 8; reads are charged to %s", strings.Join(names, ", "))
}

// checkLimits tells what is left of the limits that answers told of.
func (p *patient) checkLimits(context.Context) []doctor.Finding {
	const do = "tillwatch quota shows who spends; ask the provider for more"
	var refused *api.Error
	if errors.As(p.first, &refused) && refused.Wait() <= longLimit && errors.Is(refused, api.ErrRateLimited) {
		return doctor.Findings(doctor.Warning, "the first read was refused (429): "+string(refused.Message), "others of the account spend all of its reads in this moment", do)
	}
	var lines []string
	for _, b := range p.pacer.Buckets(time.Now()) {
		left, resets := b.Left(time.Now()), b.Reset-time.Since(b.ObservedAt)
		words := fmt.Sprintf("%s %s: %s of %s left", b.Class, b.Policy, wording.Count(int(left)), wording.Count(int(b.Limit)))
		switch {
		case b.Unreported:
			continue
		case left == 0 && resets > longLimit:
			return doctor.Findings(doctor.Fault, fmt.Sprintf("%s for another %s", words, wording.Lasting(resets)), "nobody with a key of the account can read before that", do)
		case left <= quotaReserve && resets > longLimit:
			return doctor.Findings(doctor.Warning, fmt.Sprintf("%s for another %s", words, wording.Lasting(resets)), "the rest is left to checkouts, and nothing is read unasked", do)
		}
		lines = append(lines, words)
	}
	switch {
	case errors.Is(p.first, api.ErrRateLimited):
		return doctor.Findings(doctor.Fault, "the quota is used up: "+p.first.Error(), "nobody with a key of the account can read before that", do)
	case len(lines) == 0:
		return doctor.Findings(doctor.Note, "what is left cannot be known, as answers do not tell", "", "")
	}
	return doctor.Fine("%s; only who creates intents is told of those a day and of agents", strings.Join(lines, ", "))
}

// checkLists tells which lists there are beyond the contract, and whether intents can
// be found without the one of theirs.
func (p *patient) checkLists(context.Context) []doctor.Finding {
	if !p.intents.asked {
		return doctor.Skip("the quota is down to its reserve")
	}
	var served []string
	for i, list := range []listProbe{p.intents, p.events} {
		name := []string{"intents", "events"}[i]
		switch {
		case list.err == nil:
			served = append(served, name)
		case !errors.Is(list.err, api.ErrNotServed):
			return doctor.Findings(doctor.Warning, "whether the service lists "+name+" cannot be known: "+list.err.Error(), "", "try again")
		}
	}
	s, found := p.settings, "the service lists neither intents nor events"
	if served != nil {
		found = "the service lists " + strings.Join(served, " and ")
	}
	switch {
	case p.intents.err == nil:
		return doctor.Fine("%s", found)
	case s.RelayURL == "" && len(s.WatchIDs) == 0 && s.WatchList == "":
		return doctor.Findings(doctor.Fault, "the service lists no intents, and no relay is configured", "intents without a shipment cannot be found",
			"run a relay and give --relay-url, or name intents with --watch-id or --watch-ids")
	}
	return doctor.Findings(doctor.Note, found, "intents are found by events, as the contract has it", "")
}
