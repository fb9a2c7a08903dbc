package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
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
	return w, min(len(d.body(d.panel(w).room(w), false))+frame, height)
}

// View draws the dialog as exactly height lines of width cells. If there is too little space, it
// leaves lines out, but never the product, its variant and merchant, the total, the id, the
// environment or the window: if these do not fit, nothing can be confirmed.
func (d *Confirm) View(l *paint.Line, width, height int) []string {
	p := d.panel(width)
	room := p.room(width)
	kept, all := d.fitting(room, max(height-frame, 0))
	if d.inFull = all && room >= leastRoom; d.inFull && d.notice == unseen {
		d.notice = ""
		kept, _ = d.fitting(room, max(height-frame, 0))
	}
	if b := d.batch; b != nil && d.inFull && b.top <= b.seen {
		b.seen = max(b.seen, b.top+b.page)
	}
	return d.draw(l, p, width, height, kept)
}

// fitting returns the body within height lines, and whether everything necessary is in it. If
// the whole address of the page does not fit, it is shortened on the merchant's line.
func (d *Confirm) fitting(room, height int) ([]row, bool) {
	if d.batch != nil {
		return squeeze(d.batchBody(room, height), height)
	}
	kept, all := squeeze(d.body(room, false), height)
	if d.phase == asking && d.proposal.ProductURL != "" && !slices.ContainsFunc(kept, func(r row) bool { return r.spare == extra }) {
		return squeeze(d.body(room, true), height)
	}
	return kept, all
}

// leastRoom is the width below which amounts and names can no longer be distinguished.
const leastRoom = 34

func (d *Confirm) panel(width int) panel {
	p := panelOf(width, "Confirm order", escapes("esc close"))
	p.badge = paint.Spans{paint.In(paint.Muted, d.proposal.Environment)}
	if d.live {
		p.frame = paint.Money | paint.Bold
		p.badge = paint.Spans{paint.In(paint.Money|paint.Bold, "REAL MONEY")}
	}
	switch {
	case d.phase == running && d.at.BeforeWriting() && !d.leaving:
		p.title, p.foot = titled("Confirming"), paint.Spans{escapes("esc cancel: nothing is sent yet")}
	case d.phase == running:
		p.title, p.foot = titled("Confirming"), paint.Spans{escapes("esc hide; it goes on")}
	case d.phase == asking:
		if d.batch != nil {
			p.title = titled("Confirm several orders")
			if d.batch.of.Reference != "" {
				p.title = titled("Confirm " + paint.Shorten(d.batch.of.Reference, max(width-40, 12)))
			}
		}
		if d.expired(d.now) {
			break
		}
		p.foot = paint.Spans{escapes("esc cancel")}
		if d.guarded() && width >= wideFoot {
			p.foot = append(paint.Spans{paint.In(paint.Muted, "tab next   enter press   ")}, p.foot...)
		}
	}
	return p
}

// body returns everything that the dialog says; if brief is true, with the page on the
// merchant's line.
func (d *Confirm) body(room int, brief bool) []row {
	merchant, page := d.merchant(room), d.page(room)
	if brief {
		merchant, page = d.pageInShort(room), nil
	}
	out := rows(margin, paint.Spans{})
	out = append(out, d.warning(room)...)
	out = append(out, d.head(room)...)
	out = append(out, rows(needed, merchant...)...)
	out = append(out, rows(air, paint.Spans{})...)
	switch d.phase {
	case running:
		out = append(out, d.total(room)...)
		out = append(out, rows(air, paint.Spans{})...)
		out = append(out, d.steps(room)...)
	case ended:
		out = append(out, d.total(room)...)
		out = append(out, rows(air, paint.Spans{})...)
		out = append(out, d.verdict(room)...)
	default:
		out = append(out, d.costs(room)...)
		out = append(out, d.total(room)...)
		out = append(out, rows(air, paint.Spans{})...)
		out = append(out, rows(extra, page...)...)
		out = append(out, d.terms(room)...)
		out = append(out, rows(needed, d.id(room), d.environment(room), d.window())...)
		return append(out, d.question(room)...)
	}
	return append(out, rows(margin, paint.Spans{})...)
}

// warning says first what became of an earlier confirm.
func (d *Confirm) warning(room int) []row {
	if d.earlier == "" || d.phase != asking {
		return nil
	}
	var out []row
	for _, line := range paint.Wrapped(paint.Unknown, d.earlier, room) {
		filled := append(line, paint.Span{Text: strings.Repeat(" ", max(room-line.Width(), 0)), Style: paint.Unknown})
		out = append(out, row{filled, needed})
	}
	return append(out, rows(air, paint.Spans{})...)
}

// head names what is bought, over as many lines as that takes.
func (d *Confirm) head(room int) []row {
	out := rows(needed, paint.Wrapped(paint.Text|paint.Bold, d.proposal.Item(), room)...)
	return append(out, rows(needed, paint.Wrapped(paint.Text, string(d.proposal.Variant), room)...)...)
}

func (d *Confirm) merchant(room int) []paint.Spans {
	return paint.Wrapped(paint.Muted, string(d.proposal.Merchant), room)
}

func (d *Confirm) total(room int) []row {
	return rows(needed, d.ends(paint.Text|paint.Bold, "Total", paint.Text|paint.Bold, d.proposal.Total.Readable(), room))
}

func (d *Confirm) ends(labels paint.Style, label string, values paint.Style, value string, room int) paint.Spans {
	return paint.Apart(paint.Spans{paint.In(labels, label)}, paint.Spans{paint.In(values, value)}, room)
}

// page is the address of what is bought, without secrets, over as many lines as that
// takes.
func (d *Confirm) page(room int) []paint.Spans {
	lines := paint.Wrapped(paint.Muted, string(api.MaskAddress(d.proposal.ProductURL)), room-labelWidth)
	return behind(paint.In(paint.Muted, "Page"), labelWidth, lines)
}

// pageInShort is the page's address without https, in place of the merchant that it names,
// or else below it.
func (d *Confirm) pageInShort(room int) []paint.Spans {
	var out []paint.Spans
	page, named := shortPage(d.proposal, room)
	if !named {
		out = d.merchant(room)
	}
	return append(out, paint.Wrapped(paint.Muted, page, room)...)
}

// shortPage is the address of what is bought without https and secrets, and whether its host
// is the merchant's. The host stays whole; the middle of what follows gives way.
func shortPage(p confirm.Proposal, room int) (page string, named bool) {
	const leastPath = 12
	address, encrypted := strings.CutPrefix(string(api.MaskAddress(p.ProductURL)), "https://")
	begin := 0
	if scheme, rest, has := strings.Cut(address, "://"); has && !encrypted && !strings.ContainsAny(scheme, "/?#") {
		begin = len(address) - len(rest)
	}
	end := len(address)
	if at := strings.IndexAny(address[begin:], "/?#"); at >= 0 {
		end = begin + at
	}
	named = strings.HasSuffix("."+strings.ToLower(address[begin:end]), "."+string(p.Merchant))
	host := paint.In(paint.Muted, address[:end]).Text
	return host + paint.Shorten(paint.In(paint.Muted, address[end:]).Text, max(room-paint.Width(host), leastPath)), named
}

func (d *Confirm) fact(label string, value paint.Span) paint.Spans {
	text := paint.In(paint.Muted, label)
	return paint.Spans{text, paint.Blank(labelWidth - text.Width()), value}
}

// id shows the whole id, if necessary without its label. In a live environment, the four
// characters to type stand out.
func (d *Confirm) id(room int) paint.Spans {
	id := string(api.Scrub(string(d.proposal.ID)))
	out := d.fact("Intent", paint.Span{})
	if paint.Width(id) > room-labelWidth {
		out = nil
		id = paint.Shorten(id, room)
	}
	tail := lastFour(id)
	if !d.guarded() || d.phase != asking {
		return append(out, paint.In(paint.Text, id))
	}
	return append(out, paint.In(paint.Text, strings.TrimSuffix(id, tail)), paint.In(paint.Text|paint.Bold|paint.Underline, tail))
}

// environment says where it is bought. When the name is cut, the words about the money stay.
func (d *Confirm) environment(room int) paint.Spans {
	money := paint.In(paint.Muted, d.firstThatFits(room-labelWidth-paint.Width(d.proposal.Environment)-2, "no real money", "no money"))
	if d.live {
		money = paint.In(paint.Money|paint.Bold, "REAL MONEY")
	}
	name := paint.Spans{paint.In(paint.Text, d.proposal.Environment)}.Cut(max(room-labelWidth-2-money.Width(), 0))
	return append(append(d.fact("Environment", paint.Span{}), name...), paint.In(paint.Text, "  "), money)
}

func (d *Confirm) window() paint.Spans {
	end := d.proposal.ExpiresAt
	left := end.Sub(d.now)
	switch {
	case end.IsZero():
		return d.fact("Window", paint.In(paint.Muted, "not known"))
	case d.expired(d.now):
		return d.fact("Window", paint.In(paint.Bad, "✕ closed"))
	case left < soonExpired:
		return d.fact("Window", paint.In(paint.Warning, "! closes in "+countdown(left)))
	}
	return d.fact("Window", paint.In(paint.Text, "closes in "+countdown(left)))
}

// countdown counts whole seconds, the last one as 1s.
func countdown(left time.Duration) string {
	return api.Span((left + time.Second - 1).Truncate(time.Second))
}

func (d *Confirm) question(room int) []row {
	out := rows(air, paint.Spans{})
	if d.expired(d.now) {
		over, advice := "It can no longer be confirmed.", "Nothing was sent. A new intent is needed to buy this."
		if d.batch != nil {
			over, advice = "Not all can be confirmed any more.", "Nothing was sent. Close this, and confirm those that are still open."
		}
		out = append(out, rows(sentence, paint.Wrapped(paint.Muted, advice, room)...)...)
		out = append(out, rows(air, paint.Spans{})...)
		out = append(out, rows(needed, paint.Spans{paint.In(paint.Bad, over)}, button("Close", true, clicksButton))...)
		return append(out, rows(margin, paint.Spans{})...)
	}
	what := "Before sending, the intent is read again. If anything changed, nothing is sent."
	if d.batch != nil {
		what = "They are sent one after another. Before sending, each is read again. If anything changed, that one is not sent."
	}
	out = append(out, rows(sentence, paint.Wrapped(paint.Muted, what, room)...)...)
	out = append(out, rows(air, paint.Spans{})...)
	if d.guarded() {
		out = append(out, row{d.typing(room).Clicks(clicksField), needed})
		out = append(out, rows(air, paint.Spans{})...)
	}
	out = append(out, row{d.buttons(room), needed})
	if d.notice == "" {
		return append(out, row{paint.Spans{}, air})
	}
	return append(out, rows(needed, paint.Wrapped(paint.Warning, d.noticed(), room)...)...)
}

// noticed returns the notice as it is true now.
func (d *Confirm) noticed() string {
	if d.notice == tooSoon && d.quiet.over(d.now) {
		return soonOver
	}
	return d.notice
}

// typing is the line of the field.
func (d *Confirm) typing(room int) paint.Spans {
	const width = 14
	label := paint.In(paint.Muted, "To arm")
	if d.focus == onField {
		label = paint.In(paint.Accent|paint.Bold, "To arm")
	}
	out := paint.Spans{label, paint.Blank(labelWidth - 2 - label.Width()), paint.In(paint.Faint, "▏ ")}
	hint := paint.In(paint.Muted, d.firstThatFits(room-out.Width(), d.armingHints()...))
	if d.focus == onField {
		out = append(out, typed(d.field, width+1)...)
		hint = paint.In(paint.Muted, d.firstThatFits(room-out.Width(), d.typingHints()...))
	} else if value := d.field.Value(); value != "" {
		text := paint.In(paint.Text, value)
		out = append(out, text, paint.Blank(width+1-text.Width()))
		hint = paint.Span{}
	}
	if d.armed() {
		hint = paint.In(paint.Good, d.firstThatFits(room-out.Width(), "  ✓ armed", "✓"))
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

// firstThatFits returns the first text that fits into room cells, or else the last one.
func (d *Confirm) firstThatFits(room int, texts ...string) string {
	for _, text := range texts {
		if paint.Width(text) <= room {
			return text
		}
	}
	return texts[len(texts)-1]
}

func (d *Confirm) buttons(room int) paint.Spans {
	gap := paint.In(paint.Text, "   ")
	total := d.proposal.Total.Readable()
	if d.batch != nil && len(d.batch.sums) > 1 {
		total = fmt.Sprintf("all %d", len(d.batch.all))
	}
	if !d.guarded() {
		out := append(button("Cancel", true, clicksClose), gap, paint.In(paint.Text|paint.Bold|paint.Underline, "C").Clicks(clicksYes))
		return append(out, paint.In(paint.Text, d.firstThatFits(room-out.Width(), "  Confirm "+total, "  Confirm")).Clicks(clicksYes))
	}
	out := append(button("Cancel", d.focus == onCancel, clicksClose), gap)
	const brackets = 4
	yes := d.firstThatFits(room-out.Width()-brackets, "Confirm "+total, "Confirm")
	if d.armed() {
		return append(out, button(yes, d.focus == onConfirm, clicksYes)...)
	}
	out = append(out, paint.In(paint.Muted, "  "+yes+"  ").Clicks(clicksYes))
	return append(out, paint.In(paint.Muted, d.firstThatFits(room-out.Width(), "not armed", "")))
}

// button shows focus by brackets as well, for terminals without colour.
func button(text string, focused bool, target string) paint.Spans {
	if focused {
		return paint.Spans{paint.In(paint.Accent|paint.Bold, "[ "+text+" ]")}.Select().Clicks(target)
	}
	return paint.Spans{paint.In(paint.Text, "  "+text+"  ").Clicks(target)}
}
