package pane

import (
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

func (p *Quota) hasDay() bool { return p.day.Limit > 0 || p.day.Seen > 0 }

// dayKnown reports whether anything is known about how many intents were made today.
func (p *Quota) dayKnown() bool { return p.known || p.day.Told || p.day.Used() > 0 }

func (p *Quota) hasAgents() bool { return p.agents.Limit > 0 || p.agents.Placing > 0 }

// today shows how many intents may still be made today. The number made is a lower bound:
// what is left is an upper bound.
func (p *Quota) today(c quotaColumns) {
	if !p.dayKnown() {
		p.unknown("today", "not read yet", c)
		return
	}
	made := wording.Count(p.day.Used()) + " made"
	long := "at least " + made + " in 24h"
	if p.day.Calendar {
		long = "at least " + made + " since midnight UTC"
	}
	if p.day.Told {
		long = "reported " + p.look.age(p.day.At) + " ago"
	}
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
	p.estimate("today", "≤", int64(p.day.Limit-p.day.Used()), assumed(p.day.Assumed), int64(p.day.Limit), c, made, long, p.day.Doubt())
}

// slots shows how many agents are free: those not known to be placing an order.
func (p *Quota) slots(c quotaColumns) {
	if !p.known && p.agents.Placing == 0 {
		p.unknown("agents", "not read yet", c)
		return
	}
	placing := wording.Count(p.agents.Placing) + " placing"
	long := "at least " + placing
	if p.agents.Placing == 0 {
		long = placing
	}
	known := p.spending.limit(account.LimitAgents)
	left, bound := p.agents.Limit-p.agents.Placing, "≤"
	if known != nil && known.Used.Grounds == account.Told {
		left, bound, long = known.Left().N, "", "reported "+p.look.age(known.At)+" ago"
	}
	p.estimate("agents", bound, int64(left), assumed(p.agents.Assumed), int64(p.agents.Limit), c, placing, long, "")
}

// estimate draws how much is left of a limit, with its doubts if there is room; of an
// unknown limit, only what was counted.
func (p *Quota) estimate(name, bound string, left int64, grounds string, limit int64, c quotaColumns, short, long, doubt string) {
	l := p.start().Space(1).Fit(paint.Text, name, c.name)
	if limit == 0 {
		text, room := short+", limit unknown", c.left+1+c.reset
		room = max(room, paint.Width(text))
		l.Repeat(paint.Faint, "─", c.gauge+c.left+1+c.reset-room)
		p.push(l.Space(1).Right(paint.Muted, text, room))
		return
	}
	left = max(left, 0)
	gauge(l, left, limit, c.gauge)
	p.ratio(l.Space(1), bound, left, grounds, limit, c.left)
	if l.Left() >= len(long)+2+c.reset {
		l.Space(3).Put(paint.Muted, long)
		if l.Left() > len(doubt) {
			l.Put(paint.Muted, doubt)
		}
	} else {
		l.Space(1).Right(paint.Muted, short, c.reset)
	}
	p.push(l)
}
