package dialog

import (
	"slices"
	"strings"

	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

type step struct {
	stage      confirm.Stage
	title, why string
}

func allSteps() []step {
	return []step{
		{confirm.Rereading, "Read again", "must be as you saw it"},
		{confirm.Recording, "Record", "in the audit log, before sending"},
		{confirm.Sending, "Send", "once"},
		{confirm.Settling, "Settle", "by reading, until it is certain"},
	}
}

// steps shows the way from the yes to the outcome.
func (d *Confirm) steps(room int) []row {
	all := allSteps()
	at := slices.IndexFunc(all, func(s step) bool { return s.stage == d.at.Stage })
	var out []row
	for i, step := range all {
		glyph, style := in(inkFaint, "·"), inkMuted
		switch {
		case i < at:
			glyph, style = in(inkGood, "✓"), inkText
		case i == at:
			glyph, style = in(inkAccent, "▸"), inkStrong
		}
		title := in(style, step.title)
		l := line{glyph, in(inkText, " "), title, space(labelWidth - 2 - line{title}.width()), in(inkMuted, step.why)}
		out = append(out, row{l.cut(room), needed})
	}
	return append(out, d.settling(room)...)
}

// settling says why the outcome is not known yet, and how long that takes.
func (d *Confirm) settling(room int) []row {
	if d.at.Stage != confirm.Settling || d.at.Why == nil {
		return nil
	}
	out := rows(air, line{})
	out = append(out, rows(detail, wrapped(inkText, "Because: "+d.at.Why.Error(), room)...)...)
	left := max(d.at.Until.Sub(d.now), 0)
	return append(out, rows(sentence, wrapped(inkMuted, "This alone proves nothing. Reads will settle it within "+countdown(left)+".", room)...)...)
}

// verdict tells how the confirm ended, in words that need no manual.
func (d *Confirm) verdict(room int) []row {
	o := d.outcome
	style, headline, advice := d.judge(o)
	out := rows(needed, wrapped(style|inkBold, headline, room)...)
	if table := d.differences(o.Differences, room); len(table) > 0 {
		out = append(append(out, rows(air, line{})...), table...)
	}
	if o.Err != nil {
		out = append(out, rows(air, line{})...)
		out = append(out, rows(detail, wrapped(inkText, "Because: "+o.Err.Error(), room)...)...)
	}
	if advice != "" {
		out = append(out, rows(air, line{})...)
	}
	out = append(out, rows(needed, wrapped(inkMuted, advice, room)...)...)
	out = append(out, rows(air, line{}, d.id(room))...)
	out = append(out, rows(air, line{})...)
	return append(out, row{d.button("Close", true, clicksButton), detail})
}

// judge is the sentence with the sign of how it went, and what to do now.
func (d *Confirm) judge(o confirm.Outcome) (style ink, headline, advice string) {
	style, glyph := inkWarning, "!"
	advice = o.Advice()
	switch {
	case o.Unsettled, o.Verdict == confirm.Unknown:
		glyph = "?"
	case o.Verdict == confirm.Accepted:
		style, glyph = inkGood, "✓"
		if o.Intent == nil || !o.Intent.State.Terminal() {
			advice = strings.TrimSpace(advice + " Follow it on the board.")
		}
	case o.Verdict == confirm.Refused, o.Verdict == confirm.NotSent:
		style, glyph = inkBad, "✕"
	}
	said := o.Sentence()
	return style, glyph + " " + strings.ToUpper(said[:1]) + said[1:] + ".", advice
}

// differences sets what was seen beside what is now, amounts to the right.
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
	cells := func(what, seen, now string, a, b, c ink) line {
		first := line{in(a, what)}.cut(widest)
		out := append(first, space(widest-first.width()+gap))
		left := line{in(b, seen)}.cut(column)
		out = append(append(out, space(column-left.width())), left...)
		right := line{in(c, now)}.cut(column)
		return append(append(out, space(gap+column-right.width())), right...)
	}
	out := rows(needed, cells("", "you saw", "now", inkMuted, inkMuted, inkMuted))
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
		out = append(out, rows(spare, cells(f.What, f.Seen, f.Now, inkMuted, inkText, inkStrong))...)
	}
	return out
}

// longDifference sets what was seen above what is now, both as long as they are.
func (d *Confirm) longDifference(f confirm.Difference, room int) []line {
	out := []line{{in(inkMuted, f.What)}}
	out = append(out, wrapped(inkText, "you saw: "+f.Seen, room)...)
	return append(out, wrapped(inkStrong, "now: "+f.Now, room)...)
}
