package pane

import (
	"math"
	"time"

	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// latencyLine is one line about the service's latency: for one class of requests, of
// tillwatch or others, in the last hour or on earlier days.
type latencyLine struct {
	name, when string
	pace       account.Pace
	counts     [latencyCells]int
	unanswered int
	head       bool
}

// The widths of the columns.
const (
	latencyName  = 21
	latencyWhen  = 15
	latencyPace  = 9
	latencyCount = 9
	latencyCells = 41 // from 1 ms to 10 s, ten for each factor of ten; longer ones are in the last
	latencyWidth = latencyName + latencyWhen + 2*latencyPace + latencyCount + 2 + latencyCells
)

// latencyLines returns the lines of the view: a head, and two for each latency.
func (p *Pulse) latencyLines() []latencyLine {
	if len(p.latencies) == 0 {
		return nil
	}
	lines := []latencyLine{{name: "ANSWERS", head: true}}
	for i := range p.latencies {
		t := &p.latencies[i]
		recent := latencyLine{name: latencyOf(t), when: "last hour", pace: t.Recent, unanswered: t.Unanswered}
		if since := p.look.Now.Sub(t.Since); since < 59*time.Minute {
			recent.when = "last " + wording.Age(since)
		}
		past := latencyLine{when: wording.Counted(t.Days, "earlier day", "earlier days"), pace: t.Past}
		if t.Days == 0 {
			past.when = "earlier days"
		}
		for _, b := range t.Buckets {
			at := min(max(int(math.Round(10*math.Log10(float64(b.UpTo)/float64(time.Millisecond)))), 0), latencyCells-1)
			recent.counts[at] += b.Recent
			past.counts[at] += b.Past
		}
		lines = append(lines, recent, past)
	}
	return lines
}

// latencyOf names the requests of a latency.
func latencyOf(t *account.Latency) string {
	name := string(t.Class)
	if name == "" {
		name = "others"
	}
	if t.Others {
		return name + ", by others"
	}
	return name
}

// latency draws a line: the figures, and the distribution of the answers.
func (p *Pulse) latency(l *paint.Line, f *latencyLine) {
	if f.head {
		l.Fit(paint.Muted|paint.Bold, f.name, latencyName+latencyWhen)
		l.Right(paint.Muted, "p50", latencyPace).Right(paint.Muted, "p95", latencyPace).Right(paint.Muted, "answers", latencyCount)
		l.Space(2)
		for _, tick := range []string{"1ms", "10ms", "100ms"} {
			l.Fit(paint.Muted, "╷"+tick, 10)
		}
		l.Put(paint.Muted, "╷1s   ≥10s╷")
		return
	}
	l.Fit(paint.Text, f.name, latencyName).Fit(paint.Muted, f.when, latencyWhen)
	style := paint.Muted
	if f.name != "" {
		style = paint.Text
	}
	if f.pace.Count == 0 {
		l.Right(paint.Muted, notKnown, 2*latencyPace).Right(paint.Muted, "–", latencyCount)
	} else {
		l.Right(style, Latency(f.pace.P50), latencyPace).Right(style, Latency(f.pace.P95), latencyPace).Right(paint.Muted, wording.Count(f.pace.Count), latencyCount)
	}
	l.Space(2)
	highest := 1
	for _, n := range f.counts {
		highest = max(highest, n)
	}
	for _, n := range f.counts {
		switch {
		case n > 0:
			l.Put(style, levels[n*(len(levels)-1)/highest])
		default:
			l.Space(1)
		}
	}
	if f.unanswered > 0 {
		lost := " " + wording.Count(f.unanswered) + " unanswered"
		if paint.Width(lost) > l.Left() {
			lost = " " + wording.Count(f.unanswered) + " lost"
		}
		l.Put(paint.Bad, lost)
	}
}

// readsFact is the latency of our own reads as a line of the table.
func (p *Pulse) readsFact() fact {
	f := fact{name: "reads p50 / p95", cells: [len(periods)]string{notKnown, notKnown, notKnown, notKnown}}
	for i := range p.latencies {
		if t := &p.latencies[i]; t.Class == quota.Reads && !t.Others {
			f.cells[0] = paceText(t.Recent)
			if t.Past.Count > 0 {
				f.cells[1] = "7d: " + paceText(t.Past)
			}
		}
	}
	return f
}
