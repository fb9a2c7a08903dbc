// Package plain prints what happens in an account as lines of text, one per change,
// for screen readers and logs.
//
// A line has a time, its subject, an id if there is one, and the change in words, as in
//
//	14:02:10 intent ci_779d awaiting confirmation: Wool Socks from acme.example, 44.52 USD, confirm by 14:40:02
//
// The wording is stable: scripts can rely on it.
package plain

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

// printer turns changes into lines. It remembers what it has printed, and prints a line
// only when that changes.
type printer struct {
	cfg       Config
	started   bool
	where     string            // the last printed environment
	day       string            // the last printed date
	intents   map[api.ID]string // the last printed words about each
	picture   map[api.ID]*account.Intent
	pulseHour string            // the hour of the last printed pulse
	shipments map[api.ID]string // the last printed words about each
	lastSeq   int64
	feed      account.FeedState
	service   account.APIState
	held      time.Time // up to when it was printed that reads wait
	alerts    []account.Alert
	settled   map[string]bool            // confirms, by attempt, whose ending was printed
	spenders  map[api.Text]bool          // the printed observed spenders
	ends      map[account.LimitName]bool // the limits that were printed to run out

	intentsSummed, shipmentsSummed bool // the sum of all was printed
	shipmentsForbidden             bool // it was printed that the key may not read them
	letGoPrinted                   bool // it was printed that older intents are not kept

	now   time.Time
	lines []string
}

func newPrinter(cfg Config) *printer {
	return &printer{cfg: cfg, intents: map[api.ID]string{}, picture: map[api.ID]*account.Intent{}, shipments: map[api.ID]string{}, settled: map[string]bool{}, spenders: map[api.Text]bool{}, ends: map[account.LimitName]bool{}}
}

// changes returns the lines for what changed; for the first picture, only the sums and
// the intents that wait for a person.
func (t *printer) changes(c *account.Changes) []string {
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
	t.sums(&c.Summary, first)
	t.connections(&c.Summary)
	for _, in := range c.Intents {
		t.picture[in.ID] = in
		t.intent(in, first)
	}
	for _, s := range c.Shipments {
		t.shipment(s, first)
	}
	for _, id := range c.GoneIntents {
		delete(t.intents, id)
		delete(t.picture, id)
	}
	for _, id := range c.GoneShipments {
		delete(t.shipments, id)
	}
	t.events(c, first)
	t.quota(&c.Summary, c.At)
	t.endings(&c.Summary)
	t.alertChanges(c.Summary.Alerts)
	t.pulse(&c.Summary)
	return t.lines
}

// quota prints new observed spenders, and each limit that begins to run out or no longer
// does.
func (t *printer) quota(s *account.Summary, now time.Time) {
	for i := range s.Spenders {
		if who := &s.Spenders[i]; who.Kind == account.SpenderObserved && !t.spenders[who.Name] {
			t.spenders[who.Name] = true
			t.say("quota also spent by %s, seen by a proxy", who.Name)
		}
	}
	for i := range s.Limits {
		l := &s.Limits[i]
		soon := time.Hour
		if t.ends[l.Name] {
			soon *= 2 // hysteresis: a forecast varies
		}
		if ends := !l.RunsOut.IsZero() && l.RunsOut.Sub(now) < soon && l.Window > time.Minute; ends != t.ends[l.Name] {
			t.ends[l.Name] = ends
			if ends {
				t.say("quota %s %s used: %s", l.Name, wording.Used(l), wording.Forecast(l, now, t.cfg.Location))
			} else {
				t.say("quota %s %s used: lasts", l.Name, wording.Used(l))
			}
		}
	}
}

// say adds a line. It scrubs all of it: nothing in it can move a cursor.
func (t *printer) say(format string, values ...any) {
	t.lines = append(t.lines, t.now.Format(time.TimeOnly)+" "+string(api.Scrub(fmt.Sprintf(format, values...))))
}

func (t *printer) begin(c *account.Changes) {
	t.where = t.cfg.Environment
	if last := c.Summary.API.From.Name; last != "" {
		t.where = last
	}
	of := strings.TrimSpace(t.where + " " + t.cfg.Account)
	if t.where == "unknown" {
		of = cmp.Or(t.cfg.Account, "an account") + ", environment unknown"
	}
	t.say("watching %s", of)
}

// sums prints how many intents and shipments there are: at the start those known by
// then, and again once all are known.
func (t *printer) sums(s *account.Summary, first bool) {
	if known := s.IntentsKnown(); (first || known) && !t.intentsSummed {
		t.intentsSummed = known
		t.intentSums(s, known)
	}
	if s.LetGo > 0 && !t.letGoPrinted {
		t.letGoPrinted = true
		t.say("intents: older ones are not kept")
	}
	forbidden := s.ShipmentList.State == account.ListForbidden
	if forbidden && !t.shipmentsForbidden {
		t.say("shipments are unknown: the API key may not read them")
	}
	t.shipmentsForbidden = forbidden || t.shipmentsForbidden && s.ShipmentList.State == account.ListUnread
	if known := s.ShipmentsKnown(); (first || known) && !t.shipmentsSummed {
		t.shipmentsSummed = known
		n := 0
		for _, of := range s.Shipments {
			n += of
		}
		if n > 0 || known {
			t.say("shipments %s", wording.Count(n))
		}
	}
}

// intentSums counts the intents of each state. While not all are known, a state
// without any is unknown and left out.
func (t *printer) intentSums(s *account.Summary, known bool) {
	var counts []string
	add := func(n int, name string, always bool) {
		if n > 0 || always {
			counts = append(counts, wording.Count(n)+" "+name)
		}
	}
	for _, state := range api.IntentStates() {
		add(s.Intents[state], wording.Name(string(state)), known)
	}
	add(s.Intents[""], "other", false)
	add(s.NotRead, "of unknown state", false)
	if len(counts) > 0 {
		t.say("intents %s", strings.Join(counts, ", "))
	}
}

func (t *printer) connections(s *account.Summary) {
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
	// Waiting for quota is not printed: it comes and goes, unless what is left of a long window is kept.
	if state := s.API.State; state != t.service && state != account.APISlow && state != account.APIUnknown {
		t.service = state
		t.say("api %s", apiWords(s.API))
	}
	if b := s.Holds(t.now); b != nil && b.Kept() && b.Next.After(t.held) {
		t.held = b.Next.Add(time.Minute)
		t.say("quota %s", wording.Holds(b, t.now, t.cfg.Location))
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

// intent prints an intent when its state or another printed fact has changed.
func (t *printer) intent(in *account.Intent, first bool) {
	what := t.intentWords(in)
	if what == t.intents[in.ID] {
		return
	}
	t.intents[in.ID] = what
	if what != "" && (!first || in.State == api.AwaitingConfirmation) {
		t.say("intent %s %s", in.ID, what)
	}
}

func (t *printer) intentWords(in *account.Intent) string {
	if in.Missing {
		return "not found by the service"
	}
	if in.State == "" {
		return ""
	}
	var parts []string
	if name := named(in.Product, in.Merchant); name != "" {
		if in.Quantity > 1 {
			name = wording.Count(in.Quantity) + " × " + name
		}
		parts = append(parts, name)
	}
	if in.Total != nil {
		parts = append(parts, in.Total.Readable())
	}
	switch {
	case in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero():
		parts = append(parts, "confirm by "+t.moment(in.ExpiresAt))
	case in.State == api.Failed && in.Failure != nil:
		parts = append(parts, wording.Failure(in.Failure))
	}
	return sentence(wording.Name(string(in.State)), parts)
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

func (t *printer) shipment(s *account.Shipment, first bool) {
	what := t.shipmentWords(s)
	if what == t.shipments[s.ID] {
		return
	}
	t.shipments[s.ID] = what
	if what != "" && !first {
		t.say("shipment %s %s", s.ID, what)
	}
}

func (t *printer) shipmentWords(s *account.Shipment) string {
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
			parts = append(parts, "estimated "+account.Estimate(tracking.Estimated, t.cfg.Location).Format("Jan 2"))
		}
	}
	return sentence(wording.Name(string(s.Status())), parts)
}

// events prints the events that concern neither an intent nor a shipment: the lines of
// those show what the others changed.
func (t *printer) events(c *account.Changes, first bool) {
	for _, e := range c.Events {
		if e.Seq <= t.lastSeq {
			continue // a repetition
		}
		t.lastSeq = e.Seq
		if first || e.SourceType == api.SourceIntent || e.SourceType == api.SourceShipment {
			continue
		}
		t.say("event %s %s", e.Type, e.SourceID)
	}
	if c.EventsSkipped > 0 && !first {
		t.say("events %s came faster than they could be kept", wording.Count(c.EventsSkipped))
	}
}

// endings prints how confirms ended whose outcome was unknown; that one is unknown is an alert.
func (t *printer) endings(s *account.Summary) {
	for _, c := range s.Confirms {
		later := slices.ContainsFunc(s.Confirms, func(o *account.Confirm) bool { return o.Intent == c.Intent && o.Sent.After(c.Sent) })
		if ending := c.Attempt + string(c.End); c.WasUnknown() && !later && !t.settled[ending] {
			t.settled[ending] = true
			t.say("confirm of %s, %s, sent at %s: %s", cmp.Or(string(c.Product), string(c.Intent)), wording.Amount(c.Total), t.moment(c.Sent), wording.Doubt(c))
		}
	}
}

// alertChanges prints which alerts were raised, changed their text or cleared. It leaves
// out failures, which the intent's own line reports.
func (t *printer) alertChanges(now []account.Alert) {
	now = slices.DeleteFunc(slices.Clone(now), func(a account.Alert) bool { return a.Kind == account.AlertFailed })
	for _, a := range t.alerts {
		if indexOf(now, a) < 0 {
			t.say("alert cleared: %s", a.Text)
		}
	}
	for _, a := range now {
		verb, before := "raised", indexOf(t.alerts, a)
		if before >= 0 {
			verb = "now"
		}
		if before >= 0 && t.alerts[before].Text == a.Text {
			continue
		}
		due := ""
		if !a.Due.IsZero() {
			due = " by " + t.moment(a.Due)
		}
		t.say("alert %s: %s%s", verb, a.Text, due)
	}
	t.alerts = now
}

// moment writes a time of day, with the date if it is a day or more away.
func (t *printer) moment(at time.Time) string {
	if at = at.In(t.cfg.Location); at.Sub(t.now) >= 24*time.Hour {
		return at.Format(time.DateTime)
	}
	return at.Format(time.TimeOnly)
}

// indexOf returns the index of an alert among others, whatever its text; -1 if it is
// not there.
func indexOf(alerts []account.Alert, wanted account.Alert) int {
	return slices.IndexFunc(alerts, func(a account.Alert) bool {
		return a.Kind == wanted.Kind && a.Intent == wanted.Intent && a.Order == wanted.Order && a.Cause == wanted.Cause && a.Since.Equal(wanted.Since)
	})
}

func sentence(subject string, parts []string) string {
	if len(parts) == 0 {
		return subject
	}
	return subject + ": " + strings.Join(parts, ", ")
}
