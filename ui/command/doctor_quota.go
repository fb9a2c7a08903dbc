package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkHeaders tells whether answers say what is left of the quota.
func (p *patient) checkHeaders(context.Context) []doctor.Finding {
	const means = "what is left of the quota is not known; tillwatch keeps to the contract's limits by its own count"
	switch fields := p.heard.fields; {
	case len(fields.Ignored) > 0:
		return doctor.Findings(doctor.Warning, fmt.Sprintf("the field %s of answers cannot be used: %s", fields.Ignored[0].Field, fields.Ignored[0].Text), means,
			"ask the provider, or look at what stands in between")
	case len(fields.Reports) == 0 && fields.Older:
		return doctor.Findings(doctor.Warning, "answers have RateLimit fields of another draft", means, "ask the provider for those of IETF draft 8")
	case len(fields.Reports) == 0:
		return doctor.Findings(doctor.Warning, "answers have no RateLimit fields", means, "look at what stands in between: a gateway may take them away")
	}
	var names []string
	for _, report := range p.heard.fields.Reports {
		text := report.Policy
		if report.PolicyKnown {
			text += fmt.Sprintf(" (%s in %s)", wording.Count(int(report.Limit)), wording.Lasting(report.Window))
		}
		names = append(names, text)
	}
	return doctor.Fine("RateLimit fields of draft 8; reads are charged to %s", strings.Join(names, ", "))
}

// checkLimits tells what is left of the limits that answers told of.
func (p *patient) checkLimits(context.Context) (found []doctor.Finding) {
	now := time.Now()
	var refused *api.Error
	if errors.As(p.first, &refused) && errors.Is(refused, api.ErrRateLimited) {
		if wait := refused.Wait(); wait > longLimit {
			return spentFor("the reads of the account are used up (429)", wait)
		}
		return doctor.Findings(doctor.Warning, "the first read was refused (429): "+string(refused.Message), "others of the account spend all of its reads in this moment", "tillwatch quota shows who")
	}
	var lines []string
	for _, b := range p.pacer.Buckets(now) {
		left, resets := b.Left(now), b.Reset-now.Sub(b.ObservedAt)
		switch {
		case b.Unreported:
			continue
		case left == 0 && resets > longLimit:
			return spentFor("the reads of the account are used up", resets)
		case left <= quotaReserve && resets > longLimit:
			found = append(found, doctor.Findings(doctor.Warning, fmt.Sprintf("%d of %d %s left for %s", left, b.Limit, b.Class, wording.Lasting(resets)),
				"tillwatch leaves the rest to checkouts, and reads nothing unasked", "tillwatch quota shows who spends")...)
		}
		lines = append(lines, fmt.Sprintf("%s %d of %d left", b.Class, left, b.Limit))
	}
	switch {
	case found != nil:
		return found
	case len(lines) == 0:
		return doctor.Findings(doctor.Note, "what is left cannot be known, as answers do not tell", "the contract's limits are assumed", "")
	}
	return doctor.Fine("%s; those of intents a day and of agents are told only to who creates intents", strings.Join(lines, ", "))
}

// longLimit is a wait that does not pass by itself in a moment.
const longLimit = 10 * time.Second

func spentFor(what string, wait time.Duration) []doctor.Finding {
	return doctor.Findings(doctor.Fault, fmt.Sprintf("%s for another %s", what, wording.Lasting(wait)), "nothing can be read before that, by anybody with a key of the account",
		"see with tillwatch quota who spends; ask the provider for more")
}

// checkLists tells which lists there are beyond the contract, and whether intents can
// be found without the one of theirs.
func (p *patient) checkLists(context.Context) []doctor.Finding {
	if !p.intents.asked {
		return doctor.Skip("the quota is down to its reserve")
	}
	for _, list := range []listProbe{p.intents, p.events} {
		if list.err != nil && !errors.Is(list.err, api.ErrNotServed) {
			return doctor.Findings(doctor.Warning, "whether the service lists intents and events cannot be known: "+list.err.Error(), "", "try again")
		}
	}
	s := p.settings
	finds := s.RelayURL != "" || len(s.WatchIDs) > 0 || s.WatchList != ""
	switch {
	case p.intents.served() && p.events.served():
		return doctor.Fine("the service lists intents and events")
	case p.intents.served():
		return doctor.Fine("the service lists intents, and no events")
	case !finds:
		return doctor.Findings(doctor.Fault, "the service lists no intents, and no relay is configured", "intents without a shipment cannot be found",
			"run a relay and give --relay-url, or name intents with --watch-id or --watch-ids")
	case p.events.served():
		return doctor.Findings(doctor.Note, "the service lists events, and no intents", "intents are found by events, as the contract has it", "")
	}
	return doctor.Findings(doctor.Note, "the service lists neither intents nor events", "intents are found by webhooks alone, as the contract has it", "")
}
