package dashboard

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
)

// finder finds text in the detail.
type finder struct {
	cfg     *Config
	pane    *pane.Detail
	notices *notices
	typed   *prompt // nil unless the text is being typed
	before  string  // what was looked for before, which esc brings back
	from    int     // the line of the cursor then
}

// do performs the actions of finding.
func (f *finder) do(id action.ID) bool {
	switch id {
	case action.FindText:
		f.start()
	case action.FindNext:
		f.next(1)
	case action.FindPrevious:
		f.next(-1)
	default:
		return false
	}
	return true
}

func (f *finder) start() {
	f.typed = &prompt{most: longestFilter}
	f.before, _ = f.pane.Sought()
	f.from = f.pane.Line()
}

// key handles a key while the text is typed; matches show at once.
func (f *finder) key(key tea.KeyPressMsg) {
	switch name := key.String(); {
	case name == "enter":
		f.typed = nil
		return
	case name == "esc", name == "backspace" && f.typed.text == "":
		f.typed = nil
		f.pane.Find(f.before, f.from)
		return
	}
	f.typed.key(key)
	f.pane.Find(f.typed.text, f.from)
}

// paste types pasted text, or says why it cannot.
func (f *finder) paste(text string) (refused string) {
	if !f.typed.add(text) {
		refused = "the text to find may have at most " + strconv.Itoa(longestFilter) + " characters"
	}
	f.pane.Find(f.typed.text, f.from)
	return refused
}

// next goes to the next line with the text, or with a negative number to the
// previous.
func (f *finder) next(by int) {
	wrapped := f.pane.FindNext(by)
	switch text, hits := f.pane.Sought(); {
	case hits == 0:
		f.notices.say(warning, "no line of the detail contains "+text)
	case wrapped && by > 0:
		f.notices.say(plain, "past the end: "+f.pane.Found()+" from the top")
	case wrapped:
		f.notices.say(plain, "past the top: "+f.pane.Found()+" from the end")
	}
}

// disabled says why there is no next line.
func (f *finder) disabled() string {
	if text, _ := f.pane.Sought(); text == "" {
		return "there is no text to find: " + f.cfg.Actions.KeyOf(action.FindText) + " finds a text in the detail"
	}
	return ""
}

// end ends the search, and reports whether there was one.
func (f *finder) end() bool {
	text, _ := f.pane.Sought()
	f.pane.Find("", f.pane.Line())
	return text != ""
}

func (f *finder) draw(l *paint.Line) []spot {
	f.typed.draw(l, "find")
	if f.typed.text != "" {
		l.Space(2).Put(paint.Text, f.pane.Found())
	}
	return promptHints(l, "enter keeps it   esc cancels")
}
