package dashboard

import (
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// moneyLine is the line below the header, above every alert, for confirms: one whose outcome is unknown, one under
// way, or the ending of one that was unknown, until a person has seen it.
type moneyLine struct {
	*shared
	confirms *confirms
	alerting *alerting
}

// about returns the confirm that the line is about, the oldest of the loudest kind, and how many more there are like
// it; nil: there is no line.
func (n *moneyLine) about(now time.Time) (c *account.Confirm, more int) {
	for _, is := range []func(*account.Confirm) bool{
		func(c *account.Confirm) bool { return c.Unknown(now) },
		func(c *account.Confirm) bool { return c.UnderWay(now) },
		n.isNews,
	} {
		for _, each := range n.picture.summary.Confirms {
			if !is(each) {
				continue
			}
			if c != nil {
				more++
			}
			if c == nil || louder(each, c) {
				c = each
			}
		}
		if c != nil {
			return c, more
		}
	}
	return nil, 0
}

// louder reports whether one of two confirms of a kind comes before the other: the oldest, or of endings the worst, and
// then the newest.
func louder(a, b *account.Confirm) bool {
	if a.Ended.IsZero() {
		return a.Sent.Before(b.Sent)
	}
	rank := func(c *account.Confirm) int {
		switch c.End {
		case account.ConfirmLate:
			return 0
		case account.ConfirmPlaced:
			return 2
		}
		return 1
	}
	if rank(a) != rank(b) {
		return rank(a) < rank(b)
	}
	return a.Sent.After(b.Sent)
}

// isNews reports whether the outcome of a confirm was unknown, and nobody has seen how it ended. A later confirm of the
// intent takes its place.
func (n *moneyLine) isNews(c *account.Confirm) bool {
	return c.WasUnknown() && n.picture.confirmOf(c.Intent) == c && !n.alerting.memory.HasSeen(endingOf(c))
}

// endingOf identifies how a confirm ended, which a later read may show to be otherwise.
func endingOf(c *account.Confirm) string {
	if c.End == account.ConfirmLate {
		return c.Attempt + " late"
	}
	return c.Attempt
}

// see records that a person has seen the ending on the line, and reports whether there was one.
func (n *moneyLine) see(now time.Time) bool {
	c, _ := n.about(now)
	if c == nil || !n.isNews(c) {
		return false
	}
	n.seen(endingOf(c))
	return true
}

// seen records that a person has seen how a confirm ended.
func (n *moneyLine) seen(attempt string) {
	n.alerting.change(func(m *attention.Memory) { m.SeeEnding(attempt) })
}

// draw draws the line, as wide as the screen.
func (n *moneyLine) draw(l *paint.Line, width int, now time.Time) string {
	c, more := n.about(now)
	at := n.wordsOf(c, now)
	if width < shortLine {
		at.title, at.right = strings.Replace(at.title, "OUTCOME ", "", 1), strings.TrimPrefix(at.right, "known in ")
	}
	if width < roomyLine && paint.Width(at.right) > longestRight {
		at.right = ""
	}
	if more > 0 {
		at.right = strings.TrimSpace(at.right + "  + " + wording.Count(more) + " more")
	}
	first, _, _ := strings.Cut(at.rest, " · ") // what must not be cut, while there is room
	room := width - paint.Width(at.title+at.total+at.right) - len("   "+"  "+"  "+"  ")
	if room-paint.Width(first)-len("  ") >= leastOfName {
		room -= paint.Width(first) + len("  ")
	}
	name := min(mostOfName, max(room, leastOfName))
	at.what = cutEnd(at.what, name) + "  " + at.total
	l.Start(width).Edge()
	if at.style != paint.Unknown {
		l.Space(1).Put(at.style|paint.Bold, at.title).Put(paint.Text|paint.Bold, "  "+at.what)
		room := max(l.Left()-paint.Width(at.right)-3, 0)
		l.Put(paint.Muted, cutAfter("  "+at.rest, room))
		return l.Space(l.Left()-paint.Width(at.right)-1).Put(paint.Muted, at.right).String()
	}
	text := " " + at.title + "  " + at.what + "  "
	text += cutAfter(at.rest, max(width-paint.Width(text)-paint.Width(at.right)-3, 0))
	gap := max(width-paint.Width(text)-paint.Width(at.right)-1, 1)
	return l.Put(paint.Unknown, text+strings.Repeat(" ", gap)+at.right+" ").String()
}

// moneyWords is what the line says.
type moneyWords struct {
	style paint.Style
	title string // in capitals
	what  string // is bought
	total string
	rest  string // what is known, and what happens next; its end gives way first
	right string // when that is, or the key that closes the line
}

func (n *moneyLine) wordsOf(c *account.Confirm, now time.Time) moneyWords {
	name := string(c.Product)
	if name == "" {
		name = string(c.Intent)
	}
	w := moneyWords{what: name, total: wording.Amount(c.Total)}
	switch {
	case c.UnderWay(now):
		w.style, w.title = paint.Placing, "▸ CONFIRMING"
		w.rest, w.right = n.stageOf(c, now), "for "+wording.Age(now.Sub(c.Sent))
	case c.Unknown(now):
		w.style, w.title = paint.Unknown, "? OUTCOME UNKNOWN"
		w.rest = "do not buy it again · it may have been bought · sent " + n.clock(c.Sent, now) + n.by(c) + " · " + wording.Reads(c)
		w.right = n.next(c, now)
	case c.End == account.ConfirmLate:
		w.style, w.title = paint.Unknown, "! BOUGHT AFTER ALL"
		w.rest, w.right = "do not buy it again · the confirm of "+n.clock(c.Sent, now)+" counted as without effect, but reads show an order now", "esc"
	case c.End == account.ConfirmPlaced && n.placing(c):
		w.style, w.title = paint.Good, "✓ TAKEN"
		w.rest, w.right = "the order is being placed · the confirm of "+n.clock(c.Sent, now)+" was taken", "esc"
	case c.End == account.ConfirmPlaced:
		w.style, w.title = paint.Good, "✓ PLACED"
		w.rest, w.right = "the confirm of "+n.clock(c.Sent, now)+" was taken", "esc"
	case c.End == account.ConfirmNotDone:
		w.style, w.title = paint.Warning, "○ NOT TAKEN: nothing was bought"
		w.rest, w.right = "safe to confirm again · the confirm of "+n.clock(c.Sent, now)+" had no effect", "esc"
	case c.End == account.ConfirmLost:
		w.style, w.title = paint.Bad, "? NEVER KNOWN"
		w.rest, w.right = "the confirm of "+n.clock(c.Sent, now)+": the service no longer knows the intent; ask it whether it was bought", "esc"
	case c.End == account.ConfirmFailed:
		w.style, w.title = paint.Bad, "✕ THE ORDER FAILED"
		w.rest, w.right = "the confirm of "+n.clock(c.Sent, now)+" was taken", "esc"
	default:
		w.style, w.title = paint.Bad, "✕ "+strings.ToUpper(string(c.End))+": nothing was bought"
		w.rest, w.right = "the confirm of "+n.clock(c.Sent, now), "esc"
	}
	return w
}

const (
	// mostOfName bounds the product's name, so that what is known of its confirm has room.
	mostOfName, leastOfName = 32, 6
	// shortLine is the width below which the line has room for the shortest words alone.
	shortLine = 60
	// roomyLine is the width from which the line has room for more than longestRight at its end.
	roomyLine, longestRight = 110, 16
)

// placing reports whether the order of a confirm is still being placed.
func (n *moneyLine) placing(c *account.Confirm) bool {
	in := n.picture.intents[c.Intent]
	return in != nil && in.State == api.PlacingOrder
}

// stageOf says what a confirm under way waits for.
func (n *moneyLine) stageOf(c *account.Confirm, now time.Time) string {
	if run := n.confirms.runs[c.Intent]; run != nil && run.ended.IsZero() && c.Own {
		return run.at.Words(now)
	}
	return "sent" + n.by(c) + "; waiting for the answer"
}

// by names the run that sent a confirm, unless it is this one.
func (n *moneyLine) by(c *account.Confirm) string {
	if c.Own || c.Run == "" {
		return ""
	}
	return " by " + string(c.Run)
}

// next says when an unknown outcome becomes known, or what a person can do.
func (n *moneyLine) next(c *account.Confirm, now time.Time) string {
	where := n.picture.environment().Name
	switch left := settledBy(c).Sub(now); {
	case c.Agreed:
		return "known once it moves or expires"
	case where != "" && c.Where != "" && string(c.Where) != where:
		return "a run on " + string(c.Where) + " settles it"
	case !n.cfg.Armed:
		return "a run with --allow-confirm settles it"
	case left > 0:
		return "known in " + wording.Countdown(left)
	}
	return "reads go on: look at the service"
}

func (n *moneyLine) clock(at, now time.Time) string { return wording.Moment(at, now, n.cfg.Location) }

// settledBy is when reads have settled a confirm, unless they fail.
func settledBy(c *account.Confirm) time.Time {
	if c.By.IsZero() {
		return confirm.SettledBy(c.Sent)
	}
	return c.By
}

// cutAfter cuts a text at the end of one of its parts, which are set off by " · ", if it is wider than room.
func cutAfter(text string, room int) string {
	for paint.Width(text) > room {
		at := strings.LastIndex(text, " · ")
		if at < 0 {
			return cutEnd(text, room)
		}
		text = text[:at]
	}
	return text
}

// cutEnd cuts the end of a text that is wider than room.
func cutEnd(text string, room int) string {
	cut := ""
	for _, span := range (paint.Spans{paint.In(paint.Text, text)}).Cut(room) {
		cut += span.Text
	}
	return cut
}

// earlierConfirm returns the newest confirm of an intent, if its outcome is or was unknown; else nil.
func (p *picture) earlierConfirm(id api.ID, now time.Time) *account.Confirm {
	c := p.confirmOf(id)
	if c == nil || !c.Unknown(now) && !c.WasUnknown() || c.End == account.ConfirmPlaced || c.End == account.ConfirmFailed || c.End == account.ConfirmLate {
		return nil
	}
	return c
}

// confirmOf returns the newest confirm of an intent; nil if none is known.
func (p *picture) confirmOf(id api.ID) (newest *account.Confirm) {
	for _, c := range p.summary.Confirms {
		if c.Intent == id && (newest == nil || c.Sent.After(newest.Sent)) {
			newest = c
		}
	}
	return newest
}
