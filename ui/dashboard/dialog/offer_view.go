package dialog

import (
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// costs lists the parts of the sum, those that are there: absent is not zero. What they leave of the total is never
// left out.
func (d *Confirm) costs(room int) []row {
	var out []row
	for _, part := range d.proposal.Cost.Parts() {
		if part.Odd {
			out = append(out, row{d.ends(paint.Warning, "! "+part.Name, paint.Warning, part.Signed(), room), needed})
			continue
		}
		out = append(out, row{d.ends(paint.Muted, part.Name, paint.Text, part.Signed(), room), parts})
	}
	if len(out) > 0 {
		out = append(out, row{paint.Spans{paint.In(paint.Faint, strings.Repeat("─", room))}, parts})
	}
	return out
}

// terms says how the order is shipped and paid, and by which codes it got cheaper.
func (d *Confirm) terms(room int) []row {
	out := rows(needed, d.delivery(room)...)
	if codes := joined(d.proposal.PromoCodes); codes != "" {
		out = append(out, row{d.fact("Promo codes", paint.In(paint.Text, paint.Shorten(codes, room-labelWidth))), detail})
	}
	if d.proposal.Payment != "" {
		payment := paint.In(paint.Text, wording.Name(string(d.proposal.Payment)))
		out = append(out, row{d.fact("Payment", payment).Cut(room), detail})
	}
	return out
}

// delivery names the shipping option that the service selected, and when the order comes; if necessary without its
// label.
func (d *Confirm) delivery(room int) []paint.Spans {
	text := shipping(d.proposal, d.now.Location())
	if paint.Width(text) > room-labelWidth {
		return paint.Wrapped(paint.Text, text, room)
	}
	return behind(paint.In(paint.Muted, "Delivery"), labelWidth, paint.Wrapped(paint.Text, text, room-labelWidth))
}

func shipping(p confirm.Proposal, where *time.Location) string {
	return wording.Shipping(p.Option, func(t time.Time) string { return wording.Estimate(t, where) })
}

func joined(texts []api.Text) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = string(t)
	}
	return strings.Join(all, ", ")
}
