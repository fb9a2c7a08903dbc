package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// footerCache is the footer as last drawn: it depends on little.
type footerCache struct {
	width int
	scope action.Scope
	line  string
	spots []spot
}

// spot is what stands in the footer from one column to before another, and takes
// clicks: an action, or the key of a prompt.
type spot struct {
	from, to int
	id       action.ID
	key      rune // where there is no action
}

// press does what stands at a column of the footer.
func (f *footerCache) press(m *Model, x int) tea.Cmd {
	for _, s := range f.spots {
		switch {
		case x < s.from || x >= s.to:
		case s.id != "":
			return m.do(s.id)
		default:
			return m.key(tea.KeyPressMsg{Code: s.key})
		}
	}
	return nil
}

// promptHints ends a prompt with what its keys do, where there is room, and
// returns those that take clicks.
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

// hintGap stands between two hints of a prompt.
const hintGap = "   "

// footer shows the keys that matter here, or the filter while it is typed.
func (m *Model) footer() string {
	l := m.line.Start(m.width).Edge().On(paint.Surface).Space(1)
	switch {
	case m.filter != nil:
		m.hints = footerCache{spots: m.filterPrompt(l)}
		return l.String()
	case m.jump != nil:
		m.hints = footerCache{spots: m.jumpPrompt(l)}
		return l.String()
	}
	if m.hints.width == m.width && m.hints.scope == m.scope() {
		return m.hints.line
	}
	var spots []spot
	for i, hint := range m.cfg.Actions.Footer(m.scope(), m.width-2, m.footerReason) {
		if i > 0 {
			l.Space(action.HintGap)
		}
		from := l.At()
		l.Put(paint.Text|paint.Bold, hint.Key).Put(paint.Muted, " "+hint.Title)
		if hint.Reason != "" {
			l.Put(paint.Muted, " — "+hint.Reason)
		}
		spots = append(spots, spot{from: from, to: l.At(), id: hint.ID})
	}
	m.hints = footerCache{m.width, m.scope(), l.String(), spots}
	return m.hints.line
}

// footerReason says why nothing can be confirmed. Other reasons are told when a
// key is pressed: the footer is to stand still while the cursor moves.
func (m *Model) footerReason(id action.ID) string {
	if (id == action.Confirm || id == action.ConfirmMarked) && !m.cfg.Armed {
		return action.ReadOnlyReason
	}
	return ""
}

// filterPrompt shows the filter while it is typed, what it finds, and what of it
// is not understood.
func (m *Model) filterPrompt(l *paint.Line) []spot {
	p, ok := m.panes[m.filter.pane].(filtered)
	if !ok {
		return nil
	}
	l.Put(paint.Accent|paint.Bold, "/ ").Put(paint.Text, m.filter.text).Put(paint.Accent, "▏")
	shown, total := p.Matches()
	l.Space(2).Put(paint.Text, wording.Count(shown)).Put(paint.Muted, " of "+wording.Count(total))
	if f := m.filters[m.filter.pane]; f != nil && f.Wrong != "" {
		l.Space(2).Put(paint.Warning, "! "+f.Wrong)
		return nil
	}
	hint := "enter keeps it   esc cancels   !word excludes"
	if all := hint + hintGap + pane.Hint(p.Fields()); l.Left() > len(all)+4 {
		hint = all
	}
	return promptHints(l, hint)
}
