package dialog

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	cells "tillwatch/ui/dashboard/paint"
)

// withTheme makes a text field of the theme, or changes one to it. What it
// held stays.
func withTheme(old textinput.Model, p *paint) textinput.Model {
	field := textinput.New()
	field.Prompt = ""
	field.KeyMap.Paste.SetEnabled(false)
	styles := field.Styles()
	styles.Focused = textinput.StyleState{Text: p.text.style, Placeholder: p.faint.style, Suggestion: p.faint.style, Prompt: p.text.style}
	styles.Blurred = styles.Focused
	styles.Cursor.Blink = false
	styles.Cursor.Color = p.theme.Accent
	field.SetStyles(styles)
	field.CharLimit = old.CharLimit
	if old.Focused() {
		field.Focus()
	}
	field.SetValue(old.Value())
	field.SetCursor(old.Position())
	return field
}

// scrubbed takes from typed and pasted text what must not be drawn, and what
// terminals draw in different widths; it came from outside as well.
func scrubbed(msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		msg.Text = cells.Drawable(string(api.Scrub(msg.Text)))
		return msg
	case tea.PasteMsg:
		msg.Content = cells.Drawable(string(api.Scrub(msg.Content)))
		return msg
	}
	return msg
}
