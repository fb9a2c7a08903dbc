package pane

import (
	"math"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// unreadID is the id of the unread line. No event has a control byte in its id.
const unreadID = api.ID("\x00unread")

// unreadLine is the line between seen and new events. It is a row of the tail: nothing
// jumps when it appears, while nobody looks, or disappears, after it has left the view.
type unreadLine struct {
	since    time.Time // when the person left; zero: there is no line
	attended bool      // the person is here
	viewed   bool      // the line was in view
}

// SetUnread puts the line after the events received until then; the zero time removes it.
func (p *Events) SetUnread(since time.Time) {
	p.list.Remove(string(unreadID))
	p.unread.since, p.unread.viewed = since, false
	p.placeUnread()
	p.stale = true
}

// Attend sets whether the person is here.
func (p *Events) Attend(attended bool) { p.unread.attended = attended }

// placeUnread adds the line once an event came after it, if rows are sorted by arrival, and
// removes it otherwise.
func (p *Events) placeUnread() {
	all := p.list.All()
	wanted := !p.unread.since.IsZero() && p.order == "" && len(all) > 0 && all[len(all)-1].Received.After(p.unread.since)
	_, there := p.list.Get(string(unreadID))
	switch {
	case wanted && !there:
		p.list.Upsert(&eventRow{Event: &account.Event{ID: unreadID, Received: p.unread.since, Seq: math.MaxInt64}})
	case !wanted && there:
		p.list.Remove(string(unreadID))
	}
	_, there = p.list.Get(string(unreadID))
	p.extra = 0
	if there {
		p.extra = 1
	}
}

// passUnread removes the line once it was in view and has left it.
func (p *Events) passUnread() {
	if p.unread.since.IsZero() || !p.unread.attended {
		return
	}
	rows, _ := p.list.Window()
	for _, row := range rows {
		if row.ID == unreadID {
			p.unread.viewed = true
			return
		}
	}
	if p.unread.viewed && p.filter == nil {
		p.SetUnread(time.Time{})
	}
}

// Sort is like [Intents.Sort].
func (p *Events) Sort(name string, reverse bool) (order string) {
	p.list.Remove(string(unreadID))
	order = p.listing.Sort(name, reverse)
	p.placeUnread()
	return order
}

// drawUnread draws the line, with the number of events after it.
func (p *Events) drawUnread(l *paint.Line, under bool) {
	p.gutter(l, under, false, false)
	behind := 0
	all := p.list.All()
	for i := len(all) - 1; i >= 0 && all[i].ID != unreadID; i-- {
		behind++
	}
	text := " " + wording.Count(behind) + " new since " + p.look.clock(p.unread.since) + " "
	l.Repeat(paint.Accent, "─", 2).Put(paint.Accent, text)
	l.Repeat(paint.Accent, "─", max(l.Left()-1, 0))
}

// SetUnread marks the intents whose state changed since then; the zero time marks none.
func (p *Intents) SetUnread(since time.Time) {
	p.cards.unseenSince = since
	p.stale = true
}
