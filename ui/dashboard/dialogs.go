package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/paint"
)

// dialogs holds the dialog that is open above the board, if there is one. In a dialog with money
// behind it, keys count only after a pause.
type dialogs struct {
	shown dialog.Dialog // nil: none
	x, y  int           // its corner on the screen
	quiet dialog.Quiet
	turn  int // how often the pause began anew; messages of earlier turns are ignored
}

// quietMsg arrives after the keys that were pressed before it.
type quietMsg struct{ turn int }

// silenceMsg ends the wait for the terminal's answer.
type silenceMsg struct{ turn int }

func (d *dialogs) open() bool { return d.shown != nil }

func (d *dialogs) close() { d.shown = nil }

// confirm is the dialog with money behind it, or nil.
func (d *dialogs) confirm() *dialog.Confirm {
	c, _ := d.shown.(*dialog.Confirm)
	return c
}

// ask opens the dialog with money behind it.
func (d *dialogs) ask(ctx context.Context, c *dialog.Confirm) tea.Cmd {
	d.shown = c
	return d.restartQuiet(ctx)
}

// restartQuiet makes keys count again only once the terminal has answered: see [dialog.Quiet].
func (d *dialogs) restartQuiet(ctx context.Context) tea.Cmd {
	if d.confirm() == nil {
		return nil
	}
	d.turn++
	return d.next(ctx, d.quiet.Begin(time.Now()))
}

// next does the next step of the pause.
func (d *dialogs) next(ctx context.Context, s dialog.Step) tea.Cmd {
	switch {
	case s.Ask: // what every terminal can answer: its attributes (DA1)
		return tea.Batch(sendTerminal(ansi.RequestPrimaryDeviceAttributes), after(ctx, dialog.AnswerWithin, silenceMsg{d.turn}))
	case s.Wait > 0:
		return after(ctx, s.Wait, quietMsg{d.turn})
	}
	return nil
}

func (d *dialogs) waited(ctx context.Context, msg quietMsg) tea.Cmd {
	if msg.turn != d.turn || d.confirm() == nil {
		return nil
	}
	return d.next(ctx, d.quiet.Waited(time.Now()))
}

func (d *dialogs) answered(ctx context.Context) tea.Cmd {
	return d.next(ctx, d.quiet.Answered(time.Now(), d.confirm() != nil))
}

func (d *dialogs) silent(ctx context.Context, msg silenceMsg) tea.Cmd {
	if msg.turn != d.turn || d.confirm() == nil {
		return nil
	}
	return d.next(ctx, d.quiet.Silent(time.Now()))
}

// paste gives a paste to the dialog. Keys right after it may belong to it, so the
// pause begins anew.
func (d *dialogs) paste(ctx context.Context, text string) tea.Cmd {
	d.shown.Paste(text)
	return d.restartQuiet(ctx)
}

// hide says that the screen has no room for any dialog.
func (d *dialogs) hide() {
	if c := d.confirm(); c != nil {
		c.Hide()
	}
}

func (d *dialogs) setNow(now time.Time) {
	if timed, ok := d.shown.(interface{ SetNow(time.Time) }); ok {
		timed.SetNow(now)
	}
}

// scroll turns the wheel over a dialog that can be scrolled.
func (d *dialogs) scroll(delta int) {
	if s, ok := d.shown.(interface{ Scroll(lines int) }); ok && delta != 0 {
		s.Scroll(delta)
	}
}

// overlay draws the dialog over the lines of the screen, which become faint. The lines up to kept
// stay as they are, because they name the account and what may have been bought.
func (d *dialogs) overlay(lines []string, l *paint.Line, width, kept int) {
	for i, line := range lines {
		if i > kept {
			lines[i] = l.Start(width).Edge().Put(paint.Faint, ansi.Strip(line)).String()
		}
	}
	const low = 14 // rows: there it needs all of them
	top := kept
	if kept > 0 && len(lines) >= low {
		top++ // below a line about money
	}
	w, h := d.shown.Size(max(width-4, 1), max(len(lines)-max(top, 2), 1))
	if width < 44 || len(lines) < low {
		top = 0
		w, h = d.shown.Size(width, len(lines))
	}
	d.x, d.y = (width-w)/2, max((len(lines)-h)/2, top)
	paint.Splice(lines, d.shown.View(l, w, h), d.x, d.y, width)
}
