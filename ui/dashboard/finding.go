package dashboard

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// finder finds text in the detail.
type finder struct {
	*shared
	typed  *prompt // nil unless the text is being typed
	before string  // the text of the search before, which esc restores
	from   int     // the line of the cursor at that time
}

func (f *finder) start() {
	f.typed = &prompt{most: longestFilter}
	f.before, _ = f.board.detail.Sought()
	f.from = f.board.detail.Line()
}

// key handles a key while the text is typed; matches show at once.
func (f *finder) key(key tea.KeyPressMsg) tea.Cmd {
	switch name := key.String(); {
	case name == "enter":
		f.typed = nil
	case name == "esc", name == "backspace" && f.typed.text == "":
		f.typed = nil
		f.board.detail.Find(f.before, f.from)
	default:
		f.typed.key(key)
		f.board.detail.Find(f.typed.text, f.from)
	}
	return nil
}

// paste types pasted text, or says why it cannot.
func (f *finder) paste(text string) (cmd tea.Cmd, refused string) {
	if !f.typed.add(text) {
		refused = "the text to find may have at most " + strconv.Itoa(longestFilter) + " characters"
	}
	f.board.detail.Find(f.typed.text, f.from)
	return nil, refused
}

// next goes to the next line with the text, or with a negative number to the
// previous.
func (f *finder) next(by int) {
	wrapped := f.board.detail.FindNext(by)
	found := f.board.detail.Found()
	stays := func() bool { return f.board.detail.Found() == found }
	switch text, hits := f.board.detail.Sought(); {
	case hits == 0:
		f.notices.say(warning, "no line of the detail contains "+text)
	case wrapped && by > 0:
		f.notices.sayWhile(stays, plain, "past the end: "+found+" from the top")
	case wrapped:
		f.notices.sayWhile(stays, plain, "past the top: "+found+" from the end")
	}
}

// disabled says why there is no next line.
func (f *finder) disabled() string {
	if text, _ := f.board.detail.Sought(); text == "" {
		return "there is no text to find: " + f.cfg.Actions.KeyOf(action.FindText) + " finds a text in the detail"
	}
	return ""
}

// end ends the search, and reports whether there was one.
func (f *finder) end() bool {
	text, _ := f.board.detail.Sought()
	f.board.detail.Find("", f.board.detail.Line())
	return text != ""
}

func (f *finder) draw(l *paint.Line) []spot {
	f.typed.draw(l, "find")
	if f.typed.text != "" {
		l.Space(2).Put(paint.Text, f.board.detail.Found())
	}
	return promptHints(l, "enter keeps it   esc cancels")
}
