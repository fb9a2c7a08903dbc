package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

const (
	// askWithin is how long the service may take for one answer: a check may send two
	// requests.
	askWithin = 2 * time.Second
	// quotaReserve is what is left for others, as by default in [quota.PacerConfig].
	quotaReserve = 2
	// A bucket that stays empty longer than longLimit is a finding.
	longLimit = 10 * time.Second
	// A clock that is off by more than clockOff is a warning or, if by much more, a
	// fault.
	clockOff   = 20 * time.Second
	clockWrong = 2 * time.Minute
)

// heard keeps what the header of the service's first answer said.
type heard struct {
	next   http.RoundTripper
	any    bool
	fields quota.Fields
}

// RoundTrip implements [http.RoundTripper]. Requests run one after another.
func (h *heard) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := h.next.RoundTrip(request)
	if err != nil || h.any {
		return answer, err
	}
	h.any, h.fields = true, quota.ParseFields(answer.Header)
	return answer, nil
}

// newClient makes a client that never retries.
func (p *examination) newClient(address string, transport http.RoundTripper) (*api.Client, error) {
	s := p.settings
	client, err := api.New(api.Config{
		BaseURL: address, Key: s.APIKey, InsecureHTTP: s.InsecureHTTP, LookupPath: s.LookupPath, Timeout: p.within, Retries: -1, Pacer: p.pacer, Transport: transport,
		Observe: func(e api.Exchange) {
			var broken *api.TransportError
			left := !errors.As(e.Err, &broken) || broken.MaybeSent
			if left && strings.HasPrefix(e.Path, "/api/") { // questions to a stand-in's control API cost nothing
				p.reads.Add(1)
			}
			if p.answered.Status == 0 {
				p.answered = e
			}
		},
	})
	if err != nil {
		return nil, withAddressHint(err)
	}
	return client, nil
}

// readShipments reads the only list that the contract promises.
func (p *examination) readShipments(ctx context.Context, from *api.Client) error {
	for _, err := range from.Shipments(ctx, api.ShipmentQuery{Limit: 1}) {
		if errors.As(err, new(*api.ItemError)) {
			return nil
		}
		return err
	}
	return nil
}

// checkService reads once, as every session begins.
func (p *examination) checkService(ctx context.Context) (found []doctor.Finding) {
	at := p.settings.APIURL
	if at == "" {
		return doctor.Skip("no service is configured")
	}
	p.heard.next = api.TransportTo(hostOf(at))
	p.pacer = quota.NewPacer(quota.PacerConfig{Share: p.settings.PollShare})
	fault := func(what, do string) []doctor.Finding {
		return doctor.Findings(doctor.Fault, what, "nothing can be read or confirmed", do)
	}
	client, err := p.newClient(at, &p.heard)
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
		return doctor.Fine("it answers at %s in %s", at, wording.Took(time.Since(began)))
	case status >= http.StatusInternalServerError:
		return fault("the service answers with errors: "+p.first.Error(), "wait, or ask the provider; if you use a proxy, check it")
	case status == http.StatusBadRequest && strings.HasPrefix(at, "http://"):
		return fault(fmt.Sprintf("%s does not accept http://: %v", at, p.first), "use https:// in api_url")
	case status != 0 || errors.As(p.first, &unreadable):
		return fault(fmt.Sprintf("what answers at %s is not the service: %v", at, p.first), "correct api_url: it must be the base address, without /api/v1")
	}
	why, do := whyUnreachable(p.first)
	return fault(fmt.Sprintf("cannot connect to %s: %s", at, why), do)
}

// whyUnreachable says why nothing answers, and what to do.
func whyUnreachable(err error) (why, do string) {
	var transport *api.TransportError
	if errors.As(err, &transport) {
		err = transport.Err
	}
	var proxied *api.ProxiedError
	var unknown *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &proxied):
		return err.Error(), "check the proxy (HTTPS_PROXY), or name the host in NO_PROXY"
	case errors.As(err, &unknown):
		return "the name " + unknown.Name + " cannot be resolved", "correct the host, or check this machine's DNS"
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "it does not speak TLS", "use http:// in the address, but only on this machine"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time", "check the firewalls in between; behind a proxy, set HTTPS_PROXY"
	case errors.As(err, &dial) && dial.Op == "dial":
		return dial.Err.Error(), "start the server there (tillwatch simulate, tillwatch proxy), or correct the address"
	}
	return err.Error(), "correct the address, or check what is in between"
}

// hostOf is the host of an address; "" if it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// checkClock compares this machine's clock with the service's.
func (p *examination) checkClock(context.Context) []doctor.Finding {
	ahead, _, dated := p.answered.ClockAhead()
	off, direction, verdict := ahead.Abs(), "ahead of", doctor.Fault
	if ahead < 0 {
		direction = "behind"
	}
	switch {
	case !dated:
		return doctor.Findings(doctor.Note, "cannot be compared: the service's answers have no Date", "", "")
	case off < clockOff:
		return doctor.Fine("within seconds of the service's")
	case off < clockWrong:
		verdict = doctor.Warning
	}
	return doctor.Findings(verdict, fmt.Sprintf("this machine's clock is %s %s the service's", api.Span(off.Round(time.Second)), direction),
		"ages, confirm windows and resets are off by as much", "let the system keep its time (NTP, chrony, systemd-timesyncd)")
}

// checkKey finds out whether the service accepts the key, and what it may read.
func (p *examination) checkKey(ctx context.Context) []doctor.Finding {
	switch {
	case errors.Is(p.first, api.ErrUnauthorized):
		do := "copy the whole key from the account console, for the environment of " + p.settings.APIURL
		if says := api.KeyEnvironment(p.settings.APIKey); says != "" {
			do += "; this one is for " + says
		}
		return doctor.Findings(doctor.Fault, "the service refuses the API key (401)", "nothing can be read or confirmed with it", do)
	case errors.Is(p.first, api.ErrForbidden) && !errors.Is(p.first, api.ErrScope):
		return doctor.Findings(doctor.Fault, "something before the service forbids reading shipments (403)", "parcels stay unknown", "check api_url, and what is in between")
	case !p.maySpend():
		return doctor.Findings(doctor.Note, "the service accepts the key; its scopes are not tested, as only the reserve of the quota is left", "", "")
	}
	ctx = quota.WithPriority(ctx, quota.Reconcile)
	p.intents = probe(p.client.Intents(ctx), func(i api.Intent) happened {
		return happened{i.ID, i.CreatedAt, "an intent past its offer", i.State != api.RetrievingOffer}
	})
	p.events = probe(p.client.Events(ctx), func(e api.Event) happened { return happened{e.ID, e.CreatedAt, "an event", true} })
	var found []doctor.Finding
	if p.first != nil {
		found = doctor.Findings(doctor.Warning, "the key may not read shipments", "parcels stay unknown", "give it the read scopes in the account console")
	}
	if p.events.err != nil {
		switch _, err := p.client.Event(ctx, "evt_tillwatch_doctor"); {
		case errors.Is(err, api.ErrForbidden), errors.Is(err, api.ErrUnauthorized):
			return append(found, doctor.Findings(doctor.Warning, "the key may not read events (scope events:read)", "an event whose delivery was lost cannot be read", "give it that scope in the account console")...)
		case err != nil && !errors.Is(err, api.ErrMissing) && !errors.Is(err, api.ErrValidation):
			return append(found, doctor.Findings(doctor.Note, "the service accepts the key; whether it may read events is unknown: "+err.Error(), "", "")...)
		}
	}
	if found != nil {
		return found
	}
	return doctor.Fine("the service accepts it; it may read shipments and events")
}

// maySpend reports whether the reads bucket has more than its reserve, now or in a
// moment.
func (p *examination) maySpend() bool {
	for _, b := range p.pacer.Buckets(time.Now()) {
		if b.Class == quota.Reads && b.Left(time.Now()) <= quotaReserve && b.Reset > askWithin {
			return false
		}
	}
	return !errors.Is(p.first, api.ErrRateLimited)
}

// happened is the newest item of a list. due is true if an event has announced it, or should
// have.
type happened struct {
	id   api.ID
	at   time.Time
	what string
	due  bool
}

// listProbe is the result of asking for a list that the service need not have.
type listProbe struct {
	newest happened // zero: the list is empty
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

// checkEnvironment says whether real money moves.
func (p *examination) checkEnvironment(context.Context) []doctor.Finding {
	where := p.client.Environment()
	switch {
	case where.StandIn:
		return doctor.Fine("it says that it is a stand-in: no money moves")
	case !where.Live:
		return doctor.Fine("%s: no money moves", where.Name)
	case api.Loopback(hostOf(p.settings.APIURL)):
		return doctor.Findings(doctor.Note, "what answers on this machine does not say that it is a stand-in", "it may be a tunnel to the real service, so money counts as real", "")
	case p.settings.AllowConfirm:
		return doctor.Findings(doctor.Note, where.Name+": REAL money, and confirming is allowed", "each confirm asks for the last four of the id, or the total", "")
	}
	return doctor.Fine("%s: REAL money; confirming is not allowed", where.Name)
}

// checkHeaders finds out whether answers report what is left of the quota.
func (p *examination) checkHeaders(ctx context.Context) []doctor.Finding {
	what := ""
	switch f := p.heard.fields; {
	case len(f.Ignored) > 0:
		what = fmt.Sprintf("the answers' field %s cannot be used: %s", f.Ignored[0].Field, f.Ignored[0].Text)
	case len(f.Reports) == 0 && f.Older:
		what = "answers have RateLimit fields, but not of IETF draft 8"
	case len(f.Reports) == 0 && p.unlimited(ctx):
		return doctor.Fine("none, as the stand-in has no limit for reads")
	case len(f.Reports) == 0:
		what = "answers have no RateLimit fields"
	}
	if what != "" {
		return doctor.Findings(doctor.Warning, what, "what is left of the quota is not known; the contract's limits are assumed", "check what is in between: a gateway may remove or change them")
	}
	var names []string
	for _, r := range p.heard.fields.Reports {
		names = append(names, fmt.Sprintf("%s (%s in %s)", r.Policy, wording.Count(int(r.Limit)), api.Span(r.Window)))
	}
	return doctor.Fine("RateLimit fields of draft 8; reads count against %s", strings.Join(names, ", "))
}

// unlimited reports whether the service is a stand-in that does not limit reads.
func (p *examination) unlimited(ctx context.Context) bool {
	var sim simulator.Summary
	return p.client.Control(ctx, http.MethodGet, "/control/state", nil, &sim) == nil &&
		slices.ContainsFunc(sim.Buckets, func(b simulator.BucketSummary) bool { return b.Name == "reads" && b.Limit < 0 })
}

// checkLimits reports what is left of the limits that answers reported.
func (p *examination) checkLimits(context.Context) []doctor.Finding {
	const do = "tillwatch quota shows who spends; ask the provider for more"
	var refused *api.Error
	if errors.As(p.first, &refused) && refused.Wait() <= longLimit && errors.Is(refused, api.ErrRateLimited) {
		return doctor.Findings(doctor.Warning, "the first read was refused (429): "+string(refused.Message), "other users of the account are spending all of its reads", do)
	}
	var lines []string
	for _, b := range p.pacer.Buckets(time.Now()) {
		left, resets, of := b.Left(time.Now()), b.Reset-time.Since(b.ObservedAt), "an unknown limit"
		if b.Limit > 0 {
			of = wording.Count(int(b.Limit))
		}
		words := fmt.Sprintf("%s %s: %s of %s left", b.Class, b.Policy, wording.Count(int(left)), of)
		switch {
		case b.Unreported:
			continue
		case left == 0 && resets > longLimit:
			return doctor.Findings(doctor.Fault, fmt.Sprintf("%s for another %s", words, wording.Age(resets)), "nobody with a key of the account can read before that", do)
		case left <= quotaReserve && resets > longLimit:
			return doctor.Findings(doctor.Warning, fmt.Sprintf("%s for another %s", words, wording.Age(resets)), "the rest is reserved for checkouts, so tillwatch does not read by itself", do)
		}
		lines = append(lines, words)
	}
	switch {
	case errors.Is(p.first, api.ErrRateLimited):
		return doctor.Findings(doctor.Fault, "the quota is used up: "+p.first.Error(), "nobody with a key of the account can read before that", do)
	case len(lines) == 0:
		return doctor.Findings(doctor.Note, "what is left is unknown, as answers do not say", "", "")
	}
	return doctor.Fine("%s; only answers to creating an intent report the daily limit and the agents", strings.Join(lines, ", "))
}

// checkLists finds out which lists the service has beyond the contract, and whether
// intents can be found without a list of intents.
func (p *examination) checkLists(context.Context) []doctor.Finding {
	if !p.intents.asked {
		return doctor.Skip("only the reserve of the quota is left")
	}
	var served []string
	for i, list := range []listProbe{p.intents, p.events} {
		name := []string{"intents", "events"}[i]
		switch {
		case list.err == nil:
			served = append(served, name)
		case !errors.Is(list.err, api.ErrNotServed):
			return doctor.Findings(doctor.Warning, "whether the service lists "+name+" is unknown: "+list.err.Error(), "", "try again")
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
			"run a relay and give --relay-url, or give intents with --watch-id or --watch-ids")
	}
	return doctor.Findings(doctor.Note, found, "intents are found by their events, as in the contract", "")
}
