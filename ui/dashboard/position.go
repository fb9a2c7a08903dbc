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

// takePosition opens what a position names.
func (m *Model) takePosition(text string) (tea.Cmd, error) {
	p, err := parsePosition(text)
	if err != nil {
		return nil, err
	}
	if there, err := m.open(p); there || err != nil {
		return nil, err
	}
	return m.ask(p)
}

// open goes to a position, and reports whether it is known.
func (m *Model) open(p position) (there bool, err error) {
	if p.kind == pane.None {
		return true, m.openPane(p)
	}
	found := m.jump.search(p.id)
	if p.kind == pane.OfOrder {
		found = m.picture.ordered(p.id)
	}
	found = slices.DeleteFunc(found, func(s pane.Subject) bool { return s.Kind != p.kind })
	if len(found) == 1 {
		m.jump.lookAt(found[0])
	}
	return len(found) == 1, nil
}

// ask has an intent read that is not known; what else is not known cannot be asked
// for.
func (m *Model) ask(p position) (tea.Cmd, error) {
	if p.kind == pane.OfIntent {
		return m.jump.to(p.id)
	}
	return nil, errors.New(p.text + " is not known here")
}

// openPane turns to a pane and filters it.
func (m *Model) openPane(p position) error {
	if n, kept := m.preferences.named(p.filter); kept {
		return m.filterBy(n)
	}
	if p.filter != "" {
		return m.filterBy(NamedFilter{Pane: p.pane.String(), Text: p.filter})
	}
	m.turnTo(p.pane)
	return nil
}

// turnTo gives a pane the focus, and what shows the whole of it the screen.
func (m *Model) turnTo(at layout.Pane) {
	switch b := m.board; {
	case at == b.focus && layout.IsView(at):
	case layout.IsView(at):
		b.toggleView(at)
	case at == layout.Quota:
		if !m.usage.whole() {
			m.usage.toggle()
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
func (m *Model) begin(now time.Time) tea.Cmd {
	at := m.beginning
	if at == nil || !m.picture.started {
		return nil
	}
	if at.since.IsZero() {
		at.since = now
	}
	there, err := m.open(at.position)
	waited, patience := now.Sub(at.since), patienceToldOf
	if at.kind == pane.OfIntent {
		patience = patienceRead
	}
	var cmd tea.Cmd
	if !there && err == nil {
		if waited < patience {
			m.notices.sayWhile(func() bool { return m.beginning != nil }, plain, "waiting for "+at.text)
			return nil
		}
		cmd, err = m.ask(at.position)
	}
	m.beginning = nil
	if err != nil {
		m.notices.say(warning, err.Error())
	}
	return cmd
}

// here is the position of what is looked at: the thing in the detail, the filter of
// the pane, a view, or the row under the cursor.
func (m *Model) here() string {
	b := m.board
	at := b.behind()
	s := b.subject()
	f := m.filters.inPane[at]
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

// copyPosition copies a command that opens what is looked at.
func (m *Model) copyPosition() tea.Cmd {
	command := "tillwatch watch --at " + shellWord(m.here())
	m.notices.say(plain, "copied: "+command)
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

// disabledPosition says why there is no position to copy.
func (m *Model) disabledPosition() string {
	if m.board.focus == layout.Detail && m.board.subject().Kind == pane.OfRequest {
		return "a request has no position: it is not kept for another run, " + m.cfg.Actions.KeyOf(action.CopyID) + " copies its id"
	}
	return ""
}
