package dashboard

import (
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// filtered is a pane whose rows can be filtered.
type filtered interface {
	Fields() []pane.Field
	SetFilter(*pane.Filter)
	Matches() (shown, total int)
}

// searchable is a filtered pane that can have many rows.
type searchable interface {
	filtered
	Search(*pane.Filter) func() (keep func())
}

// filters are the panes' filters, and the one being typed.
type filters struct {
	*shared
	inPane [layout.Panes]*pane.Filter
	later  [layout.Panes]*pane.Filter // applied once its rows are found; nil: none
	typed  *typing                    // nil unless one is being typed
}

// typing is a filter that is being typed.
type typing struct {
	prompt
	pane   layout.Pane
	why    string       // why nothing can be filtered there: what is typed goes nowhere
	wrong  string       // what is wrong with it; "" if nothing is
	before *pane.Filter // esc restores it
	at     pane.Subject // and the cursor there
}

// longestFilter is the longest filter in characters.
const longestFilter = 120

func tooLong(filter string) bool { return utf8.RuneCountInString(filter) > longestFilter }

// manyRows is how many rows a regular expression may search at each key. If there are more, the
// search runs outside Update.
const manyRows = 1000

// foundMsg brings what a filter finds in a pane.
type foundMsg struct {
	pane   layout.Pane
	filter *pane.Filter
	keep   func()
}

// start begins typing the filter of the focused pane. If it cannot be filtered, the
// prompt says why but takes the typed text all the same: its letters would perform
// actions otherwise.
func (f *filters) start(why string) {
	at := f.board.focus
	f.typed = &typing{prompt: prompt{most: longestFilter}, pane: at, why: why, before: f.inPane[at], at: f.board.subject()}
	if f.typed.before != nil {
		f.typed.text = f.typed.before.Text
		if strings.HasSuffix(f.typed.text, `"`) { // the word is complete: another follows
			f.typed.text += " "
		}
	}
}

// key handles a key while a filter is typed.
func (f *filters) key(key tea.KeyPressMsg) tea.Cmd {
	t := f.typed
	switch key.String() {
	case "enter":
		if t.wrong == "" {
			f.typed = nil
			f.board.intents.Stay()
		}
		return nil
	case "esc":
		f.typed = nil
		f.set(t.pane, t.before)
		if t.at.Kind == pane.OfIntent {
			f.board.intents.Select(t.at.ID)
		}
		return nil
	case "backspace":
		if t.text == "" {
			f.typed = nil
			return nil
		}
	}
	t.key(key)
	return f.find()
}

// found applies a filter whose rows were found, unless another was set or typed since.
func (f *filters) found(msg foundMsg) {
	if f.later[msg.pane] != msg.filter {
		return
	}
	msg.keep()
	f.set(msg.pane, msg.filter)
	if f.typed == nil {
		f.board.intents.Stay()
	}
}

// paste types pasted text, or says why it cannot.
func (f *filters) paste(text string) (cmd tea.Cmd, refused string) {
	if !f.typed.add(text) {
		refused = tooLongFilter()
	}
	return f.find(), refused
}

func tooLongFilter() string {
	return "a filter may have at most " + strconv.Itoa(longestFilter) + " characters"
}

// find filters the pane by the typed text. While a regular expression is incomplete, the
// last valid filter stays, and likewise until its rows are found among many.
func (f *filters) find() tea.Cmd {
	t := f.typed
	p, ok := f.board.panes[t.pane].(filtered)
	if !ok || t.why != "" {
		return nil
	}
	to := pane.ParseFilter(t.text, p.Fields())
	if t.wrong = ""; to != nil {
		t.wrong = to.Wrong
	}
	if f.later[t.pane] = nil; to != nil && to.Broken {
		return nil
	}
	return f.use(t.pane, to)
}

// use filters a pane: at once or, if that takes long, once a search outside Update has found
// its rows.
func (f *filters) use(at layout.Pane, to *pane.Filter) tea.Cmd {
	if many, ok := f.board.panes[at].(searchable); ok && to.Slow() {
		if _, rows := many.Matches(); rows > manyRows {
			f.later[at] = to
			look := many.Search(to)
			return func() tea.Msg { return foundMsg{at, to, look()} }
		}
	}
	f.set(at, to)
	return nil
}

// show shows changes. When the picture starts over, slow filters search its rows anew.
func (f *filters) show(c *account.Changes, first bool) (found tea.Cmd) {
	before := f.inPane
	slow := func(at int) bool { return (first || c.Whole) && before[at].Slow() }
	for at := range before {
		if slow(at) {
			f.set(layout.Pane(at), nil)
		}
	}
	f.board.show(c, first)
	for at := range before {
		if slow(at) {
			found = tea.Batch(found, f.use(layout.Pane(at), before[at]))
		}
	}
	return found
}

func (f *filters) set(at layout.Pane, to *pane.Filter) {
	f.later[at] = nil
	if p, ok := f.board.panes[at].(filtered); ok {
		f.inPane[at] = to
		p.SetFilter(to)
	}
}

// clear removes the focused pane's filter, and reports whether there was one.
func (f *filters) clear() bool {
	if at := f.board.focus; f.inPane[at] == nil && f.later[at] == nil {
		return false
	}
	f.set(f.board.focus, nil)
	return true
}

// advance re-evaluates filters by age as rows grow older.
func (f *filters) advance() {
	for i, now := range f.inPane {
		if now.Aging() {
			f.board.panes[i].(filtered).SetFilter(now)
		}
	}
}

// draw shows the filter while it is typed, its matches, and what is wrong with it.
func (f *filters) draw(l *paint.Line) []spot {
	f.typed.draw(l, "/")
	p, ok := f.board.panes[f.typed.pane].(filtered)
	if !ok || f.typed.why != "" {
		l.Space(2).Put(paint.Warning, "! "+f.typed.why)
		return promptHints(l, "esc closes this")
	}
	if f.typed.wrong != "" {
		l.Space(2).Put(paint.Warning, "! "+f.typed.wrong)
		return nil
	}
	shown, total := p.Matches()
	found := wording.Count(shown)
	if f.later[f.typed.pane] != nil {
		found = "…"
	}
	l.Space(2).Put(paint.Text, found).Put(paint.Muted, " of "+wording.Count(total))
	hint := "enter keeps it   esc cancels"
	for _, more := range []string{"!word excludes", "a,b finds either", "/expression/", pane.Hint(p.Fields())} {
		if all := hint + hintGap + more; l.Left() > len(all)+4 {
			hint = all
		}
	}
	return promptHints(l, hint)
}
