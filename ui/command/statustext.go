package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// notRead counts intents of which only the id is known.
const notRead = "not_read"

// known is a count, or nil if it is 0 and something is missing.
func known(n int, all bool) *int {
	if n == 0 && !all {
		return nil
	}
	return &n
}

// orUnknown is a number that may be unknown.
func orUnknown[T int | int64](n *T) string {
	if n == nil {
		return "unknown"
	}
	return wording.Count(int(*n))
}

// text is the snapshot for people, one subject a line.
func (r snapshot) text() string {
	s, now := &r.known, r.At
	service, relay := s.API.State.String(), s.Feed.State.String()
	if s.API.State != account.APIHealthy && s.API.Err != nil { // else it may be of long ago
		service += ": " + wording.Because(s.API.Err)
	}
	if s.Feed.Err != nil {
		relay += ": " + wording.Because(s.Feed.Err)
	}
	if r.Relay.Head != nil {
		relay += fmt.Sprintf(", at %s of %s", orUnknown(r.Relay.Cursor), orUnknown(r.Relay.Head))
	}
	filter := r.Filter
	if filter != "" {
		filter += ": only matching intents, with their shipments, alerts and pulse"
	}
	rows := []fact{
		{"environment", r.Environment},
		{"filter", filter},
		{"api", service + ", last read " + ago(now, s.LastRead)},
		{"relay", relay + ", last event " + ago(now, s.LastEvent)},
		{"intents", countsText(r.Intents, append(asStrings(api.IntentStates()), "other", notRead), s.LetGo)},
		{"shipments", countsText(r.Shipments, append(api.ShipmentStatuses(), notRead), 0)},
	}
	for i := range s.Limits {
		rows = append(rows, fact{"quota", string(s.Limits[i].Name) + ": " + limitText(&s.Limits[i], now)})
	}
	awaiting := "unknown"
	if r.pulse.Waiting > 0 || r.Settled {
		awaiting = wording.Awaited(&r.pulse)
	}
	rows = append(rows,
		fact{"quota", wording.Holds(s.Holds(now), now, time.Local)},
		fact{"pulse", wording.Day(&r.pulse)},
		fact{"awaiting", awaiting},
		fact{"to an offer", wording.Times(r.pulse.Today.Offer, r.pulse.ByNow.Offer)},
		fact{"to an order", wording.Times(r.pulse.Today.Order, r.pulse.ByNow.Order)})
	for i := range s.Latency {
		l := &s.Latency[i]
		rows = append(rows, fact{"latency", wording.LatencyOf(l) + " " + wording.Latency(l)})
	}
	rows = append(rows, fact{"events", fmt.Sprintf("%s received, %s doubled, %s late, %s missed, %s backfilled",
		wording.Count(r.Events.Received), wording.Count(r.Events.Duplicate), wording.Count(r.Events.Late),
		orUnknown(r.Events.Missed), wording.Count(r.Events.Backfilled))})
	for _, m := range r.Missing {
		rows = append(rows, fact{"missing", m.text()})
	}
	for i := range s.Alerts {
		rows = append(rows, fact{"alert", s.Alerts[i].Text + wording.Within(&s.Alerts[i], now)})
	}
	return sheet(rows...)
}

// countsText lists what there is by kind, the usual kinds first.
func countsText[K ~string](counts map[K]*int, kinds []K, letGo int) string {
	for kind := range counts {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	var parts []string
	none := "none"
	for _, kind := range kinds {
		if n, counted := counts[kind]; counted && n == nil {
			none = "unknown"
		} else if counted && *n > 0 {
			parts = append(parts, wording.Count(*n)+" "+wording.Name(string(kind)))
		}
	}
	if letGo > 0 {
		parts = append(parts, wording.Count(letGo)+" older ones let go")
	}
	return cmp.Or(strings.Join(parts, ", "), none)
}

func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return wording.Age(now.Sub(t)) + " ago"
}

// missingReport is a part of the account that could not be read in time.
type missingReport struct {
	What  account.Part `json:"what"`
	Count *int         `json:"count"` // intents, shipments, events or entries that cannot be read; null for other parts
	Why   string       `json:"why"`
}

func (m missingReport) text() string {
	n := orUnknown(m.Count)
	if m.What == account.PartSource {
		return "nothing names the intents: give --relay-url, --watch-id or --watch-ids"
	}
	what := map[account.Part]string{
		account.PartList:         "the list of intents was not read to its end",
		account.PartFeed:         "the relay has not sent all that it holds",
		account.PartShipmentList: "the list of shipments was not read",
		account.PartEvents:       "the relay no longer has events that this picture needs, as the service has no list (" + n + ")",
		account.PartParcels:      "shipments of completed intents, which may only be unreported (" + n + ")",
		account.PartIntents:      "intents that are not read yet (" + n + ")",
		account.PartShipments:    "shipments that are not read yet (" + n + ")",
	}[m.What]
	if m.What == account.PartList && m.Count != nil {
		what = "entries of the list of intents that cannot be read (" + n + ")"
	}
	return strings.TrimSuffix(what+": "+m.Why, ": ")
}

// missing says what is missing, in a sentence.
func (r snapshot) missing() string {
	var parts []string
	for _, m := range r.Missing {
		parts = append(parts, m.text())
	}
	return strings.Join(parts, "; ")
}

// oneLine is the snapshot in one line, for a scrolling terminal.
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
	line := now.Format(time.TimeOnly) + "  relay " + r.Relay.State
	for _, state := range api.IntentStates() {
		word, _, _ := strings.Cut(wording.Name(string(state)), " ")
		line += fmt.Sprintf("  %s %s", orUnknown(r.Intents[string(state)]), word)
	}
	return fmt.Sprintf("%s  %s shipments  %s events  reads used %s", line, orUnknown(known(shipments, r.Settled)),
		wording.Count(r.Events.Received), used)
}
