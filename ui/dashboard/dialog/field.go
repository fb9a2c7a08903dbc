package dialog

import (
	"charm.land/bubbles/v2/textinput"
)

// withTheme makes a text field of the theme, or changes one to it. What it
// held stays.
func withTheme(old textinput.Model, p *paint) textinput.Model {
	field := textinput.New()
	field.Prompt = ""
	field.KeyMap.Paste.SetEnabled(false)
	styles := field.Styles()
	styles.Focused = textinput.StyleState{Text: p.text, Placeholder: p.faint, Suggestion: p.faint, Prompt: p.text}
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
