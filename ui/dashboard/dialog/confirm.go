package dialog

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

// Kind is how a dialog was answered.
type Kind uint8

// The kinds of answer to the confirm dialog.
const (
	None      Kind = iota // not answered
	Cancelled             // left without a yes; nothing is to be sent
	Confirmed             // the yes; given at most once a dialog
	Closed                // left after the yes; what was begun goes on
)

// Answer is what a key made of the confirm dialog. Proposal is the one that the
// dialog was opened with, whatever the store holds by now.
type Answer struct {
	Kind     Kind
	Proposal confirm.Proposal
}

const (
	// Quiet is how long the keys must have been quiet, after the dialog opened
	// and before a key that confirms.
	Quiet = 400 * time.Millisecond
	// quietSame is the same for a key that was the last one pressed as well: a
	// terminal does not tell a key held down from one pressed again, and the
	// first repeat comes up to about 0.7 s after the press.
	quietSame = time.Second
)

// What is said of a key that came too soon: first, and once the keys have been
// quiet.
const (
	tooSoon  = "Too soon: ignored. Wait a moment."
	soonOver = "Too soon: ignored. Press it again."
)

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

// Confirm is the dialog with money behind the key. It opens on Cancel, ignores
// keys until they have been quiet, ignores pasted text, and in a live
// environment has the end of the id or the total typed first.
type Confirm struct {
	pen      *paint.Line
	proposal confirm.Proposal
	live     bool
	batch    *batch // of several intents; nil for one

	phase   phase
	focus   focus
	field   textinput.Model
	now     time.Time
	lastAt  time.Time // of the last key; of the opening before the first
	lastKey string
	ready   bool // the keys have been quiet since the opening
	inFull  bool // the last drawing showed all that is agreed to
	notice  string
	heedful bool // no key is hurried any more
	at      confirm.Progress
	outcome confirm.Outcome
	spots   spots
}

// NewConfirm opens the dialog at now for what a person saw. live says that the
// environment takes real money.
func NewConfirm(t themes.Theme, seen confirm.Proposal, live bool, now time.Time) *Confirm {
	d := &Confirm{proposal: seen, live: live, now: now, lastAt: now, field: newField(32)}
	d.proposal.Cost = copyCost(seen.Cost)
	d.SetTheme(t)
	return d
}

// copyCost keeps what was seen apart from what the store goes on changing.
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

// SetTheme changes the colours.
func (d *Confirm) SetTheme(t themes.Theme) {
	d.pen = newPen(t)
}

// SetNow moves the countdown.
func (d *Confirm) SetNow(now time.Time) { d.now = now }

// Proposal is what the dialog was opened with.
func (d *Confirm) Proposal() confirm.Proposal { return d.proposal }

// Expired reports whether the confirm window has ended at the given time.
func (d *Confirm) Expired(at time.Time) bool {
	return !d.proposal.ExpiresAt.IsZero() && !at.Before(d.proposal.ExpiresAt)
}

// SetProgress shows where the confirm stands after the yes.
func (d *Confirm) SetProgress(at confirm.Progress) {
	if d.phase != ended {
		d.phase, d.at = running, at
	}
}

// SetOutcome shows how the confirm ended.
func (d *Confirm) SetOutcome(o confirm.Outcome) {
	d.phase, d.outcome = ended, o
}

// Update hands any message to the dialog. A paste is never taken; it counts as
// keys that have not been quiet.
func (d *Confirm) Update(msg tea.Msg, at time.Time) Answer {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return d.Key(msg, at)
	case tea.PasteMsg:
		d.lastAt, d.lastKey = at, ""
		if d.phase == asking {
			d.notice = "Pasted text is ignored: type it."
		}
	}
	return d.answer(None)
}

// Hurried takes a key that may have been typed before the dialog was seen: it
// does nothing but begin the quiet time anew. An escape leaves all the same, as
// nothing is sent by that.
func (d *Confirm) Hurried(key tea.KeyPressMsg, at time.Time) Kind {
	d.now, d.lastAt, d.lastKey, d.heedful = at, at, key.String(), false
	switch {
	case d.phase != asking:
	case key.String() == "esc":
		return Cancelled
	default:
		d.notice = tooSoon
	}
	return None
}

// Heed tells that keys are no longer taken for hurried ones.
func (d *Confirm) Heed() { d.heedful = true }

// Key decides what a key that was pressed at the given time means.
func (d *Confirm) Key(key tea.KeyPressMsg, at time.Time) Answer {
	name := key.String()
	since, same := at.Sub(d.lastAt), name == d.lastKey
	d.heedful = true
	d.now, d.lastAt, d.lastKey = at, at, name
	if d.phase != asking {
		return d.keyAfter(name, since)
	}
	if !d.ready && since < Quiet {
		d.notice = tooSoon
		return d.answer(None)
	}
	d.ready, d.notice = true, ""
	if d.Expired(at) {
		return d.keyExpired(name)
	}
	if d.scrollBatch(name) {
		return d.answer(None)
	}
	calm := since >= Quiet && !key.IsRepeat && (!same || since >= quietSame)
	if d.live {
		return d.keyLive(key, calm)
	}
	return d.keyTest(key, calm)
}

func (d *Confirm) answer(kind Kind) Answer { return Answer{Kind: kind, Proposal: d.proposal} }

// keyAfter takes the keys after the yes. The key that gave it, held down, does
// not close what it opened.
func (d *Confirm) keyAfter(name string, since time.Duration) Answer {
	switch name {
	case "esc", "q":
		return d.answer(Closed)
	case "enter":
		if d.phase == ended && since >= Quiet {
			return d.answer(Closed)
		}
	}
	return d.answer(None)
}

func (d *Confirm) keyExpired(name string) Answer {
	switch name {
	case "esc", "q", "n", "enter":
		return d.answer(Cancelled)
	}
	d.focus = onCancel
	return d.answer(None)
}

func (d *Confirm) keyTest(key tea.KeyPressMsg, calm bool) Answer {
	switch key.String() {
	case "esc", "q", "n", "enter":
		return d.answer(Cancelled)
	case "C":
		if key.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
			return d.yes(calm)
		}
	}
	return d.answer(None)
}

// keyLive takes the keys where money is real. Typed text goes into the field,
// but for the letters that cancel while the focus is on Cancel.
func (d *Confirm) keyLive(key tea.KeyPressMsg, calm bool) Answer {
	name := key.String()
	switch {
	case name == "esc":
		return d.answer(Cancelled)
	case name == "enter":
		return d.enter(calm)
	case name == "tab" || name == "down":
		d.moveFocus(1)
	case name == "shift+tab" || name == "up":
		d.moveFocus(-1)
	case d.focus == onCancel && (name == "q" || name == "n"):
		return d.answer(Cancelled)
	case d.focus != onField && key.Text == "":
		d.moveFocus(map[string]int{"left": -1, "right": 1}[name])
	default:
		d.setFocus(onField)
		d.field, _ = d.field.Update(scrubbed(key))
		if d.mismatched() {
			d.notice = "Neither the id's end nor the total."
			if d.batch != nil {
				d.notice = "That is not the total."
			}
		}
	}
	return d.answer(None)
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
		return d.answer(None)
	}
	return d.answer(Cancelled)
}

// yes is the only way to a Confirmed.
func (d *Confirm) yes(calm bool) Answer {
	switch {
	case d.batch != nil && d.batch.seen < len(d.batch.all):
		d.notice = "First see the whole list: scroll, or enlarge the terminal."
	case !d.inFull:
		d.notice = "Enlarge the terminal to see it all."
	case !calm:
		d.notice = tooSoon
	case d.live && !d.armed():
		d.focus = onCancel
	default:
		d.phase, d.at = running, confirm.Progress{}
		return d.answer(Confirmed)
	}
	return d.answer(None)
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

// armed reports whether what was typed is the end of the id or the exact total.
func (d *Confirm) armed() bool {
	if !d.live {
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

// asTyped are the ways to type a total: as it is shown or without the commas between
// thousands, each with its currency or without it.
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
