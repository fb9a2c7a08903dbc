package dashboard

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
)

// View draws changes on the canvas. Bubble Tea, which calls it after each message, draws
// nothing.
func (m *Model) View() tea.View {
	if !m.stale() {
		return tea.View{}
	}
	m.redraw = m.awaited
	if m.awaited {
		return tea.View{}
	}
	m.drawn = m.lines()
	m.noteShown()
	if m.canvas != nil {
		m.canvas.Set(m.modes())
		m.canvas.Show(m.drawn)
	}
	return tea.View{}
}

func (m *Model) stale() bool { return m.redraw || m.board.stale() }

// modes returns the terminal's settings other than the cells.
func (m *Model) modes() canvas.Modes {
	return canvas.Modes{
		Title: m.windowTitle(), Mouse: !m.pointer.off, Focus: m.notifies() || m.replay == nil,
		Places: m.foreign && !m.typing(), // what is typed comes as text
	}
}

// terminalMsg is a sequence for the terminal.
type terminalMsg string

// sendTerminal sends the terminal a sequence, after what was drawn.
func sendTerminal(sequence string) tea.Cmd { return func() tea.Msg { return terminalMsg(sequence) } }

func (m *Model) windowTitle() string {
	title := "tillwatch"
	if env := api.Scrub(m.picture.environment().Name); env != "" {
		title += " · " + string(env)
	}
	if n := m.picture.summary.Intents[api.AwaitingConfirmation]; n > 0 {
		title += " · " + strconv.Itoa(n) + " awaiting"
	}
	return title
}

// lines draws the screen: one line for each row, each as wide as the screen.
func (m *Model) lines() []string {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	b := m.board
	p := page{line: m.line, layout: &b.layout, width: m.width, height: m.height}
	if b.layout.TooSmall {
		m.dialog.hide()
		return p.tooSmall()
	}
	money, _ := m.money.about(m.clock)
	most := layout.MostNotice
	if money != nil {
		most--
	}
	long := m.notices.wrapped(m.width-2, most)
	b.makeRoom(len(long), money != nil)
	var content [layout.Panes][]string
	inPane := false // a pane shows what is wrong
	for i, pane := range b.panes {
		if !b.layout.Panes[i].Empty() {
			content[i] = pane.Lines()
			inPane = inPane || pane.ShowsHealth()
		}
	}
	lines := p.panes(&content)
	lines[b.layout.Header.Y] = header{m.cfg, m.picture, m.clock, m.width}.draw(m.line)
	kept := b.layout.Header.Y
	if money != nil {
		kept = b.layout.Money.Y
		lines[kept] = m.money.draw(m.line, m.width, m.clock)
	}
	notice := m.line.Start(m.width).Edge().Space(1)
	m.notices.draw(notice, m.clock, m.look.Health, inPane, m.batch, m.welcome)
	lines[b.layout.Notice.Y] = notice.String()
	for i, text := range long {
		lines[b.layout.Notice.Y+i] = m.line.Start(m.width).Edge().Space(1).Put(m.notices.toast.kind, text).String()
	}
	lines[b.layout.Footer.Y] = m.drawFooter()
	if b.height < m.height {
		lines[m.height-1] = m.replay.Draw(m.line, m.width)
	}
	if m.dialog.open() {
		m.dialog.overlay(lines, m.line, m.width, kept)
	}
	return lines
}

// drawFooter shows the text being typed, or the keys that matter here.
func (m *Model) drawFooter() string {
	l := m.line.Start(m.width).Edge().On(paint.Surface).Space(1)
	if p := m.prompt(); p != nil {
		m.footer.spots = p.draw(l)
	} else {
		m.footer.spots = m.footer.hints(l, m.scope())
	}
	return l.String()
}
