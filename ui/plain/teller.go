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
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// teller turns changes into lines. It remembers what it has told, so that a
// change of something else is no line.
type teller struct {
	cfg       Config
	started   bool
	where     string // the environment that was told
	day       string
	intents   map[api.ID]string // what was told last of each
	picture   map[api.ID]*account.Intent
	pulseTold string // the hour in which it was told how the day goes
	shipments map[api.ID]string
	lastSeq   int64
	feed      account.FeedState
	service   account.APIState
	alerts    []account.Alert
	spenders  map[api.Text]bool          // the observed ones that were told
	ends      map[account.LimitName]bool // the limits of which it was told that they run out

	intentsTold, shipmentsTold bool // all of them, as a sum
	letGoTold                  bool // that older intents are not kept

	now   time.Time
	lines []string
}

func newTeller(cfg Config) *teller {
	return &teller{cfg: cfg, intents: map[api.ID]string{}, picture: map[api.ID]*account.Intent{}, shipments: map[api.ID]string{}, spenders: map[api.Text]bool{}, ends: map[account.LimitName]bool{}}
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
	t.alertChanges(c.Summary.Alerts)
	t.pulse(&c.Summary)
	return t.lines
}

// quota tells who else is seen to spend it, and when a limit comes to run out, or no
// longer does.
func (t *teller) quota(s *account.Summary, now time.Time) {
	for i := range s.Spenders {
		if who := &s.Spenders[i]; who.Kind == account.SpenderObserved && !t.spenders[who.Name] {
			t.spenders[who.Name] = true
			t.say("quota also spent by %s, seen by a proxy", who.Name)
		}
	}
	for i := range s.Limits {
		l := &s.Limits[i]
		soon := time.Hour // and as it may come and go, it must be well beyond that to last
		if t.ends[l.Name] {
			soon *= 2
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

// say adds a line. It is scrubbed whole: nothing in it can move a cursor.
func (t *teller) say(format string, values ...any) {
	t.lines = append(t.lines, t.now.Format(time.TimeOnly)+" "+string(api.Scrub(fmt.Sprintf(format, values...))))
}

func (t *teller) begin(c *account.Changes) {
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

// sums tells how many intents and shipments there are: at the start what is known
// by then, and once more when all is.
func (t *teller) sums(s *account.Summary, first bool) {
	if known := s.IntentsKnown(); (first || known) && !t.intentsTold {
		t.intentsTold = known
		t.intentSums(s, known)
	}
	if s.LetGo > 0 && !t.letGoTold {
		t.letGoTold = true
		t.say("intents older ones are not kept")
	}
	if known := s.ShipmentsKnown(); (first || known) && !t.shipmentsTold {
		t.shipmentsTold = known
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
func (t *teller) intentSums(s *account.Summary, known bool) {
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
			name = wording.Count(in.Quantity) + " × " + name
		}
		parts = append(parts, name)
	}
	if in.Total != nil {
		parts = append(parts, in.Total.Readable())
	}
	switch {
	case in.State == api.AwaitingConfirmation && !in.ExpiresAt.IsZero():
		parts = append(parts, "confirm by "+in.ExpiresAt.In(t.cfg.Location).Format(time.TimeOnly))
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
	return sentence(wording.Name(string(s.Status())), parts)
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
		t.say("events %s came faster than they could be kept", wording.Count(c.EventsSkipped))
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
