package dashboard

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// jump goes to a typed or pasted id.
type jump struct {
	*shared
	details *details
	asker   *asker
	typed   *prompt // nil unless an id is being typed
}

func (j *jump) start() { j.typed = &prompt{most: api.MaxID} }

// key handles a key while an id is typed.
func (j *jump) key(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "enter":
		text := j.typed.text
		j.typed = nil
		cmd, err := j.to(text)
		if err != nil {
			j.notices.say(warning, err.Error())
		}
		return cmd
	case "esc":
		j.typed = nil
	default:
		j.typed.key(key)
	}
	return nil
}

// paste types pasted text, or says why it cannot.
func (j *jump) paste(text string) (cmd tea.Cmd, refused string) {
	if !j.typed.add(text) {
		refused = "an id may have at most " + strconv.Itoa(api.MaxID) + " characters"
	}
	return nil, refused
}

func (j *jump) draw(l *paint.Line) []spot {
	j.typed.draw(l, "id")
	return promptHints(l, "type or paste an id, its beginning or its end   enter goes there   esc leaves")
}

// leastAsked is how long an unknown id must be to spend a read on it.
const leastAsked = 8

// to opens the intent, shipment or event with an id. It reads an unknown id as an
// intent's. The error says why that is not possible.
func (j *jump) to(text string) (tea.Cmd, error) {
	typed := text
	if text = idWithin(text); text == "" {
		return nil, nil
	}
	if !api.Nameable(text) {
		return nil, errors.New(typed + " is not an id but looks like a path")
	}
	found := j.search(text)
	switch {
	case len(found) == 1:
		j.lookAt(found[0])
	case len(found) > 1:
		return nil, errors.New(wording.Count(len(found)) + " ids begin or end with " + text + ": type more of it")
	case j.asker.cfg.Refresh == nil || len(text) < leastAsked:
		return nil, errors.New(text + " is not known here")
	default:
		id := api.ScrubID(text)
		j.lookAt(pane.Subject{Kind: pane.OfIntent, ID: id})
		unread := func() bool {
			in, known := j.picture.intents[id]
			return !known || in.ReadAt.IsZero() && !in.Missing
		}
		j.notices.sayWhile(unread, plain, string(id)+" is not known here yet: reading it as an intent")
		return j.asker.read(id), nil
	}
	return nil, nil
}

// lookAt opens the detail of a subject and puts the cursor on it if it is on the
// board.
func (j *jump) lookAt(s pane.Subject) {
	selected := s.Kind == pane.OfIntent && j.board.intents.Select(s.ID)
	j.details.open(s)
	if selected {
		j.board.before = layout.Intents
	}
}

// idWithin extracts an id from pasted text, such as a path or an address. If the text has a step
// such as "..", it returns that, which is no id.
func idWithin(text string) string {
	text, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(text), `"',`), "?")
	id := ""
	for part := range strings.SplitSeq(text, "/") {
		if part == "." || part == ".." {
			return part
		}
		if part != "" && part != "confirm" && part != "shipments" {
			id = part
		}
	}
	return id
}

// search finds what has the id, or an id that begins or ends with it.
func (j *jump) search(text string) []pane.Subject {
	id := api.ScrubID(text)
	if _, ok := j.picture.intents[id]; ok {
		return []pane.Subject{{Kind: pane.OfIntent, ID: id}}
	}
	if _, ok := j.picture.shipments[id]; ok {
		return []pane.Subject{{Kind: pane.OfShipment, ID: id}}
	}
	if _, ok := j.board.events.Find(id); ok {
		return []pane.Subject{{Kind: pane.OfEvent, ID: id}}
	}
	var found []pane.Subject
	matches := func(id api.ID) bool {
		return strings.HasPrefix(string(id), text) || strings.HasSuffix(string(id), text)
	}
	for id := range j.picture.intents {
		if matches(id) {
			found = append(found, pane.Subject{Kind: pane.OfIntent, ID: id})
		}
	}
	for id := range j.picture.shipments {
		if matches(id) {
			found = append(found, pane.Subject{Kind: pane.OfShipment, ID: id})
		}
	}
	if len(found) == 0 {
		return j.picture.ordered(text)
	}
	return found
}
