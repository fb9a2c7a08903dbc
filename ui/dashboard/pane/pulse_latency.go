package pane

import (
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// The widths of the columns of the latencies.
const (
	latencyName  = 21
	latencyPace  = 9
	latencyCount = 9
	latencyWidth = latencyName + 2*latencyPace + latencyCount + len(" 256 unanswered")
)

// latencyLines returns what draws the lines about the service's latency: a head, and a line for
// each class of requests, of tillwatch or others.
func (p *Pulse) latencyLines() []func(l *paint.Line) {
	if len(p.latencies) == 0 {
		return nil
	}
	lines := []func(l *paint.Line){func(l *paint.Line) {
		l.Fit(paint.Muted|paint.Bold, "ANSWERS", latencyName)
		l.Right(paint.Muted, "p50", latencyPace).Right(paint.Muted, "p95", latencyPace).Right(paint.Muted, "newest", latencyCount)
	}}
	for i := range p.latencies {
		lines = append(lines, func(l *paint.Line) { drawLatency(l, &p.latencies[i]) })
	}
	return lines
}

// drawLatency draws how long the newest requests took.
func drawLatency(l *paint.Line, of *account.Latency) {
	name := string(of.Class)
	if name == "" {
		name = "others"
	}
	if of.Others {
		name += ", by others"
	}
	l.Fit(paint.Text, name, latencyName)
	if of.Recent.Count == 0 {
		l.Right(paint.Muted, notKnown, 2*latencyPace).Right(paint.Muted, "–", latencyCount)
	} else {
		l.Right(paint.Text, Latency(of.Recent.P50), latencyPace).Right(paint.Text, Latency(of.Recent.P95), latencyPace)
		l.Right(paint.Muted, wording.Count(of.Recent.Count), latencyCount)
	}
	if of.Unanswered > 0 {
		l.Put(paint.Bad, " "+wording.Count(of.Unanswered)+" unanswered")
	}
}

// readsFact is the latency of our own reads as a line of the table.
func (p *Pulse) readsFact() fact {
	f := fact{name: "reads p50 / p95", cells: [len(periods)]string{notKnown, ""}}
	for i := range p.latencies {
		if t := &p.latencies[i]; t.Class == quota.Reads && !t.Others {
			f.cells[0] = paceText(t.Recent)
		}
	}
	return f
}
