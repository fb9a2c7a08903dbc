// Package plain prints what happens in an account as lines of text, one per change,
// for screen readers and logs.
//
// A line has a time, and then what matters first: the state, the product, the total. The
// id comes last, as in
//
//	14:02:10 awaiting confirmation: Wool Socks from acme.example, 44.52 USD, confirm by 14:40:02 (intent ci_779d)
//
// The wording is stable: scripts can rely on it.
package plain

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Config configures [Run]. Source is required.
type Config struct {
	Source      account.Picture
	Environment string         // the service's environment, until an answer names it
	Account     string         // may be empty
	Location    *time.Location // for printed times; nil: time.Local
	Gather      time.Duration  // what changes twice meanwhile is printed once; default 200 ms, negative: not at all
}

// Run prints changes to out until ctx ends, which is not an error, or writing fails.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	gather := max(cmp.Or(cfg.Gather, 200*time.Millisecond), 0)
	p, lines := newPrinter(cfg), bufio.NewWriter(out)
	return account.Follow(ctx, cfg.Source, gather, func(changes account.Changes) error {
		for _, line := range p.changes(&changes) {
			fmt.Fprintln(lines, line) // Flush reports its error
		}
		if err := lines.Flush(); err != nil {
			return fmt.Errorf("writing what changed: %w", err)
		}
		return nil
	})
}

// printer turns changes into lines. It remembers what it has printed, and prints a line
// only when that changes.
type printer struct {
	cfg       Config
	began     time.Time         // the moment of the first picture
	day       string            // the last printed date
	where     string            // the last printed environment
	printed   map[string]string // the last printed words, by what they are about
	summed    map[string]string // the states at the start of those that are only in the sums
	lastEvent int64
	feed      account.FeedState
	service   account.APIState
	alerts    []account.Alert

	now   time.Time
	lines []string
}

func newPrinter(cfg Config) *printer {
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	return &printer{cfg: cfg, printed: map[string]string{}, summed: map[string]string{}}
}

// changes returns the lines for what changed; for the first picture, only the sums and
// the intents that wait for a person.
func (p *printer) changes(c *account.Changes) []string {
	first := p.day == ""
	p.lines, p.now = nil, c.At.In(p.cfg.Location)
	if day := p.now.Format(time.DateOnly); day != p.day {
		p.day = day
		p.say("date %s", day)
	}
	if first {
		p.began = c.At
		p.begin(&c.Summary)
	}
	p.sums(&c.Summary, first)
	p.connections(&c.Summary)
	for _, in := range c.Intents {
		old := p.old(in.Since) || p.old(in.CreatedAt) && (in.Found || in.FoundEnded)
		p.thing("intent "+string(in.ID), p.intentWords(in), first || old, in.State == api.AwaitingConfirmation)
	}
	for _, s := range c.Shipments {
		p.thing("shipment "+string(s.ID), p.shipmentWords(s), first || s.Latest != nil && p.old(s.Latest.CreatedAt),
			false)
	}
	for _, id := range c.GoneIntents {
		delete(p.printed, "intent "+string(id))
	}
	for _, id := range c.GoneShipments {
		delete(p.printed, "shipment "+string(id))
	}
	p.events(c, first)
	p.endings(&c.Summary)
	p.alertChanges(c.Summary.Alerts)
	return p.lines
}

// say adds a line. It scrubs all of it: nothing in it can move a cursor.
func (p *printer) say(format string, values ...any) {
	p.lines = append(p.lines, p.now.Format(time.TimeOnly)+" "+string(api.Scrub(fmt.Sprintf(format, values...))))
}

// once adds a line if it differs from the last one about a thing; "" is no line.
func (p *printer) once(about, line string) {
	if line != "" && line != p.printed[about] {
		p.say("%s", line)
	}
	p.printed[about] = line
}

// thing adds a line if an intent or a shipment has changed. One of before the start is in the sums
// already: it is told once it has another state, or waits for a person.
func (p *printer) thing(about, what string, summed, waits bool) {
	before, seen := p.printed[about]
	if what == before || what == "" {
		return
	}
	p.printed[about] = what
	state, _, _ := strings.Cut(what, ":")
	if !seen && summed {
		p.summed[about] = state
	}
	if waits || p.summed[about] != state {
		p.say("%s (%s)", what, about)
		delete(p.summed, about)
	}
}

// old reports whether something happened before the start.
func (p *printer) old(at time.Time) bool { return !at.IsZero() && !at.After(p.began) }

func (p *printer) begin(s *account.Summary) {
	p.where = cmp.Or(s.API.From.Name, p.cfg.Environment)
	of := strings.TrimSpace(p.where + " " + p.cfg.Account)
	if p.where == "unknown" {
		of = cmp.Or(p.cfg.Account, "an account") + ", environment unknown"
	}
	p.say("watching %s", of)
}

// sums prints how many intents and shipments there are: at the start those known by
// then, and again once all are known.
func (p *printer) sums(s *account.Summary, first bool) {
	p.sum("intents", intentCounts(s), s.IntentsKnown(), first)
	p.sum("shipments", shipmentCount(s), s.ShipmentsKnown(), first)
	if s.LetGo > 0 {
		p.once("intents let go", "intents: older ones are not kept")
	}
	switch s.ShipmentList.State {
	case account.ListForbidden:
		p.once("shipments forbidden", "shipments are unknown: the API key may not read them")
	case account.ListWhole:
		delete(p.printed, "shipments forbidden")
	}
}

func (p *printer) sum(what, counts string, known, first bool) {
	if p.printed["all "+what] != "" || !first && !known {
		return
	}
	if counts != "" {
		p.say("%s: %s", what, counts)
	}
	if known {
		p.printed["all "+what] = counts
	}
}

// intentCounts counts the intents of each state. While not all are known, a state without
// any is unknown and left out.
func intentCounts(s *account.Summary) string {
	var counts []string
	add := func(n int, name string, always bool) {
		if n > 0 || always {
			counts = append(counts, wording.Count(n)+" "+name)
		}
	}
	for _, state := range api.IntentStates() {
		add(s.Intents[state], wording.Name(string(state)), s.IntentsKnown())
	}
	add(s.Intents[""], "other", false)
	add(s.NotRead, "of unknown state", false)
	return strings.Join(counts, ", ")
}

// shipmentCount is "" if nothing is known.
func shipmentCount(s *account.Summary) string {
	n := 0
	for _, of := range s.Shipments {
		n += of
	}
	if n == 0 && !s.ShipmentsKnown() {
		return ""
	}
	return wording.Count(n)
}

func (p *printer) connections(s *account.Summary) {
	if from := s.API.From; from.Name != "" && from.Name != p.where {
		p.where = from.Name
		money := "no real money"
		if from.Live {
			money = "real money"
		}
		p.say("environment %s, %s", from.Name, money)
	}
	if s.Feed.State != p.feed {
		p.feed = s.Feed.State
		p.say("relay %s", feedWords(s.Feed))
	}
	// Waiting for quota is not printed: it comes and goes.
	if state := s.API.State; state != p.service && state != account.APISlow && state != account.APIUnknown {
		p.service = state
		p.say("api %s", apiWords(s.API))
	}
}

func feedWords(f account.FeedStatus) string {
	words, ok := map[account.FeedState]string{
		account.FeedConnecting: "connecting", account.FeedReplaying: "replaying its history", account.FeedLive: "live",
		account.FeedLost: "lost, polling meanwhile", account.FeedRefused: "refuses this client, polling meanwhile",
	}[f.State]
	if !ok {
		return "not configured, polling"
	}
	return words + because(f.Err)
}

func apiWords(s account.APIStatus) string {
	switch s.State {
	case account.APIFailing:
		return "failing" + because(s.Err)
	case account.APIUnauthorized:
		return "refuses the key"
	}
	return "healthy"
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// intentWords are the state of an intent, its product, its total, and what follows from the
// state; "" if it is not known.
func (p *printer) intentWords(in *account.Intent) string {
	if in.Missing {
		return "not found by the service"
	}
	name := strings.Join(known(string(in.Product), string(in.Merchant)), " from ")
	if name != "" && in.Quantity > 1 {
		name = wording.Count(in.Quantity) + " × " + name
	}
	total, then := "", ""
	if in.Total != nil {
		total = in.Total.Readable()
	}
	switch {
	case in.State == "":
		return ""
	case in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero():
		then = "confirm by " + p.moment(in.ExpiresAt)
	case in.State == api.Failed && in.Failure != nil:
		then = wording.Failure(in.Failure)
	}
	return sentence(string(in.State), name, total, then)
}

// shipmentWords are the status of a shipment, its product, and where it is; "" if it is not known.
func (p *printer) shipmentWords(s *account.Shipment) string {
	if s.Missing {
		return "not found by the service"
	}
	if s.Status() == "" {
		return ""
	}
	by, estimated := "", ""
	if tracking := s.Latest.Tracking; tracking != nil {
		by = strings.TrimSpace(string(tracking.Carrier + " " + tracking.Number))
		if !tracking.Estimated.IsZero() && !s.Status().Terminal() {
			estimated = "estimated " + account.Estimate(tracking.Estimated, p.cfg.Location).Format("Jan 2")
		}
	}
	return sentence(string(s.Status()), string(s.Product), by, estimated)
}

// sentence is a state and the known parts of what is to be said of it.
func sentence(state string, parts ...string) string {
	return strings.Join(known(wording.Name(state), strings.Join(known(parts...), ", ")), ": ")
}

func known(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// events prints the events that concern neither an intent nor a shipment: the lines of
// those show what the others changed.
func (p *printer) events(c *account.Changes, first bool) {
	for _, e := range c.Events {
		if e.Seq <= p.lastEvent {
			continue // a repetition
		}
		p.lastEvent = e.Seq
		if !first && e.SourceType != api.SourceIntent && e.SourceType != api.SourceShipment {
			p.say("%s (%s)", e.Type, e.SourceID)
		}
	}
	if c.EventsSkipped > 0 && !first {
		p.say("events: %s came faster than they could be kept", wording.Count(c.EventsSkipped))
	}
}

// endings prints how confirms ended whose outcome was unknown; that one is unknown is an alert.
func (p *printer) endings(s *account.Summary) {
	for _, c := range s.Confirms {
		later := func(o *account.Confirm) bool { return o.Intent == c.Intent && o.Sent.After(c.Sent) }
		if c.Ended.IsZero() || !c.WasUnknown() || slices.ContainsFunc(s.Confirms, later) {
			continue
		}
		p.once("confirm "+c.Attempt, fmt.Sprintf("confirm of %s, %s, sent at %s: %s",
			cmp.Or(string(c.Product), string(c.Intent)), wording.Amount(c.Total), p.moment(c.Sent), wording.Doubt(c)))
	}
}

// alertChanges prints which alerts were raised, changed their text or cleared. It leaves
// out those of a failure or of the API, which have their own lines.
func (p *printer) alertChanges(now []account.Alert) {
	now = slices.DeleteFunc(slices.Clone(now), func(a account.Alert) bool {
		return a.Kind == account.AlertFailed || a.Kind == account.AlertAPI
	})
	for _, a := range p.alerts {
		if indexOf(now, a) < 0 {
			p.say("alert cleared: %s", a.Text)
		}
	}
	for _, a := range now {
		verb, before := "raised", indexOf(p.alerts, a)
		if before >= 0 {
			verb = "now"
		}
		if before >= 0 && p.alerts[before].Text == a.Text {
			continue
		}
		due := ""
		if !a.Due.IsZero() {
			due = " by " + p.moment(a.Due)
		}
		p.say("alert %s: %s%s", verb, a.Text, due)
	}
	p.alerts = now
}

// indexOf returns the index of an alert among others, whatever its text; -1 if it is
// not there.
func indexOf(alerts []account.Alert, a account.Alert) int {
	return slices.IndexFunc(alerts, func(o account.Alert) bool {
		return o.Kind == a.Kind && o.Intent == a.Intent && o.Order == a.Order && o.Cause == a.Cause &&
			o.Since.Equal(a.Since)
	})
}

// moment writes a time of day, with the date if it is a day or more away.
func (p *printer) moment(at time.Time) string {
	if at = at.In(p.cfg.Location); at.Sub(p.now) >= 24*time.Hour {
		return at.Format(time.DateTime)
	}
	return at.Format(time.TimeOnly)
}
