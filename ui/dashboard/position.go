package dashboard

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// position names what somebody looks at, for others to open: a thing, or a pane with its
// filter.
type position struct {
	text   string
	kind   pane.Kind // None: a pane
	id     string
	pane   layout.Pane
	filter string // of the pane, or the name of a saved one; "": none
}

// positions opens positions, and copies the present one.
type positions struct {
	*shared
	filters *filters
	saved   *savedFilters
	jump    *jump
	start   *startPosition // nil once it is open, or given up
}

// kinds returns the things that a position can name; requests are not kept long enough.
func kinds() map[string]pane.Kind {
	return map[string]pane.Kind{"intent": pane.OfIntent, "shipment": pane.OfShipment, "event": pane.OfEvent, "order": pane.OfOrder}
}

// parsePosition reads a position such as intent:ID, filter:TEXT, failures or
// shipments:status:delayed.
func parsePosition(text string) (position, error) {
	text = string(api.Scrub(text))
	name, rest, _ := strings.Cut(text, ":")
	if kind := kinds()[name]; kind != pane.None && rest != "" {
		return position{text: text, kind: kind, id: rest}, nil
	}
	if name == "filter" && rest != "" {
		return position{text: text, filter: rest}, nil
	}
	if at, ok := paneCalled(name); ok {
		return position{text: text, pane: at, filter: rest}, nil
	}
	var names []string
	for p := range layout.Pane(layout.Panes) {
		if p != layout.Detail {
			names = append(names, p.String())
		}
	}
	return position{}, errors.New("a position is intent:ID, shipment:ID, event:ID, order:REFERENCE, filter:TEXT or one of " + strings.Join(names, ", ") + "; not " + text)
}

// WrongPosition says what is wrong with a position; "" if nothing is.
func WrongPosition(text string) string {
	if _, err := parsePosition(text); err != nil {
		return err.Error()
	}
	return ""
}

// openText opens a position.
func (w *positions) openText(text string) (tea.Cmd, error) {
	p, err := parsePosition(text)
	if err != nil {
		return nil, err
	}
	if there, cmd, err := w.open(p); there || err != nil {
		return cmd, err
	}
	return w.ask(p)
}

// open goes to a position. It returns false if the thing is not known.
func (w *positions) open(p position) (ok bool, cmd tea.Cmd, err error) {
	if p.kind == pane.None {
		cmd, err = w.openPane(p)
		return true, cmd, err
	}
	found := w.jump.search(p.id)
	if p.kind == pane.OfOrder {
		found = w.picture.ordered(p.id)
	}
	found = slices.DeleteFunc(found, func(s pane.Subject) bool { return s.Kind != p.kind })
	if len(found) == 1 {
		w.jump.lookAt(found[0])
	}
	return len(found) == 1, nil, nil
}

// ask reads an unknown intent; other unknown things cannot be read.
func (w *positions) ask(p position) (tea.Cmd, error) {
	if p.kind == pane.OfIntent {
		return w.jump.to(p.id)
	}
	return nil, errors.New(p.text + " is not known here")
}

// openPane gives a pane the focus and filters it.
func (w *positions) openPane(p position) (tea.Cmd, error) {
	if n, ok := w.saved.preferences.named(p.filter); ok {
		return w.saved.show(n)
	}
	if p.filter != "" {
		return w.saved.show(NamedFilter{Pane: p.pane.String(), Text: p.filter})
	}
	w.board.turnTo(p.pane)
	return nil, nil
}

// turnTo gives a pane the focus, and views and the quota the whole screen.
func (b *board) turnTo(at layout.Pane) {
	switch {
	case at == b.focus && layout.IsView(at):
	case layout.IsView(at):
		b.toggleView(at)
	case at == layout.Quota:
		if !b.quotaWhole() {
			b.toggleQuota()
		}
	default:
		b.reveal(at)
		b.setFocus(at)
	}
}

// startPosition is the position that a run was started with, until it is known.
type startPosition struct {
	position
	since time.Time // when the first picture came; zero before
}

// How long a run waits for its start position to become known. After that it reads an
// intent, and gives up on anything else.
const (
	patienceIntent = time.Second
	patienceOther  = 10 * time.Second
)

// begin goes to the position that the run was started with once it is known, or says why
// it cannot.
func (w *positions) begin(now time.Time) tea.Cmd {
	at := w.start
	if at == nil || !w.picture.started {
		return nil
	}
	if at.since.IsZero() {
		at.since = now
	}
	there, cmd, err := w.open(at.position)
	waited, patience := now.Sub(at.since), patienceOther
	if at.kind == pane.OfIntent {
		patience = patienceIntent
	}
	if !there && err == nil {
		if waited < patience {
			w.notices.sayWhile(func() bool { return w.start != nil }, plain, "waiting for "+at.text)
			return nil
		}
		cmd, err = w.ask(at.position)
	}
	w.start = nil
	if err != nil {
		w.notices.say(warning, err.Error())
	}
	return cmd
}

// here returns the present position: the thing in the detail, the filter of the pane, a
// view, or the row under the cursor.
func (w *positions) here() string {
	b := w.board
	at := b.paneBehind()
	s := b.subject()
	f := w.filters.inPane[at]
	for name, kind := range kinds() {
		if s.Kind == kind && (b.focus == layout.Detail || f == nil) {
			return name + ":" + s.Name()
		}
	}
	if f != nil {
		return at.String() + ":" + f.Text
	}
	return at.String()
}

// copy copies a command that opens the present position.
func (w *positions) copy(ctx context.Context) tea.Cmd {
	command := "tillwatch watch --at " + shellWord(w.here())
	return w.clipboard.copy(ctx, copying{text: command, kind: plain, after: ": " + command})
}

// plainWord matches a word that needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,=@+-]+$`)

// shellWord quotes a text for a POSIX shell, as one word.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// disabled says why there is no position to copy; "" if there is one.
func (w *positions) disabled() string {
	if w.board.focus == layout.Detail && w.board.subject().Kind == pane.OfRequest {
		return "a request has no position, as it is not kept between runs: " + w.cfg.Actions.KeyOf(action.CopyID) + " copies its id"
	}
	return ""
}
