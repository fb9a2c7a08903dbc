package pane

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Pulse shows how the day goes: the outcomes of intents over time, what awaits
// confirmation, the sales, and how fast the service is, compared with earlier days.
type Pulse struct {
	frame
	day       bool // the last 24 hours instead of the last 60 minutes
	latencies []account.Latency
	known     bool // all intents are known
}

// NewPulse returns the pane.
func NewPulse(look *Look) *Pulse { return &Pulse{frame: newFrame(look)} }

// Apply applies the latencies, and whether all intents are known. They are drawn with the
// next second, like the pulse of the intents.
func (p *Pulse) Apply(c *account.Changes, first bool) {
	p.latencies, p.known = c.Summary.Latency, c.Summary.IntentsKnown()
	p.stale = p.stale || first
}

// NextSpan shows the other span of time.
func (p *Pulse) NextSpan() { p.day, p.stale = !p.day, true }

func spanOf(day bool) string {
	if day {
		return "last 24h"
	}
	return "last 60m"
}

// Where the strip stands beside the facts, and where the latencies stand below or
// beside them.
const (
	besideFacts = 100
	stripBeside = scaleWidth + 60
	factsGap    = 4
	pulseView   = 26 // lines
	leastStrip  = 7
	roomyStrip  = 11
)

// Lines draws the pane.
func (p *Pulse) Lines() []string {
	return p.render(func() {
		pulse := p.look.Pulse()
		p.top(pulse)
		p.rule()
		room := p.h - len(p.lines)
		if room <= 0 {
			return
		}
		switch facts := p.facts(pulse); {
		case pulse.Known.IsZero():
			p.unlessWaiting("how the account is doing is not known yet")
		case p.h >= pulseView:
			p.view(pulse, facts)
		case p.w >= besideFacts:
			s := p.stripOf(pulse, p.day, stripBeside, room)
			for y := range room {
				l := p.start().Space(1)
				s.row(l, y, p.look.Location)
				if l.To(1 + stripBeside + factsGap); y < len(facts) {
					p.fact(l, facts[y], 2, l.Left())
				}
				p.push(l)
			}
		default:
			p.stackedFacts(pulse, facts, room)
		}
	})
}

// stackedFacts draws the strip above as many facts as there is room for.
func (p *Pulse) stackedFacts(pulse *account.Pulse, facts []fact, room int) {
	below := max(min(len(facts), room-leastStrip), 0)
	p.strip(pulse, p.day, room-below)
	for _, f := range facts[:below] {
		l := p.start().Space(1)
		p.fact(l, f, 2, min(l.Left(), 64))
		p.push(l)
	}
}

// stripOf makes the strip of a span of time, and says in it why it is empty.
func (p *Pulse) stripOf(pulse *account.Pulse, day bool, w, h int) *strip {
	beats, width := pulse.Hour, time.Minute
	if day {
		beats, width = pulse.Day, 15*time.Minute
	}
	s := stripOf(beats, width, w, h)
	if unknown := "not watched before " + p.look.moment(pulse.Known); paint.Width(unknown)+2 < s.edge(s.unknown()) {
		s.note = unknown
	} else if s.highest == 0 && s.unknown() == 0 {
		s.note = "nothing ended in the " + spanOf(day)
	}
	return s
}

// strip draws the outcomes over the whole width.
func (p *Pulse) strip(pulse *account.Pulse, day bool, h int) {
	s := p.stripOf(pulse, day, p.w-1, h)
	for y := range h {
		l := p.start().Space(1)
		s.row(l, y, p.look.Location)
		p.push(l)
	}
}

// view draws everything: the pane fills the screen. Where there is room, the other span of
// time has a strip, too.
func (p *Pulse) view(pulse *account.Pulse, facts []fact) {
	room := p.h - len(p.lines)
	latencies := p.latencyLines()
	beside := p.w >= factsWidth+factsGap+latencyWidth
	below := len(facts)
	switch {
	case beside:
		below = max(below, len(latencies))
	case room-below-1-len(latencies) >= leastStrip+2:
		below += len(latencies) + 1
	}
	room -= below + 1
	if second := (room - 2) / 2; second >= roomyStrip {
		p.strip(pulse, p.day, room-2-second)
		p.push(p.start())
		p.push(p.start().Space(1).Put(paint.Text, spanOf(!p.day)))
		p.strip(pulse, !p.day, second)
	} else {
		p.strip(pulse, p.day, room)
	}
	p.push(p.start())
	for y := range below {
		l := p.start().Space(1)
		at := y - len(facts) - 1 // of the latencies below the facts
		if beside {
			at = y
		}
		if y < len(facts) {
			p.fact(l, facts[y], len(periods), factsWidth)
		}
		if at >= 0 && at < len(latencies) && (beside || y > len(facts)) {
			if beside {
				l.To(1 + factsWidth + factsGap)
			}
			latencies[at](l)
		}
		p.push(l)
	}
}

// top draws the title with the sums of the span, and since when the account is watched.
func (p *Pulse) top(pulse *account.Pulse) {
	l := p.title("PULSE", -1)
	l.Put(paint.Muted, " · ").Put(paint.Text, spanOf(p.day)).Put(paint.Muted, " ("+p.look.Keys.Span+")")
	var sum account.Beat
	whole := true
	beats := pulse.Hour
	if p.day {
		beats = pulse.Day
	}
	for _, b := range beats {
		sum.Completed, sum.Failed, sum.Expired = sum.Completed+b.Completed, sum.Failed+b.Failed, sum.Expired+b.Expired
		whole = whole && b.Known
	}
	if since := " · watched since " + p.look.moment(pulse.Known); !whole && !pulse.Known.IsZero() && l.Left() > paint.Width(since)+44 {
		l.Put(paint.Muted, since)
	}
	more := !whole || p.day && pulse.DayMore || !p.day && pulse.HourMore
	var right paint.Spans
	for _, s := range []struct {
		glyph string
		style paint.Style
		n     int
		word  string
	}{{solid, paint.Completed, sum.Completed, "completed ↑"}, {solid, paint.Failed, sum.Failed, "failed ↓"}, {expiredFill, paint.Warning, sum.Expired, "expired ↓"}} {
		right = append(right, paint.Span{Text: "   " + s.glyph, Style: s.style},
			paint.Span{Text: " " + atLeast(more) + wording.Count(s.n), Style: paint.Text}, paint.Span{Text: " " + s.word, Style: paint.Muted})
	}
	if right.Width() > l.Left() || pulse.Known.IsZero() {
		right = nil
	}
	p.ends(l, right)
	p.push(l)
}

// arrivals draws in the head of a lane how many intents enter it in an hour, if there is
// room.
func arrivals(look *Look, l *paint.Line, c cell) {
	end := c.x + c.w
	if look.Pulse == nil || c.lane >= laneOther || end-l.At() < ratesFrom {
		return
	}
	pulse, state := look.Pulse(), laneStates[c.lane]
	text := ratePer(pulse, state)
	if text == "" {
		return
	}
	if cells := min(end-l.At()-2-1-rateWidth, 20); cells >= leastTrend {
		l.To(end - rateWidth - 1 - cells)
		trend(l, pulse.Hour, state, cells)
	}
	l.To(end-rateWidth).Right(paint.Muted, text, rateWidth)
}

const (
	ratesFrom  = 8 // cells that a head has left
	rateWidth  = 6
	leastTrend = 5
)

// ratePer writes how many intents enter a state in an hour; "" if unknown.
func ratePer(pulse *account.Pulse, state api.IntentState) string {
	rate, exact, ok := pulse.Rate(state)
	if !ok {
		return ""
	}
	return atLeast(!exact) + short(int(rate*60+0.5)) + "/h"
}
