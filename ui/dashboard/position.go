package dashboard

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// position is what somebody looks at, so that another can: a thing, or a pane with
// its filter.
type position struct {
	text   string
	kind   pane.Kind // None: a pane
	id     string
	pane   layout.Pane
	filter string // of the pane, or the name of a kept one; "": none
}

// positions opens what a position names, and tells where one is.
type positions struct {
	cfg       *Config
	board     *board
	picture   *picture
	filters   *filters
	kept      *kept
	jump      *jump
	notices   *notices
	beginning *beginning // nil once the run is where it was to begin
}

// kinds are the things that a position can name; requests are not kept long enough.
func kinds() map[string]pane.Kind {
	return map[string]pane.Kind{"intent": pane.OfIntent, "shipment": pane.OfShipment, "event": pane.OfEvent, "order": pane.OfOrder}
}

// parsePosition reads intent:ID, filter:TEXT, failures, shipments:status:delayed and
// their like.
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

// WrongPosition says what is wrong with a position; "" when it can be meant.
func WrongPosition(text string) string {
	if _, err := parsePosition(text); err != nil {
		return err.Error()
	}
	return ""
}

// take opens what a position names.
func (w *positions) take(text string) (tea.Cmd, error) {
	p, err := parsePosition(text)
	if err != nil {
		return nil, err
	}
	if there, err := w.open(p); there || err != nil {
		return nil, err
	}
	return w.ask(p)
}

// open goes to a position, and reports whether it is known.
func (w *positions) open(p position) (there bool, err error) {
	if p.kind == pane.None {
		return true, w.openPane(p)
	}
	found := w.jump.search(p.id)
	if p.kind == pane.OfOrder {
		found = w.picture.ordered(p.id)
	}
	found = slices.DeleteFunc(found, func(s pane.Subject) bool { return s.Kind != p.kind })
	if len(found) == 1 {
		w.jump.lookAt(found[0])
	}
	return len(found) == 1, nil
}

// ask has an intent read that is not known; what else is not known cannot be asked
// for.
func (w *positions) ask(p position) (tea.Cmd, error) {
	if p.kind == pane.OfIntent {
		return w.jump.to(p.id)
	}
	return nil, errors.New(p.text + " is not known here")
}

// openPane turns to a pane and filters it.
func (w *positions) openPane(p position) error {
	if n, ok := w.kept.preferences.named(p.filter); ok {
		return w.kept.show(n)
	}
	if !w.board.delivers(p.pane) {
		return errors.New(noDeliveries)
	}
	if p.filter != "" {
		return w.kept.show(NamedFilter{Pane: p.pane.String(), Text: p.filter})
	}
	w.board.turnTo(p.pane)
	return nil
}

// turnTo gives a pane the focus, and what shows the whole of it the screen.
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

// beginning is the position that a run was started with, until it is known.
type beginning struct {
	position
	since time.Time // when the first picture came; zero before that
}

// How long a run waits for a position to be known. An intent is read then.
const (
	patienceRead   = time.Second
	patienceToldOf = 10 * time.Second
)

// begin goes to the position that the run was started with, or says why not. What a
// person has gone to since then stays.
func (w *positions) begin(now time.Time) tea.Cmd {
	at := w.beginning
	if at == nil || !w.picture.started {
		return nil
	}
	if at.since.IsZero() {
		at.since = now
	}
	there, err := w.open(at.position)
	waited, patience := now.Sub(at.since), patienceToldOf
	if at.kind == pane.OfIntent {
		patience = patienceRead
	}
	var cmd tea.Cmd
	if !there && err == nil {
		if waited < patience {
			w.notices.sayWhile(func() bool { return w.beginning != nil }, plain, "waiting for "+at.text)
			return nil
		}
		cmd, err = w.ask(at.position)
	}
	w.beginning = nil
	if err != nil {
		w.notices.say(warning, err.Error())
	}
	return cmd
}

// here is the position of what is looked at: the thing in the detail, the filter of
// the pane, a view, or the row under the cursor.
func (w *positions) here() string {
	b := w.board
	at := b.behind()
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

// copy copies a command that opens what is looked at.
func (w *positions) copy() tea.Cmd {
	command := "tillwatch watch --at " + shellWord(w.here())
	w.notices.say(plain, "copied: "+command)
	return sendTerminal(ansi.SetSystemClipboard(command))
}

// plainWord is what a shell takes for itself.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,=@+-]+$`)

// shellWord is a text as every POSIX shell takes it for one word.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// disabled says why there is no position to copy.
func (w *positions) disabled() string {
	if w.board.focus == layout.Detail && w.board.subject().Kind == pane.OfRequest {
		return "a request has no position, as it is not kept between runs: " + w.cfg.Actions.KeyOf(action.CopyID) + " copies its id"
	}
	return ""
}
