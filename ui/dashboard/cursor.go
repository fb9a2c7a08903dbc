package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// lasting is how long a row must have been on the screen under the cursor to become the cursor's:
// nobody chooses among rows that move faster. From then on, or from the first key, the cursor moves
// only by keys and the mouse, or with its row.
const lasting = 300 * time.Millisecond

// shownRow is the row under the cursor as it was drawn.
type shownRow struct {
	in   layout.Pane
	row  pane.Subject
	from time.Time // since when it has been there; zero: nothing was drawn yet
}

// noteShown notes which row was drawn under the cursor.
func (m *Model) noteShown() {
	if in, row := m.board.focus, m.board.subject(); m.shown.from.IsZero() || in != m.shown.in || row != m.shown.row {
		m.shown = shownRow{in, row, m.cfg.Now()}
	}
}

// holdCursor keeps the cursor on its row if that has been there long enough. It comes before each
// message, while everything is as it was drawn.
func (m *Model) holdCursor() {
	if !m.shown.from.IsZero() && m.cfg.Now().Sub(m.shown.from) >= lasting {
		m.board.panes[m.board.focus].Hold(false)
	}
}

// touched keeps the cursor on its row after a key or the mouse, and brings that into sight unless
// a dialog takes the keys.
func (m *Model) touched(by tea.Msg) {
	if _, moved := by.(tea.MouseMotionMsg); !moved {
		m.board.panes[m.board.focus].Hold(!m.dialog.open())
	}
}
