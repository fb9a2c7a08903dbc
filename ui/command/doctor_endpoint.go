package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

// checkEndpoint tells how the service sees the relay as its endpoint: by the word of a
// stand-in, or by what the relay counts.
func (p *patient) checkEndpoint(ctx context.Context) []doctor.Finding {
	if p.client != nil && p.client.Environment().StandIn {
		if endpoints, err := p.standInEndpoints(ctx); err == nil {
			return p.asTheStandInSees(endpoints)
		}
	}
	counts, err := p.reader.Deliveries(ctx)
	if err != nil {
		return doctor.Findings(doctor.Note, "how the service sees the endpoint cannot be known: the service does not tell, and the token may not read what the relay counts (scope admin)", "", "")
	}
	good, wrong, full := counts["stored"]+counts["duplicate"], counts["unauthorized"], counts["unavailable"]
	since := fmt.Sprintf("since the relay started: %d stored, %d again, %d refused for their signature, %d not stored",
		counts["stored"], counts["duplicate"], wrong, full)
	empty := strings.HasSuffix(p.head, ":0")
	switch {
	case good == 0 && wrong > 0:
		return doctor.Findings(doctor.Fault, "all deliveries were refused for their signature; "+since, "the signing secret is not that of the account, or the relay's has something around it",
			"copy it anew from the account console, and have the relay read it again (SIGHUP)")
	case full > good:
		return doctor.Findings(doctor.Fault, "most deliveries could not be stored; "+since, "the service may give them up", "look at the relay's log and disk")
	case good == 0 && counts["challenge"] == 0 && empty:
		return doctor.Findings(doctor.Warning, "no challenge came, and no event ever; "+since, "the service may not know the relay", "save its address, ending in /webhooks, in the account console")
	case good == 0 && !empty:
		return doctor.Findings(doctor.Note, "nothing was delivered; "+since, "the events before that are kept", "")
	case full > 0:
		return doctor.Findings(doctor.Note, "single deliveries could not be stored; "+since, "the service sends them again, or the relay takes them from its list", "")
	}
	return doctor.Fine("deliveries arrive; %s", since)
}

// asTheStandInSees judges by the word of the stand-in.
func (p *patient) asTheStandInSees(endpoints []simulator.EndpointSummary) []doctor.Finding {
	relay, err := url.Parse(p.settings.RelayURL)
	if err != nil {
		return doctor.Skip("the relay has no address")
	}
	var others []string
	for _, e := range endpoints {
		at, err := url.Parse(e.URL)
		if err != nil || at.Port() != relay.Port() {
			others = append(others, string(api.Scrub(e.URL)))
			continue
		}
		answers := fmt.Sprintf("%s delivered, %s failed, %s given up", wording.Count(int(e.Delivered)), wording.Count(int(e.Failures)), wording.Count(int(e.GivenUp)))
		switch {
		case !e.Verified:
			return doctor.Findings(doctor.Fault, "the stand-in's challenge was not answered: "+string(api.Scrub(e.LastError)), "it delivers nothing before that",
				"look whether the relay's signing secret is that of the stand-in")
		case e.GivenUp > e.Delivered:
			return doctor.Findings(doctor.Fault, fmt.Sprintf("the stand-in gives most events up (%s): %s", answers, api.Scrub(e.LastError)), "these events do not come again",
				"look whether the relay's signing secret is that of the stand-in")
		}
		return doctor.Fine("the stand-in delivers to the relay: %s", answers)
	}
	if len(others) > 0 && len(p.newest) > 0 { // perhaps by another address of the same relay
		return doctor.Findings(doctor.Note, "the stand-in delivers to "+orNone(others)+"; whether that is the relay cannot be known", "", "")
	}
	return doctor.Findings(doctor.Fault, "the stand-in does not know the relay; it delivers to "+orNone(others), "no event reaches the relay",
		"start the stand-in with --webhook-url, the relay's address and /webhooks")
}

// standInEndpoints asks a stand-in, and nothing else, for its endpoints. That is no part
// of the contract and costs no quota.
func (p *patient) standInEndpoints(ctx context.Context) ([]simulator.EndpointSummary, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.settings.APIURL, "/")+"/control/state", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+api.StandInKey(p.settings.APIKey).Reveal()) // which the service would refuse
	client := http.Client{Transport: p.heard.next, Timeout: askWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the stand-in answered %d", answer.StatusCode)
	}
	var state simulator.Summary
	return state.Endpoints, json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&state)
}
