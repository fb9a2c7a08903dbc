package dialog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/paint"
)

// Draft describes a new intent.
type Draft struct {
	Product   string // a URL, or the name of one of the stand-in's magic products; "": any
	Quantity  int
	Reference string // "" for none
}

// Creation is the dialog for a new intent in a stand-in.
type Creation struct {
	base
	fields  [3]textinput.Model // product, quantity, reference
	at      int                // the field that is typed into
	magic   []string           // names of products
	sending bool
	refused string
}

const (
	creationWidth = 78
	creationLabel = 11
	magicLines    = 2
)

// NewCreation opens the dialog with the names of the stand-in's magic products.
func NewCreation(magic []string) *Creation {
	m := &Creation{magic: magic, fields: [3]textinput.Model{newField(2048), newField(9), newField(255)}}
	m.fields[1].SetValue("1")
	m.focus(0)
	return m
}

func (m *Creation) focus(at int) {
	m.fields[m.at].Blur()
	m.at = (at + len(m.fields)) % len(m.fields)
	m.fields[m.at].Focus()
	m.fields[m.at].CursorEnd()
}

// Draft returns what was typed. The error says that the quantity is not a whole number.
func (m *Creation) Draft() (Draft, error) {
	w := Draft{Product: strings.TrimSpace(m.fields[0].Value()), Reference: strings.TrimSpace(m.fields[2].Value())}
	var err error
	w.Quantity, err = strconv.Atoi(strings.TrimSpace(m.fields[1].Value()))
	return w, err
}

// Refuse shows why the intent was not created. The typed text stays.
func (m *Creation) Refuse(why string) { m.sending, m.refused = false, why }

// Paste types what is pasted, or says that it is too long.
func (m *Creation) Paste(text string) {
	if at := m.fields[m.at]; m.fits(at.Value(), text, at.CharLimit) {
		m.write(tea.PasteMsg{Content: text})
	}
}

func (m *Creation) write(msg tea.Msg) {
	if m.sending {
		return
	}
	m.refused = ""
	m.fields[m.at] = edited(m.fields[m.at], msg)
}

// Key types, moves between fields, or creates the intent.
func (m *Creation) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	m.said = ""
	switch key.String() {
	case "esc", "ctrl+c":
		return Answer{Kind: Closed}
	case "enter":
		return m.submit()
	case "tab", "down":
		m.focus(m.at + 1)
	case "shift+tab", "up":
		m.focus(m.at - 1)
	default:
		m.write(key)
	}
	return Answer{}
}

func (m *Creation) submit() Answer {
	if m.sending {
		return Answer{}
	}
	if _, err := m.Draft(); err != nil {
		m.focus(1)
		m.refused = "The quantity must be a whole number."
		return Answer{}
	}
	m.sending, m.refused = true, ""
	return Answer{Kind: Submitted}
}

// Click goes to a field, creates or closes.
func (m *Creation) Click(x, y int, _ time.Time) Answer {
	switch target := m.spots.at(x, y); target {
	case clicksClose:
		return Answer{Kind: Closed}
	case clicksDo:
		return m.submit()
	default:
		if at, err := strconv.Atoi(target); err == nil {
			m.focus(at)
		}
	}
	return Answer{}
}

// Size returns the size that the dialog wants, at most width by height.
func (m *Creation) Size(width, height int) (int, int) {
	return min(creationWidth, width), min(frame+9+magicLines, height)
}

// View draws it as exactly height lines of width cells.
func (m *Creation) View(l *paint.Line, width, height int) []string {
	next := "   "
	if width >= wideFoot {
		next = "   tab next   "
	}
	box := panelOf(width, "New intent of the stand-in", paint.In(paint.Muted, "enter create").Clicks(clicksDo), paint.In(paint.Muted, next), escapes("esc cancel"))
	room := box.room(width)
	body := rows(margin, paint.Spans{})
	for i, label := range []string{"Product", "Quantity", "Reference"} {
		style := paint.Muted
		if i == m.at {
			style = paint.Accent
		}
		body = append(body, row{append(paint.Spans{paint.In(style, label), paint.Blank(creationLabel - len(label))}, m.input(i, max(room-creationLabel, 1))...).Clicks(strconv.Itoa(i)), needed})
		if i == 0 {
			body = append(body, rows(sentence, m.names(room)...)...)
		}
	}
	said := paint.Wrapped(paint.Muted, "The buyer is made up. The intent counts towards the stand-in's daily limit.", room)
	switch {
	case m.sending:
		said = paint.Wrapped(paint.Text, "creating…", room)
	case m.refused != "":
		said = paint.Wrapped(paint.Warning, m.refused, room)
	}
	said = said[:min(len(said), 3)]
	body = append(append(body, rows(air, paint.Spans{})...), rows(detail, said...)...)
	for len(body) < height-frame {
		body = append(body, row{nil, margin})
	}
	body, _ = squeeze(body, height-frame)
	return m.draw(l, box, width, height, body)
}

// input draws a field, with the cursor if it has the focus.
func (m *Creation) input(i, width int) paint.Spans {
	switch value := m.fields[i].Value(); {
	case i == m.at && !m.sending:
		return typed(m.fields[i], width)
	case value != "":
		return paint.Spans{paint.In(paint.Text, paint.Drawable(value))}.Cut(width)
	}
	return paint.Spans{paint.In(paint.Faint, map[int]string{0: "any"}[i])}
}

// names are the magic products that start with the typed text, in the lines
// available.
func (m *Creation) names(room int) []paint.Spans {
	begun := strings.TrimSpace(m.fields[0].Value())
	hits := slices.DeleteFunc(slices.Clone(m.magic), func(name string) bool { return !strings.HasPrefix(name, begun) })
	text := "a URL, or a magic product: " + strings.Join(hits, ", ")
	if len(hits) == 0 {
		text = "a URL of any shop"
	}
	lines := paint.Wrapped(paint.Muted, text, max(room-creationLabel, 1))
	if len(lines) > magicLines {
		lines = lines[:magicLines]
		lines[magicLines-1] = append(lines[magicLines-1].Cut(max(room-creationLabel-2, 1)), paint.In(paint.Muted, " …"))
	}
	for len(lines) < magicLines {
		lines = append(lines, nil)
	}
	return behind(paint.Span{}, creationLabel, lines)
}
