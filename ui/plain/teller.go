// Package plain tells what happens in an account as lines of text, one a change,
// for screen readers and logs. It draws nothing.
//
// A line is a time, what it is about, an id where there is one, and what has
// become of it in words, as in
//
//	14:02:10 intent ci_779d awaiting confirmation: Wool Socks from acme.example, 44.52 USD, confirm by 14:40:02
//
// The wording is stable, so that scripts can rely on it.
package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

// teller turns changes into lines. It remembers what it has told, so that a
// change of something else is no line.
type teller struct {
	cfg       Config
	started   bool
	where     string // the environment that was told
	day       string
	intents   map[api.ID]string // what was told last of each
	shipments map[api.ID]string
	lastSeq   int64
	feed      account.FeedState
	service   account.APIState
	alerts    []account.Alert

	now   time.Time
	lines []string
}

func newTeller(cfg Config) *teller {
	return &teller{cfg: cfg, intents: map[api.ID]string{}, shipments: map[api.ID]string{}}
}

// tell returns the lines for what changed, oldest first. The first picture is
// told as a sum, with the intents that wait for a person.
func (t *teller) tell(c *account.Changes) []string {
	t.lines, t.now = nil, c.At.In(t.cfg.Location)
	if day := t.now.Format(time.DateOnly); day != t.day {
		t.day = day
		t.say("date %s", day)
	}
	first := !t.started
	if first {
		t.started = true
		t.begin(c)
	}
	t.connections(&c.Summary)
	for _, in := range c.Intents {
		t.intent(in, first)
	}
	for _, s := range c.Shipments {
		t.shipment(s, first)
	}
	t.events(c, first)
	t.alertChanges(c.Summary.Alerts)
	return t.lines
}

// say adds a line. It is scrubbed whole: nothing in it can move a cursor.
func (t *teller) say(format string, values ...any) {
	t.lines = append(t.lines, t.now.Format(time.TimeOnly)+" "+string(api.Scrub(fmt.Sprintf(format, values...))))
}

func (t *teller) begin(c *account.Changes) {
	t.where = t.cfg.Environment
	if last := c.Summary.API.From.Name; last != "" {
		t.where = last
	}
	of := t.where
	if t.cfg.Account != "" {
		of += " " + t.cfg.Account
	}
	t.say("watching %s", of)
	counts := make([]string, 0, 6)
	listed := 0
	for _, state := range api.IntentStates() {
		n := c.Summary.Intents[state]
		listed += n
		counts = append(counts, fmt.Sprintf("%d %s", n, words(string(state))))
	}
	if other := len(c.Intents) - listed; other > 0 {
		counts = append(counts, fmt.Sprintf("%d other", other))
	}
	t.say("intents %s", strings.Join(counts, ", "))
	shipments := 0
	for _, n := range c.Summary.Shipments {
		shipments += n
	}
	t.say("shipments %d", shipments)
}

func (t *teller) connections(s *account.Summary) {
	if from := s.API.From; from.Name != "" && from.Name != t.where {
		t.where = from.Name
		money := "no real money"
		if from.Live {
			money = "real money"
		}
		t.say("environment %s, %s", from.Name, money)
	}
	if s.Feed.State != t.feed {
		t.feed = s.Feed.State
		t.say("relay %s", feedWords(s.Feed))
	}
	// Waiting for quota is no news: it comes and goes with each second.
	if state := s.API.State; state != t.service && state != account.APISlow && state != account.APIUnknown {
		t.service = state
		t.say("api %s", apiWords(s.API))
	}
}

func feedWords(f account.FeedStatus) string {
	switch f.State {
	case account.FeedConnecting:
		return "connecting"
	case account.FeedReplaying:
		return "replaying its history"
	case account.FeedLive:
		return "live"
	case account.FeedLost:
		return "lost, polling meanwhile" + because(f.Err)
	case account.FeedRefused:
		return "refuses this client, polling meanwhile" + because(f.Err)
	}
	return "not configured, polling"
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

// intent tells of a new state, or of what is told with a state and became known
// only now.
func (t *teller) intent(in *account.Intent, first bool) {
	what := t.intentWords(in)
	if what == t.intents[in.ID] {
		return
	}
	t.intents[in.ID] = what
	if what != "" && (!first || in.State == api.AwaitingConfirmation) {
		t.say("intent %s %s", in.ID, what)
	}
}

func (t *teller) intentWords(in *account.Intent) string {
	if in.Missing {
		return "not found by the service"
	}
	if in.State == "" {
		return ""
	}
	var parts []string
	if name := named(in.Product, in.Merchant); name != "" {
		if in.Quantity > 1 {
			name = fmt.Sprintf("%d × %s", in.Quantity, name)
		}
		parts = append(parts, name)
	}
	if in.Total != nil {
		parts = append(parts, in.Total.String())
	}
	switch {
	case in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero():
		parts = append(parts, "confirm by "+in.ExpiresAt.In(t.cfg.Location).Format(time.TimeOnly))
	case in.State == api.Failed && in.Failure != nil:
		parts = append(parts, failureWords(in.Failure))
	}
	return sentence(words(string(in.State)), parts)
}

func named(product, merchant api.Text) string {
	switch {
	case product == "":
		return string(merchant)
	case merchant == "":
		return string(product)
	}
	return string(product + " from " + merchant)
}

func failureWords(f *api.FailureReason) string {
	code := words(strings.TrimPrefix(string(f.Code), "checkout_intent_"))
	if f.Message == "" || code != "unknown" {
		return code
	}
	return string(f.Message)
}

func (t *teller) shipment(s *account.Shipment, first bool) {
	what := t.shipmentWords(s)
	if what == t.shipments[s.ID] {
		return
	}
	t.shipments[s.ID] = what
	if what != "" && !first {
		t.say("shipment %s %s", s.ID, what)
	}
}

func (t *teller) shipmentWords(s *account.Shipment) string {
	if s.Missing {
		return "not found by the service"
	}
	if s.Status() == "" {
		return ""
	}
	var parts []string
	if s.Product != "" {
		parts = append(parts, string(s.Product))
	}
	if tracking := s.Latest.Tracking; tracking != nil {
		if by := strings.TrimSpace(string(tracking.Carrier + " " + tracking.Number)); by != "" {
			parts = append(parts, by)
		}
		if !tracking.Estimated.IsZero() && !s.Status().Terminal() {
			parts = append(parts, "estimated "+tracking.Estimated.In(t.cfg.Location).Format("Jan 2"))
		}
	}
	return sentence(words(string(s.Status())), parts)
}

// events tells of those that move no intent and no shipment: the others are told
// by what they move.
func (t *teller) events(c *account.Changes, first bool) {
	for _, e := range c.Events {
		if e.Seq <= t.lastSeq {
			continue // only counted again
		}
		t.lastSeq = e.Seq
		if first || e.SourceType == api.SourceIntent || e.SourceType == api.SourceShipment {
			continue
		}
		t.say("event %s %s", e.Type, e.SourceID)
	}
	if c.EventsSkipped > 0 && !first {
		t.say("events %d came faster than they could be kept", c.EventsSkipped)
	}
}

// alertChanges tells which alerts were raised and which cleared. Of a failure the
// intent's own line has told.
func (t *teller) alertChanges(now []account.Alert) {
	now = slices.DeleteFunc(slices.Clone(now), func(a account.Alert) bool { return a.Kind == account.AlertFailed })
	for _, a := range t.alerts {
		if !holds(now, a) {
			t.say("alert cleared: %s", a.Text)
		}
	}
	for _, a := range now {
		if !holds(t.alerts, a) {
			due := ""
			if !a.Due.IsZero() {
				due = " by " + t.moment(a.Due)
			}
			t.say("alert raised: %s%s", a.Text, due)
		}
	}
	t.alerts = now
}

// moment is a time on the clock; of one that is more than a day away the date, too.
func (t *teller) moment(at time.Time) string {
	if at = at.In(t.cfg.Location); at.Sub(t.now) >= 24*time.Hour {
		return at.Format(time.DateTime)
	}
	return at.Format(time.TimeOnly)
}

func holds(alerts []account.Alert, wanted account.Alert) bool {
	for _, a := range alerts {
		if a.Kind == wanted.Kind && a.Intent == wanted.Intent && a.Since.Equal(wanted.Since) && a.Text == wanted.Text {
			return true
		}
	}
	return false
}

func sentence(subject string, parts []string) string {
	if len(parts) == 0 {
		return subject
	}
	return subject + ": " + strings.Join(parts, ", ")
}

// words makes a name of the wire readable: "out_of_stock" becomes "out of stock".
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }
