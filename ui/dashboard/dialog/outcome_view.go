package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/confirm"
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
	return append(out, rows(sentence, wrapped(d.paint.muted, "That alone proves nothing: reads will, within "+countdown(left)+".", room)...)...)
}

// verdict tells how the confirm ended, in words that need no manual.
func (d *Confirm) verdict(room int) []row {
	o := d.outcome
	style, headline, advice := d.judge(o)
	out := rows(needed, wrapped(style.bold(), headline, room)...)
	if table := d.differences(o.Differences, room); len(table) > 0 {
		out = append(append(out, rows(air, line{})...), table...)
	}
	if reason := d.reason(o); reason != "" {
		out = append(out, rows(air, line{})...)
		out = append(out, rows(detail, wrapped(d.paint.text, reason, room)...)...)
	}
	out = append(out, rows(air, line{})...)
	out = append(out, rows(needed, wrapped(d.paint.muted, advice, room)...)...)
	out = append(out, rows(air, line{}, d.id(room))...)
	out = append(out, rows(air, line{})...)
	return append(out, row{d.button("Close", true, clicksButton), detail})
}

func (d *Confirm) judge(o confirm.Outcome) (style shade, headline, advice string) {
	if o.Unsettled {
		return d.paint.warning, "? Nothing was sent. An earlier confirm may have placed it.",
			"Reads settle that one. Do not confirm it anywhere else; wait until its state tells, then look again."
	}
	switch o.Verdict {
	case confirm.Accepted:
		return d.paint.good, "✓ Accepted: the service took it.", d.afterwards(o.Intent)
	case confirm.Changed:
		return d.paint.warning, "! Changed since you looked. Nothing was sent.",
			"Close, look at the offer as it is now, and confirm that if you want it."
	case confirm.NotConfirmable:
		headline = "! No longer to be confirmed. This placed nothing."
		if o.Intent != nil && o.Intent.State == api.AwaitingConfirmation {
			headline = "! The service says that it cannot be confirmed now. Nothing was placed."
		}
		return d.paint.warning, headline, d.standing(o.Intent)
	case confirm.Already:
		return d.paint.warning, "! Confirmed already. Nothing was sent.", d.standing(o.Intent)
	case confirm.Overtaken:
		return d.paint.warning, "! Already confirmed: an order is placed once.",
			"Somebody else confirmed it at the same moment, or this request was doubled on its way. " + d.standing(o.Intent)
	case confirm.Refused:
		return d.paint.bad, "✕ The service said no. Nothing was placed.",
			"It was not taken. What it says above has to be mended first."
	case confirm.NotSent:
		return d.paint.bad, "✕ Nothing was sent.",
			"It could not be read again or recorded, so it was not sent. It is safe to try again."
	}
	return d.paint.warning, "? Unknown: it may have been placed.",
		"Reads settle it, and may need more time. Do not confirm it again, here or anywhere else; if it stays unknown, look at the intent at the service."
}

func (d *Confirm) afterwards(now *api.Intent) string {
	if now == nil {
		return "Follow it on the board."
	}
	switch now.State {
	case api.Completed:
		if len(now.OrderIDs) > 0 {
			return "The order is placed: " + joined(now.OrderIDs) + "."
		}
		return "The order is placed."
	case api.Failed:
		return "It failed afterwards. Open it on the board for the reason."
	case api.PlacingOrder:
		return "The merchant is being asked to place the order. Follow it on the board, in placing."
	}
	return d.standing(now)
}

func (d *Confirm) standing(now *api.Intent) string {
	if now == nil || now.State == "" {
		return "Read it again to see where it stands."
	}
	return "Its state is now " + strings.ReplaceAll(string(now.State), "_", " ") + "."
}

func joined(ids []api.Text) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	return strings.Join(words, ", ")
}

func (d *Confirm) reason(o confirm.Outcome) string {
	if o.Verdict == confirm.NotConfirmable && o.Intent != nil && o.Intent.Failure != nil {
		return fmt.Sprintf("%s: %s", o.Intent.Failure.Code, o.Intent.Failure.Code.Advice())
	}
	if o.Err == nil {
		return ""
	}
	return "Because: " + o.Err.Error()
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
