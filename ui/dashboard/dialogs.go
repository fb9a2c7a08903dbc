package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
)

// dialogs holds the one dialog that lies above the board, if any.
type dialogs struct {
	confirm *dialog.Confirm
	help    *dialog.Help
	palette *dialog.Palette
	board   *dialog.Board
	x, y    int // of its corner on the screen
}

func (d *dialogs) open() bool {
	return d.confirm != nil || d.help != nil || d.palette != nil || d.board != nil
}

func (d *dialogs) setNow(now time.Time) {
	if d.confirm != nil {
		d.confirm.SetNow(now)
	}
}

func (d *dialogs) setTheme(t themes.Theme) {
	if d.confirm != nil {
		d.confirm.SetTheme(t)
	}
	if d.help != nil {
		d.help.SetTheme(t)
	}
	if d.palette != nil {
		d.palette.SetTheme(t)
	}
	if d.board != nil {
		d.board.SetTheme(t)
	}
}

func (d *dialogs) scroll(delta int) {
	if d.help != nil && delta != 0 {
		d.help.Scroll(delta)
	}
	if d.confirm != nil && delta != 0 {
		d.confirm.Scroll(delta)
	}
	if d.board != nil && delta != 0 {
		d.board.Scroll(delta)
	}
}

// stage shows how far the confirm of the open dialog is.
func (d *dialogs) stage(msg stageMsg) {
	if d.confirm != nil && d.confirm.Proposal().ID == msg.run.id {
		d.confirm.SetProgress(msg.at)
	}
}

// outcome shows how the confirm of the open dialog ended.
func (d *dialogs) outcome(msg outcomeMsg) {
	if d.confirm != nil && d.confirm.Proposal().ID == msg.run.id {
		d.confirm.SetOutcome(msg.outcome)
	}
}

// sized is what every dialog can do.
type sized interface {
	Size(width, height int) (int, int)
	View(width, height int) []string
}

func (d *dialogs) view() sized {
	switch {
	case d.confirm != nil:
		return d.confirm
	case d.help != nil:
		return d.help
	case d.palette != nil:
		return d.palette
	case d.board != nil:
		return d.board
	}
	return nil
}

func (m *Model) openHelp() {
	m.dialog = dialogs{help: dialog.NewHelp(m.themes.current(), m.cfg.Actions, m.disabled)}
}

func (m *Model) openPalette() {
	m.dialog = dialogs{palette: dialog.NewPalette(m.themes.current(), m.cfg.Actions, m.scope(), m.disabled)}
}

// openConfirm asks about the intent under the cursor. The dialog holds what the
// person sees, whatever changes behind it.
func (m *Model) openConfirm() tea.Cmd {
	in, ok := m.board.intentUnder()
	if !ok {
		return nil
	}
	seen, err := m.confirms.propose(in.ID)
	if err != nil {
		m.notices.say(warning, err.Error())
		return nil
	}
	m.board.intents.SetNote(in.ID, pane.Note{})
	m.dialog = dialogs{confirm: dialog.NewConfirm(m.themes.current(), seen, seen.Live, time.Now())}
	return m.quiet.begin(m)
}

// openBatch asks about all that is marked.
func (m *Model) openBatch() tea.Cmd {
	seen := m.batch.propose()
	if len(seen) == 0 {
		return nil
	}
	d, err := dialog.NewBatch(m.themes.current(), seen, m.picture.environment().Live, time.Now())
	if err != nil {
		m.notices.say(warning, err.Error())
		return nil
	}
	m.dialog = dialogs{confirm: d}
	return m.quiet.begin(m)
}

// answer acts on what the dialog was answered with.
func (m *Model) answer(a dialog.Answer) tea.Cmd {
	switch a.Kind {
	case dialog.Cancelled, dialog.Closed:
		m.dialog = dialogs{}
	case dialog.Confirmed:
		if all := m.dialog.confirm.Batch(); all != nil {
			m.dialog = dialogs{}
			return m.batch.begin(m.ctx, all)
		}
		return m.confirms.begin(m.ctx, a.Proposal)
	}
	return nil
}

// dialogKey gives a key to the dialog and acts on its answer. Ctrl+c ends the
// program from anywhere.
func (m *Model) dialogKey(key tea.KeyPressMsg) tea.Cmd {
	if key.String() == "ctrl+c" && m.dialog.palette == nil {
		m.dialog = dialogs{}
		return m.quit()
	}
	switch {
	case m.dialog.confirm != nil:
		now := time.Now()
		if !m.quiet.key(now) {
			if m.dialog.confirm.Hurried(key, now) == dialog.Cancelled {
				m.dialog = dialogs{}
			}
			return nil
		}
		return m.answer(m.dialog.confirm.Update(key, now))
	case m.dialog.help != nil:
		if m.dialog.help.Key(key) {
			m.dialog = dialogs{}
		}
	case m.dialog.palette != nil:
		return m.chosen(m.dialog.palette.Update(key))
	case m.dialog.board != nil:
		m.boardKey(key)
	}
	return nil
}

// dialogClick gives a click to the dialog and acts on its answer.
func (m *Model) dialogClick(x, y int) tea.Cmd {
	x, y = x-m.dialog.x, y-m.dialog.y
	switch d := &m.dialog; {
	case d.confirm != nil:
		now := time.Now()
		return m.answer(d.confirm.Click(x, y, now, !m.quiet.key(now)))
	case d.help != nil:
		if d.help.Click(x, y) {
			m.dialog = dialogs{}
		}
	case d.palette != nil:
		return m.chosen(d.palette.Click(x, y))
	case d.board != nil:
		m.onBoard(d.board.Click(x, y))
	}
	return nil
}

func (m *Model) chosen(c dialog.Choice) tea.Cmd {
	if !c.Done {
		return nil
	}
	m.dialog = dialogs{}
	if c.ID == "" {
		return nil
	}
	return m.do(c.ID)
}

// dialogPaste gives a paste to the dialog. What follows it on its heels may be
// of the same hand: the quiet has to be proven anew.
func (m *Model) dialogPaste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.dialog.confirm != nil:
		m.dialog.confirm.Update(msg, time.Now())
		return m.quiet.begin(m)
	case m.dialog.palette != nil:
		m.dialog.palette.Update(msg)
	case m.dialog.help != nil:
		m.dialog.help.Refuse()
	case m.dialog.board != nil:
		m.dialog.board.Refuse()
	}
	return nil
}

// lay puts the dialog above the board, which steps back behind it.
func (m *Model) lay(lines []string) {
	d := m.dialog.view()
	if d == nil {
		return
	}
	for i, line := range lines {
		if i == m.board.layout.Header.Y && !m.board.layout.TooSmall || m.dialog.board != nil {
			continue // where one is stays in view, and so does what is being arranged
		}
		lines[i] = m.line.Start(m.width).Edge().Put(paint.Faint, ansi.Strip(line)).String()
	}
	w, h := d.Size(max(m.width-4, 1), max(m.height-2, 1))
	if m.width < 44 || m.height < 14 {
		w, h = d.Size(m.width, m.height)
	}
	m.dialog.x, m.dialog.y = (m.width-w)/2, max((m.height-h)/2, 0)
	paint.Splice(lines, d.View(w, h), m.dialog.x, m.dialog.y, m.width)
}
