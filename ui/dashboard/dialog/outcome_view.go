package dialog

import (
	"slices"
	"strings"

	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

type step struct {
	stages []confirm.Stage
	title  string
	done   string // what is known once it is done
}

func allSteps() []step {
	return []step{
		{[]confirm.Stage{"", confirm.Rereading}, "Read again", "nothing has changed"},
		{[]confirm.Stage{confirm.Recording}, "Write down", "in the audit log"},
		{[]confirm.Stage{confirm.Sending, confirm.Pausing}, "Send", ""},
		{[]confirm.Stage{confirm.Settling}, "Settle", ""},
	}
}

// steps shows the steps from the yes to the outcome, and what the present one waits for.
func (d *Confirm) steps(room int) []row {
	all := allSteps()
	at := slices.IndexFunc(all, func(s step) bool { return slices.Contains(s.stages, d.at.Stage) })
	var out []row
	for i, step := range all {
		glyph, style, words := paint.In(paint.Faint, "·"), paint.Muted, ""
		switch {
		case i == at && !d.leaving:
			glyph, style, words = paint.In(paint.Accent|paint.Bold, "▸"), paint.Text|paint.Bold, d.at.Words(d.now)
		case i < at, d.at.Try > 1 && i < 2: // the second try begins with a read
			glyph, style, words = paint.In(paint.Good, "✓"), paint.Text, step.done
		}
		title := paint.In(style, step.title)
		l := paint.Spans{glyph, paint.In(paint.Text, " "), title, paint.Blank(labelWidth - 2 - title.Width()), paint.In(paint.Muted, words)}
		out = append(out, row{l.Cut(room), needed})
	}
	switch {
	case d.at.Stage == confirm.Settling:
		return append(out, d.settling(room)...)
	case d.leaving:
		return append(out, rows(sentence, paint.Wrapped(paint.Warning, "Canceling: nothing is sent unless it was written down just now.", room)...)...)
	}
	return out
}

// settling says why the outcome is not known yet, and when it will be.
func (d *Confirm) settling(room int) []row {
	if d.at.Why == nil {
		return nil
	}
	out := rows(air, paint.Spans{})
	out = append(out, rows(detail, paint.Wrapped(paint.Text, "Because: "+d.at.Why.Error(), room)...)...)
	out = append(out, rows(needed, paint.Wrapped(paint.Warning|paint.Bold, "It may have been bought: do not buy it again.", room)...)...)
	text := "Reads settle it: at once if the order is placed, else in " + countdown(d.at.By.Sub(d.now)) + ". If they fail, it stays unknown, and they go on."
	if !d.now.Before(d.at.By) {
		text = "Not settled yet: reads go on for " + countdown(max(d.at.Until.Sub(d.now), 0)) + " here, and then behind the board."
	}
	return append(out, rows(sentence, paint.Wrapped(paint.Muted, text, room)...)...)
}

// verdict says in plain words how the confirm ended.
func (d *Confirm) verdict(room int) []row {
	o := d.outcome
	style, headline, advice := d.judge(o)
	out := rows(needed, paint.Wrapped(style|paint.Bold, headline, room)...)
	if table := d.differences(o.Differences, room); len(table) > 0 {
		out = append(append(out, rows(air, paint.Spans{})...), table...)
	}
	if o.Err != nil {
		out = append(out, rows(air, paint.Spans{})...)
		out = append(out, rows(detail, paint.Wrapped(paint.Text, "Because: "+o.Err.Error(), room)...)...)
	}
	if advice != "" {
		out = append(out, rows(air, paint.Spans{})...)
	}
	out = append(out, rows(needed, paint.Wrapped(paint.Muted, advice, room)...)...)
	out = append(out, rows(air, paint.Spans{}, d.id(room))...)
	out = append(out, rows(air, paint.Spans{})...)
	return append(out, row{button("Close", true, clicksButton), detail})
}

// judge returns the sentence about an outcome with its sign, and what to do now.
func (d *Confirm) judge(o confirm.Outcome) (style paint.Style, headline, advice string) {
	style, glyph := paint.Warning, "!"
	advice = o.Advice()
	switch {
	case o.Unsettled, o.Verdict == confirm.Unknown:
		style, glyph = paint.Unknown, "?"
	case o.Verdict == confirm.NotTaken:
		glyph = "○"
	case o.Verdict == confirm.Refused, o.Verdict == confirm.NotSent, o.Verdict == confirm.Accepted && o.Proves() == confirm.NotPlaced:
		style, glyph = paint.Bad, "✕"
	case o.Verdict == confirm.Accepted:
		if o.Well() {
			style, glyph = paint.Good, "✓"
		}
		if o.Intent == nil || !o.Intent.State.Terminal() {
			advice = strings.TrimSpace(advice + " Follow it on the board.")
		}
	}
	said := o.Sentence()
	return style, glyph + " " + strings.ToUpper(said[:1]) + said[1:] + ".", advice
}

// differences puts what was seen beside what is now, amounts to the right.
func (d *Confirm) differences(found []confirm.Difference, room int) []row {
	if len(found) == 0 {
		return nil
	}
	const gap = 2
	widest := paint.Width("what")
	for _, f := range found {
		widest = max(widest, paint.Width(f.What))
	}
	widest = min(widest, room/3)
	column := max((room-widest-2*gap)/2, 1)
	cells := func(what, seen, now string, a, b, c paint.Style) paint.Spans {
		first := paint.Spans{paint.In(a, what)}.Cut(widest)
		out := append(first, paint.Blank(widest-first.Width()+gap))
		left := paint.Spans{paint.In(b, seen)}.Cut(column)
		out = append(append(out, paint.Blank(column-left.Width())), left...)
		right := paint.Spans{paint.In(c, now)}.Cut(column)
		return append(append(out, paint.Blank(gap+column-right.Width())), right...)
	}
	out := rows(needed, cells("", "you saw", "now", paint.Muted, paint.Muted, paint.Muted))
	for _, f := range found {
		f.Seen, f.Now = wording.Amount(f.Seen), wording.Amount(f.Now)
		spare := detail
		if f.What == "total" {
			spare = needed
		}
		if max(paint.Width(f.Seen), paint.Width(f.Now)) > column {
			out = append(out, rows(spare, d.longDifference(f, room)...)...)
			continue
		}
		out = append(out, rows(spare, cells(f.What, f.Seen, f.Now, paint.Muted, paint.Text, paint.Text|paint.Bold))...)
	}
	return out
}

// longDifference puts what was seen above what is now, both in full.
func (d *Confirm) longDifference(f confirm.Difference, room int) []paint.Spans {
	out := []paint.Spans{{paint.In(paint.Muted, f.What)}}
	out = append(out, paint.Wrapped(paint.Text, "you saw: "+f.Seen, room)...)
	return append(out, paint.Wrapped(paint.Text|paint.Bold, "now: "+f.Now, room)...)
}
