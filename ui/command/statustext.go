package command

import (
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// text is the snapshot for people, one subject per line.
func (r snapshot) text() string {
	b := &sheetWriter{}
	s, now := &r.known, r.At
	b.row("environment", r.Environment)
	if r.Filter != "" {
		b.row("filter", r.Filter+": only matching intents, with their shipments, alerts and pulse")
	}
	failure := s.API.Err // may be of long ago
	if s.API.State == account.APIHealthy {
		failure = nil
	}
	b.row("api", s.API.State.String()+detail(failure, "last read "+ago(now, s.LastRead)))
	b.row("relay", s.Feed.State.String()+detail(s.Feed.Err, r.Relay.place()+"last event "+ago(now, s.LastEvent)))
	b.row("intents", countsText(r.Intents, asStrings(api.IntentStates()), []string{"other", notRead}))
	if s.LetGo > 0 {
		b.row("", wording.Count(s.LetGo)+" older ones are not kept")
	}
	statuses := api.ShipmentStatuses()
	for status := range r.Shipments {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses[len(api.ShipmentStatuses()):])
	b.row("shipments", countsText(r.Shipments, nil, statuses))
	r.quotaLines(b)
	r.pulseLines(b)
	b.row("events", fmt.Sprintf("%s received, %s doubled, %s late, %s missed, %s backfilled",
		wording.Count(r.Events.Received), wording.Count(r.Events.Duplicate), wording.Count(r.Events.Late), orUnknown(r.Events.Missed), wording.Count(r.Events.Backfilled)))
	for _, m := range r.Missing {
		b.row("missing", m.text())
	}
	for _, a := range s.Alerts {
		b.row("alert", string(api.Scrub(a.Text))+wording.Within(&a, now))
	}
	return b.String()
}

// quotaLines say what is left of the quota and who spends it.
func (r snapshot) quotaLines(b *sheetWriter) {
	s := &r.known
	for i := range s.Limits {
		b.row("quota", string(s.Limits[i].Name)+": "+limitText(&s.Limits[i], r.At))
	}
	if held := wording.Holds(s.Holds(r.At), r.At, time.Local); held != "" {
		b.row("quota", held)
	}
	for _, spent := range spendersOf(s.Spenders) {
		b.row("spender", spent.sentence())
	}
	if wording.ObservedSince(s.Feed.ObservedSince, s.Spenders, account.LastHour, r.At, time.Local) != "" {
		b.row("spenders", "observed for "+wording.Age(r.At.Sub(s.Feed.ObservedSince))+": earlier requests of others may be missing")
	}
}

// pulseLines say how the day is going, and whether the service is slow.
func (r snapshot) pulseLines(b *sheetWriter) {
	p := &r.pulse
	b.row("pulse", wording.Day(p))
	awaiting := "unknown"
	if p.Waiting > 0 || r.Settled {
		awaiting = wording.Awaited(p)
	}
	b.row("awaiting", awaiting)
	b.row("to an offer", wording.Times(p.Today.Offer, p.Before.Offer, p.Week.Offer))
	b.row("to an order", wording.Times(p.Today.Order, p.Before.Order, p.Week.Order))
	for i := range r.known.Latency {
		l := &r.known.Latency[i]
		b.row("latency", wording.LatencyOf(l)+" "+wording.Latency(l, r.At))
	}
}

func detail(err error, otherwise string) string {
	if err != nil {
		return ": " + wording.Because(err)
	}
	return ", " + otherwise
}

func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return wording.Age(now.Sub(t)) + " ago"
}

// place is where the relay's stream stands.
func (r relayReport) place() string {
	if r.Head == nil {
		return ""
	}
	return fmt.Sprintf("at %s of %s, ", orUnknown(r.Cursor), orUnknown(r.Head))
}

// oneLine is the report in one line, for a scrolling terminal.
func (r snapshot) oneLine(now time.Time) string {
	shipments := 0
	for _, n := range r.Shipments {
		if n != nil {
			shipments += *n
		}
	}
	used := "unknown"
	for i := range r.known.Limits {
		if l := &r.known.Limits[i]; l.Name == account.LimitReads {
			used = wording.Used(l)
		}
	}
	of := func(state api.IntentState) string { return orUnknown(r.Intents[string(state)]) }
	return fmt.Sprintf("%s  relay %s  %s retrieving  %s awaiting  %s placing  %s completed  %s failed  %s shipments  %s events  reads used %s",
		now.Format(time.TimeOnly), r.Relay.State, of(api.RetrievingOffer), of(api.AwaitingConfirmation), of(api.PlacingOrder),
		of(api.Completed), of(api.Failed), orUnknown(known(shipments, r.Settled)), wording.Count(r.Events.Received), used)
}
