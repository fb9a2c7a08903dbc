package dashboard

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
)

// prompt is a text input in the footer.
type prompt struct {
	text string
	most int // the most characters
}

// key handles a key that edits the text.
func (p *prompt) key(key tea.KeyPressMsg) {
	switch key.String() {
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-size]
	case "ctrl+u", "ctrl+w":
		p.text = ""
	default:
		p.add(key.Text)
	}
}

// add appends text. It returns false if there is no room for it.
func (p *prompt) add(text string) bool {
	whole := p.text + string(api.Scrub(text))
	if utf8.RuneCountInString(whole) > p.most {
		return false
	}
	p.text = whole
	return true
}

// draw shows the text after a mark, and the cursor.
func (p *prompt) draw(l *paint.Line, mark string) {
	l.Put(paint.Accent|paint.Bold, mark+" ").Put(paint.Text, p.text).Put(paint.Accent, "▏")
}

// prompting is a part of the screen that types into the footer.
type prompting interface {
	key(tea.KeyPressMsg) tea.Cmd
	paste(text string) (cmd tea.Cmd, refused string)
	draw(*paint.Line) []spot
}

// prompt returns the part that types; nil if none does.
func (m *Model) prompt() prompting {
	switch {
	case m.filters.typed != nil:
		return m.filters
	case m.finder.typed != nil:
		return m.finder
	case m.jump.typed != nil:
		return m.jump
	}
	return nil
}

// typing reports whether keys may be text, in a prompt or in a dialog.
func (m *Model) typing() bool { return m.dialog.open() || m.prompt() != nil }

// hintGap separates the hints of a prompt.
const hintGap = "   "

// promptHints ends a prompt with the hints for its keys, if there is room, and returns
// those that can be clicked.
func promptHints(l *paint.Line, hint string) []spot {
	if l.Left() <= len(hint)+4 {
		return nil
	}
	var spots []spot
	at := l.Space(l.Left() - len(hint) - 1).At()
	l.Put(paint.Muted, hint)
	for part := range strings.SplitSeq(hint, hintGap) {
		name, _, _ := strings.Cut(part, " ")
		if key, ok := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape}[name]; ok {
			spots = append(spots, spot{from: at, to: at + len(part), key: key})
		}
		at += len(part) + len(hintGap)
	}
	return spots
}
