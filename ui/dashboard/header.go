package dashboard

import (
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// slot is a part of the header with a fixed width, so that nothing moves when a value
// changes.
type slot struct {
	rank  int // lower ranks stay longer when the header is narrow
	width int
	draw  func(l *paint.Line)
}

// header is the first line: the environment, the health of the picture, and what can
// be done.
type header struct {
	cfg     *Config
	picture *picture
	clock   time.Time
	width   int
}

func (h header) draw(line *paint.Line) string {
	l := line.Start(h.width).Edge().On(h.ground())
	l.Space(1)
	h.name(l)
	l.Space(2)
	right := h.slots()
	used := 0
	for _, s := range right {
		used += s.width + h.slotGap()
	}
	h.place(l, l.Left()-used-1)
	at := h.width - used - 1
	for _, s := range right { // a word that is too wide takes from the gap behind it
		at += h.slotGap()
		s.draw(l.To(at))
		at += s.width
	}
	l.To(at)
	return l.String()
}

func (h header) ground() paint.Ground {
	if h.picture.environment().Live {
		return paint.Live
	}
	return paint.Surface
}

func (h header) slotGap() int {
	if h.width >= 120 {
		return 4
	}
	return 2
}

// place names the environment and the account, as far as there is room.
func (h header) place(l *paint.Line, room int) {
	where := h.picture.environment()
	env, owner := string(api.Scrub(where.Name)), string(api.Scrub(h.cfg.Account))
	if env == owner {
		owner = ""
	}
	money := ""
	if where.Live { // stays when the name is cut
		money = " LIVE"
	}
	if room < 3 {
		return
	}
	if paint.Width(env)+len(money)+paint.Width(owner)+3 > room {
		owner = ""
	}
	name := max(min(room-len(money), paint.Width(env)), 0)
	if name < 3 {
		name, money = 0, strings.TrimSpace(money)
	}
	l.Fit(paint.Text, env, name)
	l.Fit(paint.Text, money, min(room-name, len(money)))
	if owner != "" {
		l.Put(paint.Muted, " · ").Put(paint.Muted, owner)
	}
}

// slots chooses what fits beside the name, the most important first, and keeps the
// order.
func (h header) slots() []slot {
	all := []slot{h.apiSlot(), h.relaySlot(), h.alertSlot(), h.badgeSlot(), h.clockSlot()}
	where := h.picture.environment()
	name := paint.Width(where.Name)
	if where.Live {
		name += len(" LIVE")
	}
	room := h.width - len(" tillwatch") - 2 - min(name, 12)
	for {
		used, worst := 0, 0
		for i, s := range all {
			used += s.width + h.slotGap()
			if s.rank > all[worst].rank {
				worst = i
			}
		}
		if used <= room || len(all) == 1 {
			return all
		}
		all = append(all[:worst], all[worst+1:]...)
	}
}

// name is the program's name or, in as many cells, that the screen is being recorded
// and for how long: that must be visible at any width.
func (h header) name(l *paint.Line) {
	const width = len("tillwatch")
	state, from := h.cfg.recordingState(), l.At()
	switch {
	case state.Trouble != "":
		l.Put(paint.Bad|paint.Bold, "✕ rec")
	case state.On:
		l.Put(paint.Bad, "●").Put(paint.Text, " rec").Right(paint.Text, wording.Age(h.clock.Sub(state.Since)), width-paint.Width("● rec"))
	default:
		l.Put(paint.Text|paint.Bold, "tillwatch")
	}
	l.To(from + width)
}

func (h header) clockSlot() slot {
	return slot{3, 8, func(l *paint.Line) {
		l.Put(paint.Text, h.clock.In(h.cfg.Location).Format("15:04:05"))
	}}
}

func (h header) badgeSlot() slot {
	return slot{0, 9, func(l *paint.Line) {
		if h.cfg.Transport != nil {
			l.Right(paint.Accent|paint.Bold, "REPLAY", 9)
			return
		}
		if h.cfg.Armed {
			l.Right(paint.Warning|paint.Bold, "ARMED", 9)
			return
		}
		l.Right(paint.Muted, "READ-ONLY", 9)
	}}
}

func (h header) alertSlot() slot {
	return slot{4, 4, func(l *paint.Line) {
		n := len(h.picture.urgent)
		if n == 0 {
			return
		}
		text := "⚑ " + strconv.Itoa(n)
		if n > 99 {
			text = "⚑99+"
		}
		l.Right(paint.Warning|paint.Bold, text, 4)
	}}
}

// readsResume returns when a read may go again, if reads wait for more than a minute or the bucket
// stays empty that long; otherwise zero.
func (h header) readsResume() (at time.Time) {
	if b := h.picture.summary.Holds(h.clock); b != nil && b.Next.Sub(h.clock) > time.Minute {
		return b.Next
	}
	for _, b := range h.picture.summary.Quota {
		until := b.ObservedAt.Add(b.Reset)
		if b.Class == quota.Reads && account.LimitOf(&b) == account.LimitReads && b.Left(h.clock) <= 0 && until.Sub(h.clock) > time.Minute && until.After(at) {
			at = until
		}
	}
	return at
}

// apiSlot is the health of the service with the latency of its last answer.
func (h header) apiSlot() slot {
	status := h.picture.summary.API
	width, resume := 12, h.readsResume()
	waits := !resume.IsZero() && (status.State == account.APIHealthy || status.State == account.APISlow)
	if status.State == account.APIUnauthorized || waits {
		width = 17
	}
	return slot{2, width, func(l *paint.Line) {
		l.Put(paint.Muted, "api ")
		switch {
		case waits:
			l.Put(paint.Warning, "◐ until "+resume.In(h.cfg.Location).Format("15:04"))
		case status.State == account.APISlow:
			l.Put(paint.Muted, "◐ pacing") // no fault: the quota is for others first
		case status.State == account.APIHealthy:
			l.Put(paint.Good, "●").Right(paint.Text, pane.Latency(status.Latency), 6)
		case status.State == account.APIFailing:
			l.Put(paint.Bad|paint.Bold, "✕ failing")
		case status.State == account.APIUnauthorized:
			l.Put(paint.Bad|paint.Bold, "✕ key refused")
		default:
			l.Put(paint.Muted, "○ –")
		}
	}}
}

// relaySlot is the state of the relay; live, with the age of the last event.
func (h header) relaySlot() slot {
	feed, last := h.picture.summary.Feed, h.picture.summary.LastEvent
	width := 17
	if h.width < 60 {
		width = 6 // the sign and its word alone
	} else if feed.State == account.FeedConnecting || feed.State == account.FeedReplaying {
		width = 19
	} else if feed.State == account.FeedOff && h.picture.started && h.width < 100 {
		width = 12 // no age will follow, and the name needs the room
	}
	return slot{1, width, func(l *paint.Line) {
		if width > 6 {
			l.Put(paint.Muted, "relay ")
		}
		age := wording.Age(h.clock.Sub(feed.Since))
		if feed.Since.IsZero() {
			age = ""
		}
		s := sign.Feed(feed.State)
		switch feed.State {
		case account.FeedLive:
			l.Put(s.Style, s.Glyph+" ").Put(paint.Text, s.Word)
			if !last.IsZero() && width > 6 {
				l.Right(paint.Text, pane.Past(h.clock.Sub(last)), 5)
			}
		case account.FeedLost:
			l.Put(s.Style|paint.Bold, s.String())
			if width > 6 {
				l.Right(s.Style, age, 5)
			}
		case account.FeedRefused:
			l.Fit(s.Style|paint.Bold, s.String(), min(width, paint.Width(s.String())))
		default:
			l.Fit(s.Style, s.String(), min(width, paint.Width(s.String())))
		}
	}}
}
