package dialog

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api/confirm"
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
		glyph, style := in(d.paint.faint, "·"), d.paint.muted
		switch {
		case i < at:
			glyph, style = in(d.paint.good, "✓"), d.paint.text
		case i == at:
			glyph, style = in(d.paint.accent, "▸"), d.paint.strong
		}
		title := in(style, step.title)
		l := line{glyph, {" ", d.paint.text}, title, {blank(labelWidth - 2 - line{title}.width()), d.paint.text}, in(d.paint.muted, step.why)}
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
	out = append(out, rows(detail, wrapped(d.paint.text, "Because: "+d.at.Why.Error(), room)...)...)
	left := max(d.at.Until.Sub(d.now), 0)
	return append(out, rows(sentence, wrapped(d.paint.muted, "This alone proves nothing. Reads will settle it within "+countdown(left)+".", room)...)...)
}

// verdict tells how the confirm ended, in words that need no manual.
func (d *Confirm) verdict(room int) []row {
	o := d.outcome
	style, headline, advice := d.judge(o)
	out := rows(needed, wrapped(style.bold(), headline, room)...)
	if table := d.differences(o.Differences, room); len(table) > 0 {
		out = append(append(out, rows(air, line{})...), table...)
	}
	if o.Err != nil {
		out = append(out, rows(air, line{})...)
		out = append(out, rows(detail, wrapped(d.paint.text, "Because: "+o.Err.Error(), room)...)...)
	}
	if advice != "" {
		out = append(out, rows(air, line{})...)
	}
	out = append(out, rows(needed, wrapped(d.paint.muted, advice, room)...)...)
	out = append(out, rows(air, line{}, d.id(room))...)
	out = append(out, rows(air, line{})...)
	return append(out, row{d.button("Close", true, clicksButton), detail})
}

// judge is the sentence with the sign of how it went, and what to do now.
func (d *Confirm) judge(o confirm.Outcome) (style shade, headline, advice string) {
	style, glyph := d.paint.warning, "!"
	advice = o.Advice()
	switch {
	case o.Unsettled, o.Verdict == confirm.Unknown:
		glyph = "?"
	case o.Verdict == confirm.Accepted:
		style, glyph = d.paint.good, "✓"
		if o.Intent == nil || !o.Intent.State.Terminal() {
			advice = strings.TrimSpace(advice + " Follow it on the board.")
		}
	case o.Verdict == confirm.Refused, o.Verdict == confirm.NotSent:
		style, glyph = d.paint.bad, "✕"
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
	widest := ansi.StringWidth("what")
	for _, f := range found {
		widest = max(widest, ansi.StringWidth(f.What))
	}
	widest = min(widest, room/3)
	column := max((room-widest-2*gap)/2, 1)
	cells := func(what, seen, now string, a, b, c shade) line {
		first := line{in(a, what)}.cut(widest)
		out := append(first, span{blank(widest - first.width() + gap), d.paint.text})
		left := line{in(b, seen)}.cut(column)
		out = append(append(out, span{blank(column - left.width()), d.paint.text}), left...)
		right := line{in(c, now)}.cut(column)
		return append(append(out, span{blank(gap + column - right.width()), d.paint.text}), right...)
	}
	out := rows(needed, cells("", "you saw", "now", d.paint.muted, d.paint.muted, d.paint.muted))
	for _, f := range found {
		f.Seen, f.Now = wording.Amount(f.Seen), wording.Amount(f.Now)
		spare := detail
		if f.What == "total" {
			spare = needed
		}
		if max(ansi.StringWidth(f.Seen), ansi.StringWidth(f.Now)) > column {
			out = append(out, rows(spare, d.longDifference(f, room)...)...)
			continue
		}
		out = append(out, rows(spare, cells(f.What, f.Seen, f.Now, d.paint.muted, d.paint.text, d.paint.strong))...)
	}
	return out
}

// longDifference sets what was seen above what is now, both as long as they are.
func (d *Confirm) longDifference(f confirm.Difference, room int) []line {
	out := []line{{in(d.paint.muted, f.What)}}
	out = append(out, wrapped(d.paint.text, "you saw: "+f.Seen, room)...)
	return append(out, wrapped(d.paint.strong, "now: "+f.Now, room)...)
}
