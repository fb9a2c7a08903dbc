package pane

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// keptEvents bounds the rows of the tail.
const keptEvents = 2000

// Events is the live tail, with the newest event at the bottom. It follows the newest until the
// cursor is moved up.
type Events struct {
	listing[*eventRow]
	counters account.EventCounters
	feed     account.FeedStatus
	last     time.Time // when the newest event was received
	shown    eventCounts
	intentOf func(source api.ID) (*account.Intent, bool) // the intent of an event's source
}

// eventCounts are the figures of the title. They change with the clock: between two seconds
// only rows move.
type eventCounts struct {
	at       time.Time
	counters account.EventCounters
	last     time.Time
}

type eventRow struct {
	*account.Event
	searchText // the text by which a filter finds it
	mark       sign.Sign
	noted      string // what is special about its arrival
	about
	changed time.Time
}

func newEventRow(e *account.Event) *eventRow {
	row := &eventRow{Event: e, mark: sign.Outcome(e), noted: strings.Join(marks(e), " · ")}
	row.searchText = newSearchText(worded(e.Type, row.mark), "", string(e.Product), string(e.ID)+" "+string(e.SourceID), e.Origin+" "+row.noted)
	return row
}

func (r *eventRow) figure(f figure, now time.Time) (float64, string, bool) {
	return now.Sub(r.Received).Seconds(), "", f == age
}

// NewEvents returns the pane. intentOf returns the intent to which an id belongs.
func NewEvents(look *Look, intentOf func(api.ID) (*account.Intent, bool)) *Events {
	p := &Events{intentOf: intentOf, listing: newListing(look, table.Config[*eventRow]{
		Key:   func(r *eventRow) string { return string(r.ID) },
		Home:  table.Bottom,
		Limit: keptEvents,
	}, eventSubject, eventOrders())}
	p.fields = []Field{oneOf("type", wordedAll(api.EventTypes(), sign.Event), p.states),
		inColumn("product", inName), inColumn("id", inID), inColumn("origin", inMore), measures("age", age)}
	return p
}

func eventSubject(r *eventRow) Subject {
	return Subject{Kind: OfEvent, ID: r.ID}
}

func compareEvents(a, b *eventRow) int {
	return cmp.Or(a.Received.Compare(b.Received), cmp.Compare(a.Seq, b.Seq))
}

// Apply applies changes.
func (p *Events) Apply(c *account.Changes, first bool) {
	rows := make([]*eventRow, len(c.Events))
	for i, e := range c.Events {
		old, ok := p.list.Get(string(e.ID))
		if ok && old.Event == e {
			rows[i] = old
			continue
		}
		row := newEventRow(e)
		if ok {
			row.about = old.about
		}
		switch {
		case ok && old.noted == row.noted: // only the product's name changed
			row.changed = old.changed
		case !first:
			row.changed = p.look.Now
		}
		rows[i] = row
	}
	if len(rows) > 0 || p.feed.State != c.Summary.Feed.State {
		p.stale = true
	}
	p.list.Upsert(rows...)
	if len(rows)+len(c.Intents)+len(c.Shipments) > 0 {
		p.learn()
	}
	p.counters, p.feed, p.last = c.Summary.Events, c.Summary.Feed, c.Summary.LastEvent
}

// Lines draws the pane.
func (p *Events) Lines() []string {
	return p.drawn(p.top, p.silence, p.draw)
}

// silence says why there are no events.
func (p *Events) silence() {
	switch h := p.look.Health; {
	case p.feed.State == account.FeedLost || p.feed.State == account.FeedRefused:
		p.message(paint.Bad, "no events arrive: the relay "+feedTrouble(p.feed.State), "")
	case h.OfRelay || !h.Started:
		p.message(h.Style, h.sentence(), h.Advice)
	case p.feed.State == account.FeedOff:
		p.message(paint.Muted, "no events: no relay is configured", "")
	default:
		p.message(paint.Muted, "waiting for the first event…", "")
	}
}

func feedTrouble(s account.FeedState) string {
	if s == account.FeedRefused {
		return "refuses this dashboard"
	}
	return "is lost"
}

// top draws the title: the state of the stream, whether the tail follows, and how many
// events were duplicate, late, backfilled or missed.
func (p *Events) top() (l *paint.Line, right paint.Spans) {
	if p.shown.at != p.look.Now {
		p.shown = eventCounts{p.look.Now, p.counters, p.last}
	}
	l = p.tabTitle("EVENTS", p.shown.counters.Received)
	mode := sign.Feed(p.feed.State)
	if p.feed.State == account.FeedOff {
		mode.Word = "no relay"
	}
	l.Space(1).Put(mode.Style, mode.Word)
	if p.w < 76 || p.w >= 100 {
		l.Put(paint.Muted, p.freshness("last", p.shown.last))
	}
	p.sorted(l, p.order)
	p.held(l, "· ")
	c := p.shown.counters
	for _, count := range []struct {
		n     int
		word  string
		style paint.Style
	}{
		{c.Duplicate, "duplicate", paint.Muted}, {c.Late, "late", paint.Muted},
		{c.Backfilled, "backfilled", paint.Muted}, {c.Missed, "missed", paint.Bad},
	} {
		if count.n > 0 {
			right = append(right, paint.Span{Text: "  " + wording.Count(count.n) + " " + count.word, Style: count.style})
		}
	}
	return l, right
}

func (p *Events) draw(l *paint.Line, row *eventRow, under bool) {
	p.gutter(l, under, p.look.Opened == Subject{Kind: OfEvent, ID: row.ID}, p.list.Pinned() && p.glows(row.changed))
	p.drawArrival(l, row)
	if !under {
		l.On(paint.Base) // only the time and the type glow
	}
	seq := 0
	if p.w >= 72 {
		seq = 8
	}
	room := l.Left() - seq
	mark := min(paint.Width(row.noted), room/2)
	switch {
	case p.w >= 140:
		mark = max(mark, 26)
	case p.w >= 100:
		mark = max(mark, 12)
	}
	if mark > 0 {
		mark++
	}
	id := 0
	if p.w >= 100 {
		id = min(max(room/3, room-mark-leastName), wholeID)
	}
	about := 0
	if p.w >= aboutFrom {
		id = min(id, shortID)
		rest := room - id - mark
		about = min(max(rest-min(rest*7/20, nameRoom), p.aboutRoom(amountRoom)), p.aboutRoom(reasonRoom))
		if id > 0 {
			id = min(id+max(rest-about-longName, 0), wholeID)
		}
	}
	name, style := string(row.Product), paint.Text
	switch {
	case name == "" && id > 0:
		name, style = "–", paint.Muted // the id stands beside it
	case name == "":
		name, style = string(row.SourceID), paint.Muted
	}
	l.Fit(style, name, room-id-mark-about)
	if about > 0 {
		p.drawAbout(l, row, about)
	}
	l.Cell(2, paint.Muted, string(row.SourceID), id).Cell(1, paint.Warning, row.noted, mark)
	if seq > 0 && row.Seq > 0 {
		l.Right(paint.Muted, strconv.FormatInt(row.Seq, 10), seq)
	}
}

// drawArrival draws the time of receipt and the type, as far as there is room. The time of
// day alone would mislead for an event that is older than a day.
func (p *Events) drawArrival(l *paint.Line, row *eventRow) {
	m, at := row.mark, row.Received.In(p.look.Location)
	far := p.look.Now.Sub(at).Abs() >= 24*time.Hour
	written := func(near, day string) string {
		if far {
			return at.Format(day)
		}
		return at.Format(near)
	}
	switch {
	case p.w >= 72:
		l.Fit(paint.Muted, written("15:04:05.0", "Jan_2 15:04"), 12)
		l.Put(m.Style, m.Glyph).Space(1).Fit(paint.Text, m.Word, 19).Space(1)
	case p.w >= 50:
		l.Fit(paint.Muted, written("15:04:05", "Jan _2"), 9).Put(m.Style, m.Glyph).Space(1).Fit(paint.Text, m.Word, 18).Space(1)
	default:
		l.Fit(paint.Muted, written("15:04", "Jan_2"), 6).Put(m.Style, m.Glyph).Space(1)
	}
}

const (
	wholeID   = 38 // width of an id with the blanks before it
	leastName = 25 // least width of the product's name beside an id
)

// marks returns what is special about the arrival of an event.
func marks(e *account.Event) []string {
	var out []string
	if e.Origin == "backfill" {
		out = append(out, "backfilled")
	}
	if e.Late {
		out = append(out, "late")
	}
	if e.Duplicates > 0 {
		out = append(out, "×"+strconv.Itoa(e.Duplicates+1))
	}
	return out
}

// Find returns the kept event of an id.
func (p *Events) Find(id api.ID) (*account.Event, bool) {
	row, ok := p.list.Get(string(id))
	if !ok {
		return nil, false
	}
	return row.Event, true
}
