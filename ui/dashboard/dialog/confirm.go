package dialog

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

// The notices for a key that came too soon: at once, and after the keys were quiet.
const (
	tooSoon  = "Too soon: ignored. Wait a moment."
	soonOver = "Too soon: ignored. Press it again."
)

// unseen is the notice for a key that would confirm something not fully visible.
const unseen = "Enlarge the terminal to see it all."

type phase uint8

const (
	asking phase = iota
	running
	ended
)

type focus uint8

const (
	onCancel focus = iota
	onField
	onConfirm
)

// Confirm is the dialog with money behind the key. It opens on Cancel, ignores keys until they
// have been quiet, and ignores pasted text. In a live environment, or after an earlier confirm of
// unknown outcome, the person must first type the end of the id or the total.
type Confirm struct {
	base
	proposal confirm.Proposal
	live     bool
	earlier  string // what became of an earlier confirm of it, in sentences; "" for none
	batch    *batch // for several intents; nil for one

	quiet   *Quiet
	phase   phase
	focus   focus
	field   textinput.Model
	now     time.Time
	inFull  bool // the last drawing showed everything that is agreed to
	notice  string
	at      confirm.Progress
	leaving bool // the yes is being taken back
	outcome confirm.Outcome
}

// NewConfirm opens the dialog for what the person saw. live is true if the environment takes
// real money. quiet belongs to the terminal, and its Begin was called.
func NewConfirm(seen confirm.Proposal, live bool, quiet *Quiet, now time.Time) *Confirm {
	d := &Confirm{proposal: seen, live: live, quiet: quiet, now: now, field: newField(32)}
	d.proposal.Cost = copyCost(seen.Cost)
	return d
}

// SetEarlier says what became of an earlier confirm of what is asked about, in sentences. Where it says anything, the
// yes must be typed, so that the totals of several intents must share a currency.
func (d *Confirm) SetEarlier(text string) error {
	if text != "" && d.batch != nil && len(d.batch.sums) > 1 {
		return errors.New("an earlier confirm of one is in doubt: mark intents of one currency at a time")
	}
	d.earlier = text
	return nil
}

// guarded reports whether the yes must be typed.
func (d *Confirm) guarded() bool { return d.live || d.earlier != "" }

// copyCost copies the costs, which the store may go on changing.
func copyCost(c api.Cost) api.Cost {
	own := func(m *api.Money) *api.Money {
		if m == nil {
			return nil
		}
		amount := *m
		return &amount
	}
	return api.Cost{
		Subtotal: own(c.Subtotal), Shipping: own(c.Shipping), Tax: own(c.Tax),
		Discount: own(c.Discount), Surcharge: own(c.Surcharge), Total: own(c.Total),
	}
}

// SetNow moves the countdown.
func (d *Confirm) SetNow(now time.Time) { d.now = now }

// Hide says that the dialog is not visible: then nothing can be confirmed.
func (d *Confirm) Hide() { d.inFull = false }

// Proposal is what the dialog was opened with.
func (d *Confirm) Proposal() confirm.Proposal { return d.proposal }

// expired reports whether the confirm window has ended at the given time.
func (d *Confirm) expired(at time.Time) bool {
	return !d.proposal.ExpiresAt.IsZero() && !at.Before(d.proposal.ExpiresAt)
}

// SetProgress shows the confirm's progress after the yes.
func (d *Confirm) SetProgress(at confirm.Progress) {
	if d.phase != ended {
		d.phase, d.at = running, at
	}
}

// SetOutcome shows how the confirm ended.
func (d *Confirm) SetOutcome(o confirm.Outcome) {
	d.phase, d.outcome = ended, o
}

// Ended is the attempt, by the audit log, whose outcome the dialog shows; "" if it shows none, or one that is unknown.
func (d *Confirm) Ended() string {
	if d.phase != ended || d.outcome.Proves() == confirm.Unproven {
		return ""
	}
	return d.outcome.Attempt
}

// Paste refuses pasted text; the root restarts the quiet period.
func (d *Confirm) Paste(string) {
	if d.phase == asking {
		d.notice = "Pasted text is ignored: type it."
	}
}

// Key handles a key pressed at the given time.
func (d *Confirm) Key(key tea.KeyPressMsg, at time.Time) Answer {
	name := key.String()
	since, calm := d.quiet.press(name, at)
	d.now = at
	switch {
	case !d.quiet.Proven():
		return d.hurried(name)
	case d.phase != asking:
		return d.keyAfter(name, since)
	}
	d.notice = ""
	calm = calm && !key.IsRepeat
	switch {
	case d.expired(at):
		return d.keyExpired(name)
	case d.scrollBatch(name):
		return Answer{}
	case d.guarded():
		return d.keyLive(key, calm)
	}
	return d.keyTest(key, calm)
}

// hurried handles a key or click that may come from before the dialog was seen: it
// does nothing, but escape still closes, as that sends nothing.
func (d *Confirm) hurried(name string) Answer {
	switch {
	case d.phase != asking:
	case name == "esc":
		return Answer{Kind: Closed}
	default:
		d.notice = tooSoon
	}
	return Answer{}
}

// keyAfter handles keys after the yes. Holding down the key that gave it does not
// close what it opened.
func (d *Confirm) keyAfter(name string, since time.Duration) Answer {
	switch name {
	case "esc", "q":
		if d.phase == running && d.at.BeforeWriting() && !d.leaving {
			d.leaving = true
			return Answer{Kind: Withdrawn}
		}
		return Answer{Kind: Closed}
	case "enter":
		if d.phase == ended && since >= quietFor {
			return Answer{Kind: Closed}
		}
	}
	return Answer{}
}

func (d *Confirm) keyExpired(name string) Answer {
	switch name {
	case "esc", "q", "n", "enter":
		return Answer{Kind: Closed}
	}
	d.focus = onCancel
	return Answer{}
}

func (d *Confirm) keyTest(key tea.KeyPressMsg, calm bool) Answer {
	switch key.String() {
	case "esc", "q", "n", "enter":
		return Answer{Kind: Closed}
	case "C":
		if key.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
			return d.yes(calm)
		}
	}
	return Answer{}
}

// keyLive handles keys where the yes must be typed. Typed text goes into the field, except
// for the letters that cancel while the focus is on Cancel.
func (d *Confirm) keyLive(key tea.KeyPressMsg, calm bool) Answer {
	name := key.String()
	switch {
	case name == "esc":
		return Answer{Kind: Closed}
	case name == "enter":
		return d.enter(calm)
	case name == "tab" || name == "down":
		d.moveFocus(1)
	case name == "shift+tab" || name == "up":
		d.moveFocus(-1)
	case d.focus == onCancel && (name == "q" || name == "n"):
		return Answer{Kind: Closed}
	case d.focus != onField && key.Text == "":
		d.moveFocus(map[string]int{"left": -1, "right": 1}[name])
	default:
		d.setFocus(onField)
		d.field = edited(d.field, key)
		if d.mismatched() {
			d.notice = "Neither the id's end nor the total."
			if d.batch != nil {
				d.notice = "That is not the total."
			}
		}
	}
	return Answer{}
}

func (d *Confirm) enter(calm bool) Answer {
	switch d.focus {
	case onConfirm:
		return d.yes(calm)
	case onField:
		d.notice = "Not typed as shown yet."
		if d.armed() {
			d.notice = "Armed: tab, then enter on Confirm."
		}
		return Answer{}
	}
	return Answer{Kind: Closed}
}

// yes is the only place that answers Confirmed.
func (d *Confirm) yes(calm bool) Answer {
	switch {
	case d.batch != nil && d.batch.seen < d.batch.length():
		d.notice = "See the whole list first: scroll, or enlarge the terminal."
	case !d.inFull:
		d.notice = unseen
	case !calm:
		d.notice = tooSoon
	case d.guarded() && !d.armed():
		d.focus = onCancel
	default:
		d.phase, d.at = running, confirm.Progress{}
		return Answer{Kind: Confirmed}
	}
	return Answer{}
}

func (d *Confirm) moveFocus(by int) {
	stops := []focus{onCancel, onField}
	if d.armed() {
		stops = append(stops, onConfirm)
	}
	at := 0
	for i, stop := range stops {
		if stop == d.focus {
			at = i
		}
	}
	d.setFocus(stops[(at+by+len(stops))%len(stops)])
}

func (d *Confirm) setFocus(f focus) {
	d.focus = f
	if f == onField {
		d.field.Focus()
	} else {
		d.field.Blur()
	}
}

// armed reports whether the id's end or the exact total was typed.
func (d *Confirm) armed() bool {
	if !d.guarded() {
		return false
	}
	typed, tail := d.field.Value(), lastFour(string(d.proposal.ID))
	if tail != "" && typed == tail {
		return true
	}
	typed = strings.ToUpper(strings.ReplaceAll(typed, " ", ""))
	return typed != "" && slices.Contains(asTyped(d.proposal.Total), typed)
}

func (d *Confirm) mismatched() bool {
	typed := strings.ToUpper(strings.ReplaceAll(d.field.Value(), " ", ""))
	begins := func(total string) bool { return strings.HasPrefix(total, typed) }
	return utf8.RuneCountInString(typed) >= 4 && !d.armed() && !slices.ContainsFunc(asTyped(d.proposal.Total), begins)
}

// asTyped are the accepted spellings of a total: as shown or without thousands
// commas, each with or without its currency.
func asTyped(total api.Money) []string {
	var all []string
	for _, amount := range []string{total.Amount(), api.Grouped(total.Amount())} {
		all = append(all, amount, amount+total.Currency)
	}
	return all
}

func lastFour(id string) string {
	all := []rune(id)
	return string(all[max(len(all)-4, 0):])
}
