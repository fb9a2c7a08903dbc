package dashboard

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/canvas"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
)

// View draws what has changed on the canvas. The library, which calls it after
// each message, draws nothing.
func (m *Model) View() tea.View {
	if !m.stale() {
		return tea.View{}
	}
	m.redraw = m.awaited
	if m.awaited {
		return tea.View{}
	}
	m.drawn = m.lines()
	if m.canvas != nil {
		m.canvas.Set(m.modes())
		m.canvas.Show(m.drawn)
	}
	return tea.View{}
}

// modes are what the terminal is told beside the cells.
func (m *Model) modes() canvas.Modes {
	return canvas.Modes{Title: m.windowTitle(), Progress: m.progress(), Mouse: !m.noMouse, Focus: m.notifies()}
}

// tellMsg is to be sent to the terminal.
type tellMsg string

// tell sends the terminal a sequence that is no cell, behind what was drawn.
func tell(sequence string) tea.Cmd { return func() tea.Msg { return tellMsg(sequence) } }

func (m *Model) stale() bool {
	if m.redraw {
		return true
	}
	for i, p := range m.panes {
		if !m.layout.Panes[i].Empty() && p.Stale() {
			return true
		}
	}
	return false
}

func (m *Model) windowTitle() string {
	title := "tillwatch"
	if env := api.Scrub(m.environment().Name); env != "" {
		title += " · " + string(env)
	}
	if n := m.picture.summary.Intents[api.AwaitingConfirmation]; n > 0 {
		title += " · " + strconv.Itoa(n) + " awaiting"
	}
	return title
}

// lines draws the screen: exactly as many lines as rows, each exactly as wide.
func (m *Model) lines() []string {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	if m.layout.TooSmall {
		return m.tooSmall()
	}
	lines := make([]string, m.height)
	var content [layout.Panes][]string
	for i, p := range m.panes {
		if !m.layout.Panes[i].Empty() {
			content[i] = p.Lines()
		}
	}
	if len(m.rows) != m.height {
		m.rows = make([]string, m.height)
	}
	for y := m.layout.Notice.Y + 1; y < m.layout.Footer.Y; y++ {
		if line, ok := m.whole(&content, y); ok {
			lines[y] = line
			continue
		}
		b := m.row[:0]
		x := 0
		for i, r := range m.layout.Panes {
			if y < r.Y || y >= r.Y+r.H || r.W <= 0 {
				continue
			}
			b = append(m.gap(b, x, r), content[i][y-r.Y]...)
			x = r.X + r.W
		}
		if x < m.width {
			b = append(b, m.end(m.width-x)...)
		}
		if m.row = b; m.rows[y] != string(b) {
			m.rows[y] = string(b)
		}
		lines[y] = m.rows[y]
	}
	lines[m.layout.Header.Y] = m.header()
	lines[m.layout.Notice.Y] = m.notice()
	lines[m.layout.Footer.Y] = m.footer()
	if m.boardHeight() < m.height {
		lines[m.height-1] = m.transportLine()
	}
	m.lay(lines)
	return lines
}

// whole returns a line that one pane fills alone, or that is blank.
func (m *Model) whole(content *[layout.Panes][]string, y int) (string, bool) {
	for i, r := range m.layout.Panes {
		if y >= r.Y && y < r.Y+r.H && r.W > 0 {
			if r.X == 0 && r.W == m.width {
				return content[i][y-r.Y], true
			}
			return "", false
		}
	}
	return m.end(m.width), true
}

// gap fills what lies between two panes side by side. A thin rule divides the
// board from the detail.
func (m *Model) gap(b []byte, x int, r layout.Rect) []byte {
	switch {
	case r.X <= x:
		return b
	case r == m.layout.Panes[layout.Detail]:
		return append(b, m.line.Start(r.X-x).Space(r.X-x-1).Put(paint.Rule, "│").String()...)
	}
	return append(b, m.blank(r.X-x)...)
}

func (m *Model) blank(n int) string {
	if m.blanks[n] == "" {
		m.blanks[n] = m.line.Start(n).String()
	}
	return m.blanks[n]
}

func (m *Model) end(n int) string {
	if m.ends[n] == "" {
		m.ends[n] = m.line.Start(n).Edge().String()
	}
	return m.ends[n]
}

// tooSmall says which size is needed.
func (m *Model) tooSmall() []string {
	need := strconv.Itoa(layout.MinWidth) + "×" + strconv.Itoa(layout.MinHeight)
	have := strconv.Itoa(m.width) + "×" + strconv.Itoa(m.height)
	text := paint.Wrap("tillwatch needs "+need+" cells, this terminal has "+have, m.width)
	lines := make([]string, m.height)
	top := max((m.height-len(text))/2, 0)
	for y := range lines {
		l := m.line.Start(m.width).Edge()
		if at := y - top; at >= 0 && at < len(text) {
			l.Space((m.width-paint.Width(text[at]))/2).Put(paint.Muted, text[at])
		}
		lines[y] = l.String()
	}
	return lines
}
