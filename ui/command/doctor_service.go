package command

import (
	"context"
	"crypto/tls"
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
)

// askWithin is how long the service may take for one answer: a check may ask twice.
const askWithin = 2 * time.Second

// heard is what the service's last answers said beside their bodies.
type heard struct {
	next   http.RoundTripper
	offset time.Duration // of this machine's clock, ahead of the Date of the first answer
	dated  bool
	fields quota.Fields // of the first answer
	any    bool
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
		h.dated, h.offset = true, sent.Add(time.Since(sent)/2).Sub(date.Add(500*time.Millisecond))
	}
	return answer, nil
}

// checkService reads once, as any look at the account begins.
func (p *patient) checkService(ctx context.Context) []doctor.Finding {
	s := p.settings
	if s.APIURL == "" {
		return doctor.Skip("no service is configured")
	}
	p.heard.next = api.TransportTo(hostOf(s.APIURL))
	p.pacer = quota.NewPacer(quota.PacerConfig{Share: s.PollShare})
	client, err := api.New(api.Config{
		BaseURL: s.APIURL, Key: s.APIKey, InsecureHTTP: s.InsecureHTTP, LookupPath: s.LookupPath, Timeout: askWithin, Retries: -1,
		Pacer: p.pacer, Observe: func(api.Exchange) { p.reads.Add(1) }, Transport: &p.heard,
	})
	if err != nil {
		return doctor.Findings(doctor.Fault, addressed(err).Error(), "no request is sent", "correct api_url or api_key")
	}
	p.client = client
	began := time.Now()
	for _, err := range client.ShipmentPages(quota.WithPriority(ctx, quota.Reconcile), api.ShipmentQuery{Limit: 1}) {
		p.first = err
		break
	}
	took := time.Since(began).Milliseconds()
	var answered *api.Error
	var unreadable *api.UnreadableError
	switch isAnswer := errors.As(p.first, &answered); {
	case p.first == nil, isAnswer && answered.Status/100 == 4 && answered.Status != http.StatusNotFound && answered.Status != http.StatusBadRequest:
		return doctor.Fine("it answers at %s in %d ms", s.APIURL, took)
	case isAnswer && answered.Status/100 == 5:
		return doctor.Findings(doctor.Fault, "the service does not answer as it should: "+p.first.Error(), "nothing can be read until it does",
			"wait, or ask the provider; behind a proxy of yours, look there")
	case isAnswer && answered.Status == http.StatusBadRequest && strings.HasPrefix(s.APIURL, "http://"):
		return doctor.Findings(doctor.Fault, fmt.Sprintf("what answers at %s does not take http://: %v", s.APIURL, p.first), "", "give https:// in api_url")
	case isAnswer || errors.As(p.first, &unreadable):
		return doctor.Findings(doctor.Fault, fmt.Sprintf("what answers at %s is not the service: %v", s.APIURL, p.first), "the contract has this list everywhere",
			"correct api_url: it is the base address, without /api/v1")
	}
	why, do := whyAway(p.first)
	return doctor.Findings(doctor.Fault, fmt.Sprintf("nothing can be had from %s: %s", s.APIURL, why), "nothing can be read or confirmed", do)
}

// whyAway says why nothing answers, and what to do.
func whyAway(err error) (why, do string) {
	var transport *api.TransportError
	if errors.As(err, &transport) {
		err = transport.Err
	}
	var unknown *net.DNSError
	var dial *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return "the name " + string(api.Scrub(unknown.Name)) + " leads nowhere", "correct the host, or look at this machine's DNS"
	case errors.As(err, &untrusted):
		return untrusted.Error(), "correct the host; behind an inspecting proxy, add its certificate to the system's"
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"): // wrapped so that errors.Is does not find it
		return "it speaks no TLS", "give http:// in the address, on this machine alone"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time", "look at the network and firewalls on the way; behind a proxy, set HTTPS_PROXY"
	case errors.As(err, &dial) && dial.Op == "dial":
		return dial.Err.Error(), "start what should listen there (tillwatch simulate, tillwatch proxy), or correct the address"
	}
	return err.Error(), "correct the address, or look at what stands in between"
}

// Clocks that differ by more are told of, and are at fault.
const (
	clockOff   = 20 * time.Second
	clockWrong = 2 * time.Minute
)

// checkClock compares this machine's clock with that of the service.
func (p *patient) checkClock(context.Context) []doctor.Finding {
	if !p.heard.dated {
		return doctor.Findings(doctor.Note, "the service's answers have no Date, so this clock cannot be compared", "", "")
	}
	off := p.heard.offset
	direction := "ahead of"
	if off < 0 {
		direction = "behind"
	}
	v := doctor.Fault
	switch {
	case off.Abs() < clockOff:
		return doctor.Fine("within seconds of the service's")
	case off.Abs() < clockWrong:
		v = doctor.Warning
	}
	return doctor.Findings(v, fmt.Sprintf("this machine's clock is %s %s the service's", off.Abs().Round(time.Second), direction),
		"ages, confirm windows and resets are off by as much, and old deliveries may count as new", "have the system keep its time (NTP, chrony, systemd-timesyncd)")
}

// checkKey tells whether the service takes the key, and what it may read.
func (p *patient) checkKey(ctx context.Context) []doctor.Finding {
	var answered *api.Error
	if errors.As(p.first, &answered) {
		switch answered.Status {
		case http.StatusUnauthorized:
			do := "copy it whole from the account console, for the environment of " + p.settings.APIURL
			if says := api.KeyEnvironment(p.settings.APIKey); says != "" {
				do += "; it is a key of " + says
			}
			return doctor.Findings(doctor.Fault, "the service refuses the API key (401)", "nothing can be read or confirmed with it", do)
		case http.StatusForbidden:
			return doctor.Findings(doctor.Fault, "the key may not read shipments (403)", "parcels stay unknown", "give it the scopes to read in the account console")
		}
	}
	if !p.maySpend() {
		return doctor.Findings(doctor.Note, "the service takes the key; its scopes were not tried, as the quota is down to its reserve", "", "")
	}
	ctx = quota.WithPriority(ctx, quota.Reconcile)
	p.intents = probe(p.client.Intents(ctx), func(i api.Intent) happened { return happened{i.ID, i.CreatedAt, i.State != api.RetrievingOffer} })
	p.events = probe(p.client.Events(ctx), func(e api.Event) happened { return happened{e.ID, e.CreatedAt, true} })
	if p.events.served() {
		return doctor.Fine("the service takes it; it may read shipments and events")
	}
	_, err := p.client.Event(ctx, "evt_tillwatch_doctor")
	switch {
	case errors.Is(err, api.ErrForbidden), errors.Is(err, api.ErrUnauthorized):
		return doctor.Findings(doctor.Warning, "the key may not read events (scope events:read)", "an event that a delivery lost cannot be read again",
			"give it the scope events:read in the account console")
	case err == nil, errors.Is(err, api.ErrNotFound), errors.Is(err, api.ErrValidation):
		return doctor.Fine("the service takes it; it may read shipments and events")
	}
	return doctor.Findings(doctor.Note, "the service takes the key; whether it may read events cannot be known: "+err.Error(), "", "")
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

// quotaReserve is what is left to others, as [quota.PacerConfig] does by default.
const quotaReserve = 2

// happened is the newest thing of a list.
type happened struct {
	id       api.ID
	at       time.Time
	eventful bool // an event has told of it, or should have
}

// listProbe is what came of asking for a list that need not be there.
type listProbe struct {
	newest *happened
	err    error
	asked  bool
}

func (l listProbe) served() bool { return l.asked && l.err == nil }

// probe reads the first item of a list.
func probe[T any](list iter.Seq2[T, error], of func(T) happened) listProbe {
	l := listProbe{asked: true}
	for item, err := range list {
		var unreadable *api.ItemError
		if errors.As(err, &unreadable) {
			err = nil
		} else if err == nil {
			newest := of(item)
			l.newest = &newest
		}
		l.err = err
		break
	}
	return l
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

// hostOf is the host of an address; "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
