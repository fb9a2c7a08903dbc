package pane

import (
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// cards draws the intents, each as a card of a lane or as a line of a list, with marks and
// notes.
type cards struct {
	*frame
	window      time.Duration // the confirm window, for intents without an expiry from the service
	unseenSince time.Time     // intents that changed since then are marked as unseen; zero: none
	notes       map[api.ID]Note
	marks       map[api.ID]bool
	stuck       map[api.ID]bool
	pace        map[api.IntentState]account.Pace
	widest      int // width of the widest total, in cells
	times       int // width of the widest quantity
}

// mark draws the gutter of a row.
func (d *cards) mark(l *paint.Line, row *intentRow, under bool) {
	if d.marks[row.ID] {
		if under {
			l.On(paint.Selected)
		}
		l.Put(paint.Accent, sign.Marked().Glyph)
		return
	}
	opened := d.look.Opened == Subject{Kind: OfIntent, ID: row.ID}
	if !under && !opened && !d.unseenSince.IsZero() && (row.Since.After(d.unseenSince) || row.CreatedAt.After(d.unseenSince)) {
		l.Put(paint.Accent, sign.Unseen().Glyph)
		return
	}
	d.gutter(l, under, opened, d.glows(row.turned))
}

// unread marks an intent whose state no read has returned.
const unread = "unread"

const (
	ageWidth   = 3
	moneyWidth = 11 // the least width of a total
	roomy      = 34 // the least width of a card with amount and age in one line
	failedRoom = 28 // the same for failed intents, whose second line has the reason
	someOfName = 8  // the least width of a product beside the total
)

// cardFirst draws the product and, at the right, what matters most in the lane: the amount
// of an intent to confirm, else the age in its state.
func (d *cards) cardFirst(l *paint.Line, row *intentRow, w int) {
	amount, age, crowded := d.parts(row, w)
	total, style := d.amount(row)
	total = whole(total, w)
	if crowded && row.lane == laneAwaiting {
		total, style = d.special(row, w)
		total = paint.Shorten(total, w-1-someOfName-paint.Width(times(row)))
		amount = total != ""
	}
	right, money := 0, paint.Width(total)
	if amount {
		right += money + 1
	}
	if age {
		right += ageWidth + 1
	}
	d.product(l, row, w-right)
	if amount {
		l.Space(1)
		d.glowing(l, row, total, style, money)
	}
	if age {
		l.Space(1).Right(d.ageStyle(row), d.look.ageOf(row.Intent), ageWidth)
	}
}

// parts returns what stands beside the name in the first line of a card. A total that
// would leave too little of the name is crowded out into the second line.
func (d *cards) parts(row *intentRow, w int) (amount, age, crowded bool) {
	amount = row.lane == laneAwaiting || row.lane != laneRetrieving && w >= roomy || row.lane == laneFailed && w >= failedRoom
	age = row.lane != laneAwaiting || w >= roomy
	total, _ := d.amount(row)
	room := w - paint.Width(whole(total, w)) - 1 - paint.Width(times(row))
	if age {
		room -= ageWidth + 1
	}
	name, _ := named(row.Product, row.ID)
	crowded = amount && room < min(paint.Width(name), someOfName)
	return amount && !crowded, age && !(crowded && row.lane == laneAwaiting), crowded
}

// glowing draws an amount, highlighted if it has just changed.
func (d *cards) glowing(l *paint.Line, row *intentRow, total string, style paint.Style, w int) {
	ground := l.Ground()
	if ground == paint.Base && d.glows(row.changed) {
		l.Space(w-paint.Width(total)).On(paint.Glow).Put(style, total).On(ground)
		return
	}
	l.Right(style, total, w)
}

func (d *cards) product(l *paint.Line, row *intentRow, w int) {
	name, style := named(row.Product, row.ID)
	times := times(row)
	room := w - paint.Width(times)
	if width := paint.Width(name); width < room {
		l.Put(style, name).Fit(paint.Muted, times, w-width)
		return
	}
	l.Fit(style, name, room).Put(paint.Muted, times)
}

// times returns the quantity if it is more than one.
func times(row *intentRow) string {
	if row.Quantity <= 1 {
		return ""
	}
	return " ×" + wording.Count(row.Quantity)
}

// named returns the name of a row: its product, or its id while that is unknown.
func named(product api.Text, id api.ID) (name string, style paint.Style) {
	if product == "" {
		return string(id), paint.Muted
	}
	return string(product), paint.Text
}

func (d *cards) amount(row *intentRow) (string, paint.Style) {
	switch {
	case row.Total != nil:
		return row.total, paint.Text
	case row.lane == laneAwaiting:
		return "–", paint.Muted
	}
	return "", paint.Text
}

func (d *cards) ageStyle(row *intentRow) paint.Style {
	if d.slow(row) || d.stuck[row.ID] {
		return paint.Warning
	}
	return paint.Muted
}

// cardSecond draws the merchant or the failure, and what is special.
func (d *cards) cardSecond(l *paint.Line, row *intentRow, w int) {
	text, style := d.special(row, w)
	amount, _, crowded := d.parts(row, w)
	switch {
	case crowded && row.lane == laneAwaiting:
		text, style = d.amount(row)
		text = whole(text, w)
	case text == "" && (row.lane == laneCompleted || row.lane == lanePlacing) && !amount:
		text, style = whole(row.total, w), paint.Muted
	}
	left, leftStyle := string(row.Merchant), paint.Muted
	if row.lane == laneFailed && !row.ReadAt.IsZero() {
		d.reason(l, row, w, text, style)
		return
	}
	if row.lane == laneOther {
		left, leftStyle = sign.Intent(row.State).Word, paint.Unlisted
	}
	bar := 0
	if !crowded {
		bar, text = d.windowBar(row, text, w)
	}
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
		d.drain(l.Space(1), row, style, bar-1)
	}
	if width > 0 {
		l.Space(1).Fit(style, text, width)
	}
}

// reason draws why an intent failed and, at the right, what is special about it, or else its merchant. A narrow card
// leaves the merchant what the whole reason does not need; a wide one, half of the line.
func (d *cards) reason(l *paint.Line, row *intentRow, w int, special string, style paint.Style) {
	reason := wording.Failure(row.Failure)
	width := min(paint.Width(special), w)
	left := w - 2 - paint.Width(reason)
	room := left
	if w >= wideReason {
		room = max(left, w/2)
	}
	if special == "" && room >= leastMerchant {
		special, style = shortened(string(row.Merchant), left), paint.Muted
		width = min(paint.Width(special), room)
	}
	if width == 0 {
		l.Fit(paint.Muted, reason, w)
		return
	}
	l.Fit(paint.Muted, reason+" ", w-width-1).Space(1).Fit(style, special, width) // two blanks, or … and one
}

const (
	leastMerchant = 4  // the least width of a merchant beside a reason
	wideReason    = 26 // the width from which a card shares the line between both
)

// shortened returns a merchant without its top-level domain if there is no room for that.
func shortened(merchant string, room int) string {
	dot := strings.LastIndexByte(merchant, '.')
	if dot <= 0 || paint.Width(merchant) <= room || strings.ContainsAny(merchant[dot:], " ") {
		return merchant
	}
	return merchant[:dot]
}

// whole returns an amount if it fits into w cells, else a pointer to the detail: a
// truncated amount would read as another one.
func whole(amount string, w int) string {
	if paint.Width(amount) > w {
		return "see detail"
	}
	return amount
}

// special returns the right part of a card's second line, the most important first: a
// running confirm, doubts about the state, time running out.
func (d *cards) special(row *intentRow, w int) (string, paint.Style) {
	switch note := d.notes[row.ID]; {
	case note.Text != "":
		return note.Text, note.Style
	case row.Missing:
		return "gone (404)", paint.Bad
	case row.Certainty != account.Verified:
		return unread, paint.Muted
	case row.lane == laneAwaiting:
		return d.countdown(row, w)
	case d.stuck[row.ID]:
		return "stuck", paint.Warning
	case d.slow(row):
		return "slow", paint.Warning
	}
	return "", paint.Text
}

// The end of the confirm window is near, or close, once less than this fraction of it is
// left: a third, or a ninth.
const (
	expiryNear  = 3
	expiryClose = 9
)

func (d *cards) countdown(row *intentRow, w int) (string, paint.Style) {
	if row.expires.IsZero() {
		return "", paint.Muted
	}
	left := row.expires.Sub(d.look.service())
	if left <= 0 {
		return "expired", paint.Bad
	}
	text := "expires in "
	if w < 30 {
		text = "in "
	}
	age := wording.Age(left)
	if len(age) < ageWidth {
		text += " "
	}
	return text + age, expiryStyle(left, d.window, paint.Muted)
}

// expiryStyle returns the style of a countdown; calm while the end is far.
func expiryStyle(left, window time.Duration, calm paint.Style) paint.Style {
	switch {
	case left < window/expiryClose:
		return paint.Bad
	case left < window/expiryNear:
		return paint.Warning
	}
	return calm
}

// How long a state lasts before it counts as slow, while the account has no history.
// Offers and orders have been observed to take minutes.
const (
	slowRetrieving = 10 * time.Minute
	slowPlacing    = 5 * time.Minute
)

// slow reports whether an intent has been retrieving or placing for longer than
// 95 % of the account's earlier ones.
func (d *cards) slow(row *intentRow) bool {
	if row.lane != laneRetrieving && row.lane != lanePlacing {
		return false
	}
	stay := d.look.Now.Sub(row.Since)
	if pace := d.pace[row.State]; pace.Enough() {
		return pace.Slow(stay)
	}
	return row.lane == laneRetrieving && stay >= slowRetrieving || row.lane == lanePlacing && stay >= slowPlacing
}
