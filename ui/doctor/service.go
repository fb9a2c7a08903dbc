package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// service reads once, as every session begins, and finds out whether the service answers.
func (s *Setup) service(ctx context.Context) Finding {
	at := s.Settings.APIURL
	if at == "" {
		return skip("none is configured")
	}
	s.pacer = quota.NewPacer(quota.PacerConfig{Share: s.Settings.PollShare})
	client, err := session.NewClient(s.Settings, api.Config{
		Timeout: cmp.Or(s.Within, 2*time.Second), Retries: -1, Pacer: s.pacer, Observe: s.observe,
	})
	if err != nil {
		return fault(err.Error(), "correct api_url or api_key")
	}
	defer client.Close()
	began := time.Now()
	for _, s.first = range client.Shipments(quota.WithPriority(ctx, quota.Reconcile), api.ShipmentQuery{Limit: 1}) {
		break
	}
	var refused *api.Error
	switch {
	case errors.As(s.first, new(*api.ItemError)), errors.Is(s.first, api.ErrIncomplete):
		s.first = nil // the service has answered
	case s.first == nil, errors.Is(s.first, api.ErrUnauthorized), errors.Is(s.first, api.ErrForbidden),
		errors.Is(s.first, api.ErrRateLimited):
	case errors.As(s.first, &refused) && refused.Status >= http.StatusInternalServerError:
		return fault("the service answers with errors: "+s.first.Error(),
			"wait, or ask the provider; if you use a proxy, check it")
	case refused != nil, errors.As(s.first, new(*api.UnreadableError)):
		return fault(fmt.Sprintf("what answers at %s is not the service: %v", at, s.first),
			"correct api_url: https://, and the base address without /api/v1")
	default:
		return fault(fmt.Sprintf("cannot connect to %s: %v", at, s.first), reach(s.first))
	}
	return fine("it answers at %s in %s: %s", at, wording.Took(time.Since(began)), s.money())
}

// observe counts what was charged to the service's quota, and keeps the first exchange that was
// answered: who answered is said once, whatever later answers leave out.
func (s *Setup) observe(e api.Exchange) {
	var broken *api.TransportError
	if !errors.As(e.Err, &broken) || broken.MaybeSent {
		s.reads++
	}
	if s.answered.Status == 0 {
		s.answered = e
	}
}

// reach says what to do where nothing answers.
func reach(err error) string {
	switch {
	case errors.As(err, new(*api.ProxiedError)):
		return "check the proxy (HTTPS_PROXY), or name the host in NO_PROXY"
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "what answers does not speak TLS: use http:// in the address, but only on this machine"
	}
	return "start the server there (tillwatch simulate, tillwatch proxy), correct the address, or set HTTPS_PROXY"
}

// money says whether real money moves.
func (s *Setup) money() string {
	switch where := s.answered.From; {
	case where.StandIn:
		return "a stand-in, so no money moves"
	case !where.Live:
		return where.Name + ", so no money moves"
	case s.Settings.AllowConfirm:
		return "REAL money, and confirming is allowed: each confirm asks for the last four of the id, or the total"
	}
	return "REAL money; confirming is not allowed"
}

// key finds out whether the service accepts the key.
func (s *Setup) key(context.Context) Finding {
	switch {
	case errors.Is(s.first, api.ErrUnauthorized):
		do := "copy the whole key from the account console, for the environment of " + s.Settings.APIURL
		if says := api.KeyEnvironment(s.Settings.APIKey); says != "" {
			do += "; this one is for " + says
		}
		return fault("the service refuses the API key (401): nothing can be read or confirmed with it", do)
	case errors.Is(s.first, api.ErrScope):
		return warn("the key may not read shipments, so parcels stay unknown",
			"give it the read scopes in the account console")
	case errors.Is(s.first, api.ErrForbidden):
		return fault("something before the service forbids reading shipments (403)",
			"check api_url, and what is in between")
	}
	return fine("the service accepts it")
}

// longLimit is how long a bucket that stays empty is no finding.
const longLimit = 10 * time.Second

// limits reports what is left of the limits that the answer told.
func (s *Setup) limits(context.Context) Finding {
	const do = "tillwatch quota shows who spends; ask the provider for more"
	if errors.Is(s.first, api.ErrRateLimited) {
		return warn("the first read was refused (429): "+s.first.Error(), do)
	}
	var lines []string
	for _, b := range s.pacer.Buckets(time.Now()) {
		if b.Unreported {
			continue
		}
		left, resets := b.Left(time.Now()), b.Reset-time.Since(b.ObservedAt)
		words := fmt.Sprintf("%s %s: %s left", b.Class, b.Policy, wording.Count(int(left)))
		if b.Limit > 0 {
			words = fmt.Sprintf("%s %s: %s of %s left", b.Class, b.Policy, wording.Count(int(left)),
				wording.Count(int(b.Limit)))
		}
		if left <= b.Reserve() && resets > longLimit {
			return warn(fmt.Sprintf("%s for another %s: dashboards wait, the rest is kept for checkouts", words,
				wording.Age(resets)), do)
		}
		lines = append(lines, words)
	}
	switch {
	case len(lines) > 0:
		return fine("%s; only answers to creating an intent report the daily limit and the agents",
			strings.Join(lines, ", "))
	case s.answered.From.StandIn:
		return fine("the stand-in reports none")
	}
	return warn("answers have no RateLimit fields of draft 8: the contract's limits are assumed",
		"check what is in between: a gateway may remove or change them")
}
