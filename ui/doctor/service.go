package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/api/simulator"
	"tillwatch/ui/wording"
)

const (
	// askWithin is how long the service may usually take for one answer: a check may send
	// two requests.
	askWithin = 2 * time.Second
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
func (s *Setup) newClient(config api.Config) (*api.Client, error) {
	config.Timeout, config.Retries, config.Pacer = cmp.Or(s.Within, askWithin), -1, s.pacer
	config.Observe = func(e api.Exchange) {
		var broken *api.TransportError
		left := !errors.As(e.Err, &broken) || broken.MaybeSent
		if left && strings.HasPrefix(e.Path, "/api/") { // questions to a stand-in's control API cost nothing
			s.reads.Add(1)
		}
		if s.answered.Status == 0 {
			s.answered = e
		}
	}
	return s.Client(config)
}

// readShipments reads the only list that the contract promises.
func (s *Setup) readShipments(ctx context.Context, from *api.Client) error {
	for _, err := range from.Shipments(ctx, api.ShipmentQuery{Limit: 1}) {
		if errors.As(err, new(*api.ItemError)) || errors.Is(err, api.ErrIncomplete) {
			return nil // the service has answered
		}
		return err
	}
	return nil
}

// checkService reads once, as every session begins.
func (s *Setup) checkService(ctx context.Context) (found []Finding) {
	at := s.APIURL
	if at == "" {
		return Skip("no service is configured")
	}
	s.heard.next = api.TransportTo(api.HostOf(at))
	s.pacer = quota.NewPacer(quota.PacerConfig{Share: s.PollShare})
	fault := func(what, do string) []Finding {
		return Findings(Fault, what, "nothing can be read or confirmed", do)
	}
	client, err := s.newClient(api.Config{Transport: &s.heard})
	if err != nil {
		return fault(err.Error(), "correct api_url or api_key")
	}
	s.client = client
	began := time.Now()
	s.first = s.readShipments(quota.WithPriority(ctx, quota.Reconcile), client)
	var refused *api.Error
	var unreadable *api.UnreadableError
	status := 0
	if errors.As(s.first, &refused) {
		status = refused.Status
	}
	switch {
	case s.first == nil, errors.Is(s.first, api.ErrUnauthorized), errors.Is(s.first, api.ErrForbidden), errors.Is(s.first, api.ErrRateLimited):
		return Fine("it answers at %s in %s", at, wording.Took(time.Since(began)))
	case status >= http.StatusInternalServerError:
		return fault("the service answers with errors: "+s.first.Error(), "wait, or ask the provider; if you use a proxy, check it")
	case status == http.StatusBadRequest && strings.HasPrefix(at, "http://"):
		return fault(fmt.Sprintf("%s does not accept http://: %v", at, s.first), "use https:// in api_url")
	case status != 0 || errors.As(s.first, &unreadable):
		return fault(fmt.Sprintf("what answers at %s is not the service: %v", at, s.first), "correct api_url: it must be the base address, without /api/v1")
	}
	why, do := whyUnreachable(s.first)
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

// checkClock compares this machine's clock with the service's.
func (s *Setup) checkClock(context.Context) []Finding {
	ahead, _, dated := s.answered.ClockAhead()
	off, direction, verdict := ahead.Abs(), "ahead of", Fault
	if ahead < 0 {
		direction = "behind"
	}
	switch {
	case !dated:
		return Findings(Note, "cannot be compared: the service's answers have no Date", "", "")
	case off < clockOff:
		return Fine("within seconds of the service's")
	case off < clockWrong:
		verdict = Warning
	}
	return Findings(verdict, fmt.Sprintf("this machine's clock is %s %s the service's", api.Span(off.Round(time.Second)), direction),
		"ages, confirm windows and resets are off by as much", "let the system keep its time (NTP, chrony, systemd-timesyncd)")
}

// checkKey finds out whether the service accepts the key, and what it may read.
func (s *Setup) checkKey(ctx context.Context) []Finding {
	switch {
	case errors.Is(s.first, api.ErrUnauthorized):
		do := "copy the whole key from the account console, for the environment of " + s.APIURL
		if says := api.KeyEnvironment(s.APIKey); says != "" {
			do += "; this one is for " + says
		}
		return Findings(Fault, "the service refuses the API key (401)", "nothing can be read or confirmed with it", do)
	case errors.Is(s.first, api.ErrForbidden) && !errors.Is(s.first, api.ErrScope):
		return Findings(Fault, "something before the service forbids reading shipments (403)", "parcels stay unknown", "check api_url, and what is in between")
	case !s.maySpend():
		return Findings(Note, "the service accepts the key; its scopes are not tested, as only the reserve of the quota is left", "", "")
	}
	ctx = quota.WithPriority(ctx, quota.Reconcile)
	s.intents = probe(s.client.Intents(ctx), func(i api.Intent) happened {
		return happened{i.ID, i.CreatedAt, "an intent past its offer", i.State != api.RetrievingOffer}
	})
	s.events = probe(s.client.Events(ctx), func(e api.Event) happened { return happened{e.ID, e.CreatedAt, "an event", true} })
	var found []Finding
	if s.first != nil {
		found = Findings(Warning, "the key may not read shipments", "parcels stay unknown", "give it the read scopes in the account console")
	}
	if s.events.err != nil {
		switch _, err := s.client.Event(ctx, "evt_tillwatch_doctor"); {
		case errors.Is(err, api.ErrForbidden), errors.Is(err, api.ErrUnauthorized):
			return append(found, Findings(Warning, "the key may not read events (scope events:read)", "an event whose delivery was lost cannot be read", "give it that scope in the account console")...)
		case err != nil && !errors.Is(err, api.ErrMissing) && !errors.Is(err, api.ErrValidation):
			return append(found, Findings(Note, "the service accepts the key; whether it may read events is unknown: "+err.Error(), "", "")...)
		}
	}
	if found != nil {
		return found
	}
	return Fine("the service accepts it; it may read shipments and events")
}

// maySpend reports whether the reads bucket has more than its reserve, now or in a
// moment.
func (s *Setup) maySpend() bool {
	for _, b := range s.pacer.Buckets(time.Now()) {
		if b.Class == quota.Reads && b.Left(time.Now()) <= b.Reserve() && b.Reset > askWithin {
			return false
		}
	}
	return !errors.Is(s.first, api.ErrRateLimited)
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
func (s *Setup) checkEnvironment(context.Context) []Finding {
	where := s.client.Environment()
	switch {
	case where.StandIn:
		return Fine("it says that it is a stand-in: no money moves")
	case !where.Live:
		return Fine("%s: no money moves", where.Name)
	case api.Loopback(api.HostOf(s.APIURL)):
		return Findings(Note, "what answers on this machine does not say that it is a stand-in", "it may be a tunnel to the real service, so money counts as real", "")
	case s.AllowConfirm:
		return Findings(Note, where.Name+": REAL money, and confirming is allowed", "each confirm asks for the last four of the id, or the total", "")
	}
	return Fine("%s: REAL money; confirming is not allowed", where.Name)
}

// checkHeaders finds out whether answers report what is left of the quota.
func (s *Setup) checkHeaders(ctx context.Context) []Finding {
	what := ""
	switch f := s.heard.fields; {
	case len(f.Ignored) > 0:
		what = fmt.Sprintf("the answers' field %s cannot be used: %s", f.Ignored[0].Field, f.Ignored[0].Text)
	case len(f.Reports) == 0 && f.Older:
		what = "answers have RateLimit fields, but not of IETF draft 8"
	case len(f.Reports) == 0 && s.unlimited(ctx):
		return Fine("none, as the stand-in has no limit for reads")
	case len(f.Reports) == 0:
		what = "answers have no RateLimit fields"
	}
	if what != "" {
		return Findings(Warning, what, "what is left of the quota is not known; the contract's limits are assumed", "check what is in between: a gateway may remove or change them")
	}
	var names []string
	for _, r := range s.heard.fields.Reports {
		names = append(names, fmt.Sprintf("%s (%s in %s)", r.Policy, wording.Count(int(r.Limit)), api.Span(r.Window)))
	}
	return Fine("RateLimit fields of draft 8; reads count against %s", strings.Join(names, ", "))
}

// unlimited reports whether the service is a stand-in that does not limit reads.
func (s *Setup) unlimited(ctx context.Context) bool {
	var sim simulator.Summary
	return s.client.Control(ctx, http.MethodGet, "/control/state", nil, &sim) == nil &&
		slices.ContainsFunc(sim.Buckets, func(b simulator.BucketSummary) bool { return b.Name == "reads" && b.Limit < 0 })
}

// checkLimits reports what is left of the limits that answers reported.
func (s *Setup) checkLimits(context.Context) []Finding {
	const do = "tillwatch quota shows who spends; ask the provider for more"
	var refused *api.Error
	if errors.As(s.first, &refused) && refused.Wait() <= longLimit && errors.Is(refused, api.ErrRateLimited) {
		return Findings(Warning, "the first read was refused (429): "+string(refused.Message), "other users of the account are spending all of its reads", do)
	}
	var lines []string
	for _, b := range s.pacer.Buckets(time.Now()) {
		left, resets, of := b.Left(time.Now()), b.Reset-time.Since(b.ObservedAt), "an unknown limit"
		if b.Limit > 0 {
			of = wording.Count(int(b.Limit))
		}
		words := fmt.Sprintf("%s %s: %s of %s left", b.Class, b.Policy, wording.Count(int(left)), of)
		switch {
		case b.Unreported:
			continue
		case left == 0 && resets > longLimit:
			return Findings(Fault, fmt.Sprintf("%s for another %s", words, wording.Age(resets)), "nobody with a key of the account can read before that", do)
		case left <= b.Reserve() && resets > longLimit:
			return Findings(Warning, fmt.Sprintf("%s for another %s", words, wording.Age(resets)), "the rest is reserved for checkouts, so tillwatch does not read by itself", do)
		}
		lines = append(lines, words)
	}
	switch {
	case errors.Is(s.first, api.ErrRateLimited):
		return Findings(Fault, "the quota is used up: "+s.first.Error(), "nobody with a key of the account can read before that", do)
	case len(lines) == 0:
		return Findings(Note, "what is left is unknown, as answers do not say", "", "")
	}
	return Fine("%s; only answers to creating an intent report the daily limit and the agents", strings.Join(lines, ", "))
}

// checkLists finds out which lists the service has beyond the contract, and whether
// intents can be found without a list of intents.
func (s *Setup) checkLists(context.Context) []Finding {
	if !s.intents.asked {
		return Skip("only the reserve of the quota is left")
	}
	var served []string
	for i, list := range []listProbe{s.intents, s.events} {
		name := []string{"intents", "events"}[i]
		switch {
		case list.err == nil:
			served = append(served, name)
		case !errors.Is(list.err, api.ErrNotServed):
			return Findings(Warning, "whether the service lists "+name+" is unknown: "+list.err.Error(), "", "try again")
		}
	}
	found := "the service lists neither intents nor events"
	if served != nil {
		found = "the service lists " + strings.Join(served, " and ")
	}
	switch {
	case s.intents.err == nil:
		return Fine("%s", found)
	case s.RelayURL == "" && !s.NamesIntents:
		return Findings(Fault, "the service lists no intents, and no relay is configured", "intents without a shipment cannot be found",
			"run a relay and give --relay-url, or give intents with --watch-id or --watch-ids")
	}
	return Findings(Note, found, "intents are found by their events, as in the contract", "")
}
