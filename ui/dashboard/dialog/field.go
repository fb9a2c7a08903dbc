package dialog

import (
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// newField makes a text field for at most this many characters.
func newField(most int) textinput.Model {
	field := textinput.New()
	field.KeyMap.Paste.SetEnabled(false)
	field.CharLimit = most
	return field
}

// fits reports whether there is room for all of a pasted text after the typed one. If not, it
// says so until the next key.
func (b *base) fits(typed, text string, most int) bool {
	if b.said = ""; utf8.RuneCountInString(typed+text) <= most {
		return true
	}
	b.said = "the pasted text is too long: " + wording.Count(most) + " characters fit here"
	return false
}

// typed draws a field of a width, with its cursor visible.
func typed(field textinput.Model, width int) paint.Spans {
	value, at := []rune(field.Value()), field.Position()
	before, after := paint.Drawable(string(value[:at])), paint.Drawable(string(value[at:]))
	if over := paint.Width(before) - (width - 1); over > 0 {
		before = ansi.TruncateLeft(before, over, "")
	}
	out := paint.Spans{paint.In(paint.Text, before), paint.In(paint.Accent|paint.Bold, "▏"), paint.In(paint.Text, after)}.Cut(width)
	return append(out, paint.Blank(width-out.Width()))
}

// edited returns a field after a key or a paste. On the last character of a word, the library's
// key for deleting a word would delete the next one, too, and panic if there is none
// (github.com/charmbracelet/bubbles/issues/1056).
func edited(field textinput.Model, msg tea.Msg) textinput.Model {
	press, isKey := msg.(tea.KeyPressMsg)
	rest := []rune(field.Value())[field.Position():]
	last := len(rest) == 1 || len(rest) > 1 && !unicode.IsSpace(rest[0]) && unicode.IsSpace(rest[1])
	if isKey && last && key.Matches(press, field.KeyMap.DeleteWordForward) {
		msg = tea.KeyPressMsg{Code: tea.KeyDelete}
	}
	field, _ = field.Update(scrubbed(msg))
	return field
}

// scrubbed removes from typed and pasted text what must not be drawn and what terminals draw in
// different widths: this text comes from outside, too.
func scrubbed(msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		msg.Text = paint.Drawable(string(api.Scrub(msg.Text)))
		return msg
	case tea.PasteMsg:
		msg.Content = paint.Drawable(string(api.Scrub(msg.Content)))
		return msg
	}
	return msg
}
