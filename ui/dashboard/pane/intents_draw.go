package pane

import (
	"strings"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

func (p *Intents) drawLanes() {
	p.fit()
	head := p.start()
	for _, c := range p.cells {
		p.laneHead(head.To(c.x), c)
	}
	p.push(head)
	l := p.start()
	for _, c := range p.cells {
		style := paint.Rule
		if p.focused && c.lane == p.lane {
			style = paint.Accent
		}
		l.To(c.x+1).Repeat(style, "─", c.w-1)
	}
	p.push(l)
	if p.list.Total() == 0 {
		p.nothing()
		return
	}
	if shown, _ := p.Matches(); shown == 0 && p.filter != nil {
		p.nothingMatches()
		return
	}
	for row := range p.laneRows() {
		for second := range 2 {
			l := p.start()
			for _, c := range p.cells {
				l.On(paint.Base).To(c.x)
				if row < p.cardsOf(c) {
					p.laneLine(l, c, row, second == 1)
				} else if row == p.cardsOf(c) && second == 0 {
					p.overflow(l, c)
				}
			}
			l.On(paint.Base)
			p.push(l)
		}
	}
	l = p.start()
	for _, c := range p.cells {
		if p.cardsOf(c) == p.laneRows() {
			p.overflow(l, c)
		}
	}
	p.push(l)
}

func (p *Intents) laneHead(l *paint.Line, c cell) {
	lane, m := p.lanes[c.lane], laneMark(c.lane)
	style := m.Style
	if lane.Total() == 0 {
		style = paint.Muted
	}
	if p.folds(c.lane) {
		l.Space(1).Put(style|paint.Bold, m.Glyph).Space(1).Put(paint.Muted|paint.Bold, "0")
		return
	}
	l.Space(1).Put(style|paint.Bold, m.Glyph+" "+m.Word).Space(1)
	count, of := counted(lane.Total(), p.known), ""
	switch {
	case p.filter != nil:
		count, of = wording.Count(lane.Shown()), " of "+wording.Count(lane.Total())
	case c.lane == lanePlacing && p.agents.Limit > 0 && (p.known || lane.Total() > 0):
		of = " of " + wording.Count(p.agents.Limit)
	}
	l.Put(paint.Text|paint.Bold, count)
	if l.At()+len(of) <= c.x+c.w {
		l.Put(paint.Muted, of)
	}
	if p.filter == nil {
		p.arrivals(l, c)
	}
}

// counted is a count; while not everything is known, none may mean some.
func counted(n int, known bool) string {
	if n == 0 && !known {
		return "–"
	}
	return wording.Count(n)
}

func (p *Intents) laneLine(l *paint.Line, c cell, index int, second bool) {
	lane := p.lanes[c.lane]
	rows, first := lane.Window()
	if index >= len(rows) {
		if index == 0 && !second && !p.folds(c.lane) {
			l.Space(1).Fit(paint.Muted, "–", c.w-1)
		}
		return
	}
	row := rows[index]
	at, from, to := first+index, 0, -1
	if c.lane == p.lane {
		from, to = p.span()
	}
	p.mark(l, row, p.focused && c.lane == p.lane && at == lane.Index(), from <= at && at <= to)
	if second {
		p.cardSecond(l, row, c.w-1)
	} else {
		p.cardFirst(l, row, c.w-1)
	}
}

// mark draws the gutter of a row; ranged says that it is within the range.
func (p *Intents) mark(l *paint.Line, row *intentRow, under, ranged bool) {
	if ranged && !under {
		l.On(paint.Selected).Put(paint.Accent, "┃")
		return
	}
	if p.marks[row.ID] {
		if under {
			l.On(paint.Selected)
		}
		l.Put(paint.Accent, sign.Marked().Glyph)
		return
	}
	opened := p.look.Opened == Subject{Kind: OfIntent, ID: row.ID}
	if !under && !opened && !p.unseenSince.IsZero() && (row.Since.After(p.unseenSince) || row.CreatedAt.After(p.unseenSince)) {
		l.Put(paint.Accent, sign.Unseen().Glyph)
		return
	}
	p.gutter(l, under, opened, p.glows(row.turned))
}

// unread is said of what was not read yet.
const unread = "unread"

const (
	ageWidth   = 3
	moneyWidth = 11 // of a total, at the least
	roomy      = 34 // from which a card has room for amount and age in one line
	failedRoom = 28 // the same in the lane of the failed, whose second line is taken by the reason
)

// cardFirst draws the product and, at the right, what matters most in the lane:
// the amount where it is to be confirmed, else the age in the state.
func (p *Intents) cardFirst(l *paint.Line, row *intentRow, w int) {
	total, style := p.amount(row)
	total = whole(total, w)
	amount := p.has(totalColumn) && (row.lane == laneAwaiting || row.lane != laneRetrieving && w >= roomy || row.lane == laneFailed && w >= failedRoom)
	age := p.has(ageColumn) && (row.lane != laneAwaiting || w >= roomy)
	right, money := 0, paint.Width(total)
	if amount {
		right += money + 1
	}
	if age {
		right += ageWidth + 1
	}
	p.product(l, row, w-right)
	if amount {
		l.Space(1)
		p.glowing(l, row, total, style, money)
	}
	if age {
		l.Space(1).Right(p.ageStyle(row), p.look.age(row.Since), ageWidth)
	}
}

// glowing draws an amount that has just changed on a ground of its own.
func (p *Intents) glowing(l *paint.Line, row *intentRow, total string, style paint.Style, w int) {
	ground := l.Ground()
	if ground == paint.Base && p.glows(row.changed) {
		l.Space(w-paint.Width(total)).On(paint.Glow).Put(style, total).On(ground)
		return
	}
	l.Right(style, total, w)
}

func (p *Intents) product(l *paint.Line, row *intentRow, w int) {
	name := string(row.Product)
	style := paint.Text
	if name == "" {
		name, style = string(row.ID), paint.Muted
	}
	if row.Quantity > 1 {
		times := " ×" + wording.Count(row.Quantity)
		room := w - paint.Width(times)
		if width := paint.Width(name); width < room {
			l.Put(style, name).Fit(paint.Muted, times, w-width)
			return
		}
		l.Fit(style, name, room).Put(paint.Muted, times)
		return
	}
	l.Fit(style, name, w)
}

func (p *Intents) amount(row *intentRow) (string, paint.Style) {
	switch {
	case row.Total != nil:
		return row.total, paint.Text
	case row.lane == laneAwaiting:
		return unread, paint.Muted
	}
	return "", paint.Text
}

func (p *Intents) ageStyle(row *intentRow) paint.Style {
	if p.slow(row) || p.stuck[row.ID] {
		return paint.Warning
	}
	return paint.Muted
}

// cardSecond draws the merchant, or why it failed, and what is special.
func (p *Intents) cardSecond(l *paint.Line, row *intentRow, w int) {
	text, style := p.special(row, w)
	if text == "" && p.has(totalColumn) && (row.lane == laneCompleted || row.lane == lanePlacing) && w < roomy {
		text, style = whole(row.total, w), paint.Muted
	}
	left, leftStyle := p.merchant(row), paint.Muted
	if row.lane == laneFailed && !row.ReadAt.IsZero() {
		p.reason(l, row, w, text, style)
		return
	}
	if row.lane == laneOther {
		left, leftStyle = sign.Intent(row.State).Word, paint.Unlisted
	}
	bar, text := p.windowBar(row, text, w)
	width := min(paint.Width(text), w)
	room := w - width - bar
	if width > 0 {
		room--
	}
	if row.lane != laneOther {
		left = shortened(left, room)
	}
	l.Fit(leftStyle, left, room)
	if bar > 0 {
		p.drain(l.Space(1), row, style, bar-1)
	}
	if width > 0 {
		l.Space(1).Fit(style, text, width)
	}
}

// reason draws why an intent failed and, at the right, what is special about it,
// else its merchant as far as there is room: they share it.
func (p *Intents) reason(l *paint.Line, row *intentRow, w int, special string, style paint.Style) {
	reason := wording.Failure(row.Failure)
	width := min(paint.Width(special), w)
	if special == "" && w >= leastReason {
		left := w - 1 - paint.Width(reason)
		special, style = shortened(p.merchant(row), left), paint.Muted
		width = min(paint.Width(special), max(left, w/2))
	}
	if width == 0 {
		l.Fit(paint.Muted, reason, w)
		return
	}
	l.Fit(paint.Muted, reason, w-width-1).Space(1).Fit(style, special, width)
}

// leastReason is the width below which a reason stands alone.
const leastReason = 20

// shortened is a merchant without its top-level domain where there is no room for
// it: its head tells it from the others.
func shortened(merchant string, room int) string {
	dot := strings.LastIndexByte(merchant, '.')
	if dot <= 0 || paint.Width(merchant) <= room || strings.ContainsAny(merchant[dot:], " ") {
		return merchant
	}
	return merchant[:dot]
}

// whole is an amount that fits into w cells, or a pointer to the detail: an
// amount that is cut reads as another one.
func whole(amount string, w int) string {
	if paint.Width(amount) > w {
		return "see detail"
	}
	return amount
}

// special is what stands at the right of a card's second line, the most
// important first: a confirm under way, doubts about the state, time running out.
func (p *Intents) special(row *intentRow, w int) (string, paint.Style) {
	switch note := p.notes[row.ID]; {
	case note.Text != "" && note.Bad:
		return note.Text, paint.Bad
	case note.Text != "":
		return note.Text, paint.Placing
	case row.Missing:
		return "gone (404)", paint.Bad
	case row.Certainty == account.Hinted: // its state is not known, and that stands beside it
		return "", paint.Muted
	case row.Certainty == account.Reported:
		if row.lane == laneAwaiting && row.Total == nil && p.has(totalColumn) {
			return "", paint.Muted // it stands where the amount would
		}
		return unread, paint.Muted
	case row.lane == laneAwaiting:
		return p.countdown(row, w)
	case p.stuck[row.ID]:
		return "stuck", paint.Warning
	case p.slow(row):
		return "slow", paint.Warning
	}
	return "", paint.Text
}

func (p *Intents) merchant(row *intentRow) string {
	if !p.has(merchantColumn) {
		return ""
	}
	return string(row.Merchant)
}

// The end of the confirm window is near, and close, when one in so many parts of
// it is left.
const (
	expiryNear  = 3
	expiryClose = 9
)

func (p *Intents) countdown(row *intentRow, w int) (string, paint.Style) {
	if row.expires.IsZero() {
		return "", paint.Muted
	}
	left := row.expires.Sub(p.look.Now)
	if left <= 0 {
		return "expired", paint.Bad
	}
	text := "expires in "
	if w < 30 {
		text = "in "
	}
	age := Age(left)
	if len(age) < ageWidth {
		text += " "
	}
	style := paint.Muted
	switch {
	case left < p.window/expiryClose:
		style = paint.Bad
	case left < p.window/expiryNear:
		style = paint.Warning
	}
	return text + age, style
}
