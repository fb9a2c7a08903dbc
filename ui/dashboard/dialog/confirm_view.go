package dialog

import (
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
)

const (
	confirmWidth = 66
	labelWidth   = 14
	soonExpired  = 2 * time.Minute
)

// Size is the block that the dialog wants, at most width by height.
func (d *Confirm) Size(width, height int) (int, int) {
	w := min(confirmWidth, width)
	if d.batch != nil {
		return w, min(len(d.batchBody(d.panel(w).room(w), height-frame))+frame, height)
	}
	return w, min(len(d.body(d.panel(w).room(w)))+frame, height)
}

// View draws the dialog as exactly height lines of width cells. What is left
// out for want of space is never the product, its variant, the total, the id, the
// environment or the window: if those do not fit, nothing can be confirmed.
func (d *Confirm) View(width, height int) []string {
	p := d.panel(width)
	room := p.room(width)
	body := d.body
	if d.batch != nil {
		body = func(room int) []row { return d.batchBody(room, max(height-frame, 0)) }
	}
	kept, all := squeeze(body(room), max(height-frame, 0))
	d.inFull = all && room >= leastRoom
	if b := d.batch; b != nil && d.inFull && b.top <= b.seen {
		b.seen = max(b.seen, b.top+b.page)
	}
	d.spots = p.spots(width, height, kept)
	return p.draw(width, height, kept)
}

// leastRoom is the width below which amounts and names are no longer told apart.
const leastRoom = 34

func (d *Confirm) panel(width int) panel {
	p := panel{pen: d.pen, frame: inkFaint, inset: insetFor(width)}
	p.badge = line{in(inkMuted, d.proposal.Environment)}
	if d.live {
		p.frame = inkMoney
		p.badge = line{in(inkMoney, "REAL MONEY")}
	}
	leaves := func(text string) line { return line{in(inkMuted, text).clicks(clicksClose)} }
	switch d.phase {
	case asking:
		p.title = line{in(inkStrong, "Confirm order")}
		if d.batch != nil {
			p.title = line{in(inkStrong, "Confirm several orders")}
		}
		p.foot = leaves("esc cancel")
		if d.Expired(d.now) {
			p.foot = leaves("esc close")
		}
		if d.live && !d.Expired(d.now) && width >= 46 {
			p.foot = append(line{in(inkMuted, "tab next   enter press   ")}, leaves("esc cancel")...)
		}
	case running:
		p.title = line{in(inkStrong, "Confirming")}
		p.foot = leaves("esc hide; it goes on")
	case ended:
		p.title = line{in(inkStrong, "Confirm order")}
		p.foot = leaves("esc close")
	}
	return p
}

func (d *Confirm) body(room int) []row {
	out := rows(margin, line{})
	out = append(out, d.head(room)...)
	switch d.phase {
	case running:
		out = append(out, d.total(room)...)
		out = append(out, rows(air, line{})...)
		out = append(out, d.steps(room)...)
	case ended:
		out = append(out, d.total(room)...)
		out = append(out, rows(air, line{})...)
		out = append(out, d.verdict(room)...)
	default:
		out = append(out, d.costs(room)...)
		out = append(out, d.total(room)...)
		out = append(out, rows(air, line{})...)
		out = append(out, d.facts(room)...)
		return append(out, d.question(room)...)
	}
	return append(out, rows(margin, line{})...)
}

// head names what is bought, over as many lines as that takes.
func (d *Confirm) head(room int) []row {
	name := fmt.Sprintf("%s ×%d", d.proposal.Product, d.proposal.Quantity)
	out := rows(needed, wrapped(inkStrong, name, room)...)
	out = append(out, rows(needed, wrapped(inkText, string(d.proposal.Variant), room)...)...)
	out = append(out, rows(needed, wrapped(inkMuted, string(d.proposal.Merchant), room)...)...)
	return append(out, rows(air, line{})...)
}

// costs lists what the offer tells of its parts. An absent amount is left out:
// absent is not zero.
func (d *Confirm) costs(room int) []row {
	cost := d.proposal.Cost
	var out []row
	for _, part := range []struct {
		label  string
		amount *api.Money
		taken  bool
	}{
		{"Subtotal", cost.Subtotal, false},
		{"Shipping", cost.Shipping, false},
		{"Tax", cost.Tax, false},
		{"Discount", cost.Discount, true},
		{"Surcharge", cost.Surcharge, false},
	} {
		if part.amount == nil {
			continue
		}
		amount := strings.Replace(part.amount.Readable(), "-", "−", 1)
		if part.taken && part.amount.Subunits > 0 {
			amount = "−" + amount
		}
		out = append(out, row{d.ends(inkMuted, part.label, inkText, amount, room), parts})
	}
	if len(out) > 0 {
		out = append(out, row{line{in(inkFaint, strings.Repeat("─", room))}, parts})
	}
	return out
}

func (d *Confirm) total(room int) []row {
	return rows(needed, d.ends(inkStrong, "Total", inkStrong, d.proposal.Total.Readable(), room))
}

func (d *Confirm) ends(labels ink, label string, values ink, value string, room int) line {
	return apart(line{in(labels, label)}, line{in(values, value)}, room, inkText)
}

func (d *Confirm) facts(room int) []row {
	out := rows(extra, d.page(room)...)
	return append(out, rows(needed, d.id(room), d.environment(room), d.window())...)
}

// page is the address of what is bought, over as many lines as that takes.
func (d *Confirm) page(room int) []line {
	var out []line
	for i, l := range wrapped(inkMuted, string(d.proposal.ProductURL), room-labelWidth) {
		label := ""
		if i == 0 {
			label = "Page"
		}
		out = append(out, append(d.fact(label, span{}), l...))
	}
	return out
}

func (d *Confirm) fact(label string, value span) line {
	text := in(inkMuted, label)
	return line{text, space(labelWidth - line{text}.width()), value}
}

// id shows the whole id, where it must without its label; in a live environment
// the four characters to type stand out.
func (d *Confirm) id(room int) line {
	id := string(api.Scrub(string(d.proposal.ID)))
	out := d.fact("Intent", span{})
	if (line{{text: id}}).width() > room-labelWidth {
		out = nil
		id = shorten(id, room)
	}
	tail := lastFour(id)
	if !d.live || d.phase != asking {
		return append(out, in(inkText, id))
	}
	return append(out, in(inkText, strings.TrimSuffix(id, tail)), in(inkSought, tail))
}

// environment says where it is bought. The word on the money stays when the name
// is cut.
func (d *Confirm) environment(room int) line {
	money := in(inkMuted, d.firstThatFits(room-labelWidth-paint.Width(d.proposal.Environment)-2, "no real money", "no money"))
	if d.live {
		money = in(inkMoney, "REAL MONEY")
	}
	name := line{in(inkText, d.proposal.Environment)}.cut(max(room-labelWidth-2-line{money}.width(), 0))
	return append(append(d.fact("Environment", span{}), name...), in(inkText, "  "), money)
}

func (d *Confirm) window() line {
	end := d.proposal.ExpiresAt
	left := end.Sub(d.now)
	switch {
	case end.IsZero():
		return d.fact("Window", in(inkMuted, "not known"))
	case d.Expired(d.now):
		return d.fact("Window", in(inkBad, "✕ closed"))
	case left < soonExpired:
		return d.fact("Window", in(inkWarning, "! closes in "+countdown(left)))
	}
	return d.fact("Window", in(inkText, "closes in "+countdown(left)))
}

// countdown counts whole seconds, the last one as 1 s.
func countdown(left time.Duration) string {
	seconds := int64((left + time.Second - 1) / time.Second)
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm %02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh %02dm", seconds/3600, seconds/60%60)
}

func (d *Confirm) question(room int) []row {
	out := rows(air, line{})
	if d.Expired(d.now) {
		out = append(out, rows(sentence, wrapped(inkMuted, "Nothing was sent. A new intent is needed to buy this.", room)...)...)
		out = append(out, rows(air, line{})...)
		out = append(out, rows(needed, line{in(inkBad, "It can no longer be confirmed.")}, d.button("Close", true, clicksButton))...)
		return append(out, rows(margin, line{})...)
	}
	what := "Before sending, the intent is read again. If anything changed, nothing is sent."
	if d.batch != nil {
		what = "They are sent one after another. Before sending, each is read again. If anything changed, that one is not sent."
	}
	out = append(out, rows(sentence, wrapped(inkMuted, what, room)...)...)
	out = append(out, rows(air, line{})...)
	if d.live {
		out = append(out, row{d.typing(room).clicks(clicksField), needed})
		out = append(out, rows(air, line{})...)
	}
	out = append(out, row{d.buttons(room), needed})
	if d.notice == "" {
		return append(out, row{line{}, air})
	}
	return append(out, rows(needed, wrapped(inkWarning, d.said(), room)...)...)
}

// said is the notice as it holds by now.
func (d *Confirm) said() string {
	if d.notice == tooSoon && d.quiet.over(d.now) {
		return soonOver
	}
	return d.notice
}

// typing is the line of the field.
func (d *Confirm) typing(room int) line {
	const width = 14
	label := in(inkMuted, "To arm")
	if d.focus == onField {
		label = in(inkAccent, "To arm")
	}
	out := line{label, space(labelWidth - 2 - line{label}.width()), in(inkFaint, "▏ ")}
	hint := in(inkFaint, d.firstThatFits(room-out.width(), d.armingHints()...))
	if d.focus == onField {
		out = append(out, typed(d.field, width+1)...)
		hint = in(inkMuted, d.firstThatFits(room-out.width(), d.typingHints()...))
	} else if value := d.field.Value(); value != "" {
		text := in(inkText, value)
		out = append(out, text, space(width+1-line{text}.width()))
		hint = span{}
	}
	if d.armed() {
		hint = in(inkGood, d.firstThatFits(room-out.width(), "  ✓ armed", "✓"))
	}
	return append(out, hint)
}

// armingHints say what is to be typed, the longest first.
func (d *Confirm) armingHints() []string {
	if d.batch != nil {
		return []string{"type the total of all", "the total of all"}
	}
	return []string{"type the id's last four, or the total", "last four of the id, or total", "id's last 4, or total"}
}

// typingHints are the same while it is typed.
func (d *Confirm) typingHints() []string {
	if d.batch != nil {
		return []string{"  the total of all", ""}
	}
	return []string{"  the id's last four, or the total", "  id's last four, or total", ""}
}

// firstThatFits returns the first text that room cells hold, or else the last.
func (d *Confirm) firstThatFits(room int, texts ...string) string {
	for _, text := range texts {
		if paint.Width(text) <= room {
			return text
		}
	}
	return texts[len(texts)-1]
}

func (d *Confirm) buttons(room int) line {
	gap := in(inkText, "   ")
	total := d.proposal.Total.Readable()
	if d.batch != nil && len(d.batch.sums) > 1 {
		total = fmt.Sprintf("all %d", len(d.batch.all))
	}
	if !d.live {
		out := append(d.button("Cancel", true, clicksClose), gap, in(inkSought, "C").clicks(clicksYes))
		return append(out, in(inkText, d.firstThatFits(room-out.width(), "  Confirm "+total, "  Confirm")).clicks(clicksYes))
	}
	out := append(d.button("Cancel", d.focus == onCancel, clicksClose), gap)
	const brackets = 4
	yes := d.firstThatFits(room-out.width()-brackets, "Confirm "+total, "Confirm")
	if d.armed() {
		return append(out, d.button(yes, d.focus == onConfirm, clicksYes)...)
	}
	out = append(out, in(inkFaint, "  "+yes+"  ").clicks(clicksYes))
	return append(out, in(inkMuted, d.firstThatFits(room-out.width(), "not armed", "")))
}

// button shows focus by brackets as well, for terminals without colour.
func (d *Confirm) button(text string, focused bool, target string) line {
	if focused {
		return line{in(inkFocused, "[ "+text+" ]").clicks(target)}
	}
	return line{in(inkText, "  "+text+"  ").clicks(target)}
}
