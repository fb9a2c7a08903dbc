package pane

import (
	"slices"
	"strconv"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// fact is a line of the table: a figure for each period.
type fact struct {
	name  string
	cells [len(periods)]string
	head  bool
	whole string // one text across the periods, and what follows its sum
	more  string
}

// periods are the columns of the table. They end at the same time of day, so that they can be
// compared.
var periods = [...]string{"today", "yesterday by now"}

// The widths of the table.
const (
	factName   = 16
	factCell   = 18
	factsWidth = factName + len(periods)*factCell
)

// notKnown is shown for an unknown figure, and none if there was nothing to count.
const notKnown = "not known"

// facts returns the lines of the table, the most useful first.
func (p *Pulse) facts(pulse *account.Pulse) []fact {
	days := [len(periods)]*account.DayPulse{&pulse.Today, &pulse.ByNow}
	row := func(name string, write func(d *account.DayPulse, part bool) string) fact {
		f := fact{name: name}
		for i, d := range days {
			if f.cells[i] = notKnown; d.Known() {
				f.cells[i] = write(d, d.More || d.From.After(account.Midnight(pulse.At, -i)))
			}
		}
		return f
	}
	value, more := awaitingValue(pulse, p.known)
	all := []fact{
		{name: "awaiting", whole: value, more: more},
		{head: true, cells: periods},
	}
	all = append(all, p.values(days[:], row)...)
	all = append(all,
		row("completed", func(d *account.DayPulse, part bool) string {
			text := atLeast(part) + wording.Count(d.Completed)
			if d == &pulse.Today {
				text = p.trend(pulse) + text
			}
			return text
		}),
		row("failed, expired", func(d *account.DayPulse, part bool) string {
			return atLeast(part) + wording.Count(d.Failed) + ", " + atLeast(part) + wording.Count(d.Expired)
		}),
		row("completion", func(d *account.DayPulse, _ bool) string {
			share, ok := d.CompletionRate()
			if !ok {
				return "–"
			}
			return strconv.Itoa(int(share*100+0.5)) + " %"
		}),
		row("offer p50 / p95", func(d *account.DayPulse, _ bool) string { return paceText(d.Offer) }),
		row("order p50 / p95", func(d *account.DayPulse, _ bool) string { return paceText(d.Order) }),
	)
	if p.h < pulseView { // else the latencies have lines of their own
		all = append(all, p.readsFact())
	}
	return all
}

// trend is an arrow: more have completed today than yesterday by now, or fewer. It is "" where
// that is not known for the whole of both.
func (p *Pulse) trend(pulse *account.Pulse) string {
	today, before := &pulse.Today, &pulse.ByNow
	whole := func(d *account.DayPulse, days int) bool {
		return d.Known() && !d.More && !d.From.After(account.Midnight(pulse.At, days))
	}
	switch {
	case !whole(today, 0) || !whole(before, -1):
		return ""
	case today.Completed > before.Completed:
		return "↑ "
	case today.Completed < before.Completed:
		return "↓ "
	}
	return ""
}

// values are the totals of completed intents, a line for each currency. All but the first
// line need a zoomed pane.
func (p *Pulse) values(days []*account.DayPulse, row func(string, func(*account.DayPulse, bool) string) fact) []fact {
	var currencies []string
	for _, d := range days {
		for _, m := range d.Value {
			if !slices.Contains(currencies, m.Currency) {
				currencies = append(currencies, m.Currency)
			}
		}
	}
	sum := func(currency string) func(*account.DayPulse, bool) string {
		return func(d *account.DayPulse, part bool) string {
			for _, m := range d.Value {
				if m.Currency == currency {
					return atLeast(part || d.Unpriced > 0) + m.Readable()
				}
			}
			if d.Unpriced > 0 {
				return "unknown"
			}
			return "–"
		}
	}
	slices.Sort(currencies)
	if len(currencies) == 0 {
		return []fact{row("value", sum(""))}
	}
	if p.h < pulseView && len(currencies) > 1 {
		return []fact{row("value, +"+wording.Count(len(currencies)-1), sum(currencies[0]))}
	}
	all := make([]fact, 0, len(currencies))
	for _, currency := range currencies {
		all = append(all, row("value", sum(currency)))
	}
	return all
}

// awaitingValue writes the value of the intents that await confirmation, and of how many
// more it is unknown. While not all intents are known, there may be others.
func awaitingValue(pulse *account.Pulse, known bool) (value, more string) {
	switch text := wording.Sum(pulse.Awaiting, 0); {
	case text == "" && pulse.Unpriced == 0 && !known:
		return notKnown, ""
	case text == "" && pulse.Unpriced == 0:
		return "none", ""
	case text == "":
		return wording.Counted(pulse.Unpriced, "total", "totals") + " unknown", ""
	case pulse.Unpriced > 0:
		return atLeast(true) + text, ", " + wording.Count(pulse.Unpriced) + " unknown"
	default:
		return atLeast(!known) + text, ""
	}
}

// paceText writes how long something took: p50 and p95.
func paceText(pace account.Pace) string {
	if pace.Count == 0 {
		return "–"
	}
	return Latency(pace.P50) + " / " + Latency(pace.P95)
}

// atLeast is the sign in front of a lower bound.
func atLeast(is bool) string {
	if is {
		return sign.Grounds(account.Counted)
	}
	return ""
}

// fact draws a line of the table with the first periods.
func (p *Pulse) fact(l *paint.Line, f fact, periods, w int) {
	end, first := l.At()+w, w-factName-(periods-1)*factCell
	l.Fit(paint.Muted, f.name, factName)
	whole := paint.Text | paint.Bold
	if f.whole == notKnown {
		whole = paint.Muted
	}
	switch {
	case f.whole != "" && paint.Width(f.whole) <= first && paint.Width(f.more) <= w-factName-first:
		l.Right(whole, f.whole, first).Put(whole, f.more)
	case f.whole != "":
		l.Fit(whole, f.whole+f.more, w-factName)
	default:
		for i, text := range f.cells[:periods] {
			width, style := factCell, paint.Muted
			if i == 0 {
				width = first
			}
			if i == 0 && !f.head && text != notKnown {
				style = paint.Text | paint.Bold
			}
			l.Right(style, text, width)
		}
	}
	l.To(end)
}
