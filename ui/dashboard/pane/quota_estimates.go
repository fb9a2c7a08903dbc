package pane

import (
	"slices"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

func (p *Quota) hasDay() bool { return p.day.Limit > 0 || p.day.Seen > 0 }

// dayKnown reports whether anything is known about how many intents were made today.
func (p *Quota) dayKnown() bool { return p.known || p.day.Told || p.day.Used() > 0 }

func (p *Quota) hasAgents() bool { return p.agents.Limit > 0 || p.agents.Placing > 0 }

// estimate is a limit that no header reports, and how much is left of it.
type estimate struct {
	name        string
	unread      bool
	told        bool   // the service reported what is left
	left, limit int64  // a limit of 0 is unknown
	grounds     string // the sign before the limit
	short, long string // what the figure is based on
	more        string // behind long, if there is room
}

// estimates draws the rows of the day and of the agents. Their notes are in one column: both
// long, or both short.
func (p *Quota) estimates(c quotaColumns) {
	var all []estimate
	if p.hasDay() {
		all = append(all, p.today())
	}
	if p.hasAgents() {
		all = append(all, p.slots())
	}
	room := p.w - 1 - c.name - c.gauge - 1 - c.left - 3
	long := !slices.ContainsFunc(all, func(e estimate) bool { return !e.unread && e.limit > 0 && paint.Width(e.long) > room })
	for _, e := range all {
		p.estimate(e, c, long)
	}
}

// today is how many intents may still be made today. Unless the service reported it, the
// number made is a lower bound: what is left is an upper bound.
func (p *Quota) today() estimate {
	made := atLeast(!p.day.Told) + wording.Count(p.day.Used()) + " made"
	long := made + " in 24h"
	if p.day.Calendar {
		long = made + " since midnight UTC"
	}
	if p.day.Told {
		long = "reported " + p.look.age(p.day.At) + " ago"
	}
	more := p.day.Doubt()
	if !p.day.Spent.IsZero() {
		back := wording.By(p.day.Free, p.look.Now, p.look.Location)
		long = "used up since " + p.look.moment(p.day.Spent) + ", the first is back " + back
		if p.day.Limit > 0 {
			made = back
		}
	} else if soon := p.look.runsOut(p.dayRunsOut()); soon != "" {
		long += ", " + soon
		if p.day.Limit > 0 {
			made = soon
		}
	}
	if p.day.Told && p.day.Spent.IsZero() && p.day.Resets.After(p.look.Now) {
		more += ", slots return at " + p.look.moment(p.day.Resets)
	}
	return estimate{name: "today", unread: !p.dayKnown(), told: p.day.Told, left: int64(p.day.Limit - p.day.Used()), limit: int64(p.day.Limit),
		grounds: assumed(p.day.Assumed), short: made, long: long, more: more}
}

// slots is how many agents are free: those not known to be placing an order.
func (p *Quota) slots() estimate {
	placing := atLeast(p.agents.Placing > 0) + wording.Count(p.agents.Placing) + " placing"
	e := estimate{name: "agents", unread: !p.known && p.agents.Placing == 0, left: int64(p.agents.Limit - p.agents.Placing),
		limit: int64(p.agents.Limit), grounds: assumed(p.agents.Assumed), short: placing, long: placing}
	if known := p.spending.limit(account.LimitAgents); known != nil && known.Used.Grounds == account.Told {
		e.left, e.told, e.long = int64(known.Left().N), true, "reported "+p.look.age(known.At)+" ago"
	}
	return e
}

// estimate draws how much is left of a limit, with what is more to say if there is room; of an
// unknown limit, only what was counted.
func (p *Quota) estimate(e estimate, c quotaColumns, long bool) {
	if e.unread {
		p.unknown(e.name, "not read yet", c)
		return
	}
	l := p.start().Space(1).Fit(paint.Text, e.name, c.name)
	if e.limit == 0 {
		text, room := e.short+", limit unknown", c.left+1+c.reset
		room = max(room, paint.Width(text))
		l.Repeat(paint.Faint, "─", c.gauge+c.left+1+c.reset-room)
		p.push(l.Space(1).Right(paint.Muted, text, room))
		return
	}
	left := max(e.left, 0)
	gauge(l, left, e.limit, c.gauge)
	p.ratio(l.Space(1), atMost(left, e.told), left, e.grounds, e.limit, c.left)
	if long {
		l.Space(3).Put(paint.Muted, e.long)
		if l.Left() > len(e.more) {
			l.Put(paint.Muted, e.more)
		}
	} else {
		l.Space(1).Right(paint.Muted, e.short, c.reset)
	}
	p.push(l)
}
