package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/ui/dashboard/dialog"
)

// patience proves that the keys have been quiet since a dialog with money behind
// it was drawn on the terminal. Keys carry no time: one that was typed at once and
// handled late, after a stall or over a slow line, looks like one that was typed
// late. So the first key counts only after the terminal has answered a question:
// the question stands in the output behind the dialog, and the answer in the
// input behind all that was typed before.
type patience struct {
	turn    int       // of the dialog; a message of another one proves nothing
	since   time.Time // of the last key, or of the opening
	asked   time.Time // when the terminal was asked last
	open    int       // questions without an answer
	answers bool      // this terminal answers questions
	proven  bool
}

// quietMsg waits its turn behind the keys.
type quietMsg struct{ turn int }

// silenceMsg ends the wait for an answer.
type silenceMsg struct{ turn int }

const (
	// lateBy is how late a silenceMsg may be; a later one tells of a stall, and
	// proves nothing of what was typed meanwhile.
	lateBy = 150 * time.Millisecond
	// answerWithin is how long a terminal may take to answer before it is asked
	// again. One that has never answered is then taken for one that cannot.
	answerWithin = 2 * time.Second
)

// begin starts to wait for quiet.
func (p *patience) begin(m *Model) tea.Cmd {
	now := time.Now()
	p.turn, p.since, p.proven = p.turn+1, now, false
	return p.wait(m, dialog.Quiet)
}

func (p *patience) wait(m *Model, d time.Duration) tea.Cmd { return after(m.ctx, d, quietMsg{p.turn}) }

// key notes a key or a paste and reports whether it may count.
func (p *patience) key(at time.Time) bool {
	p.since = at
	return p.proven
}

// heard takes the message: either it was quiet, and the terminal is asked, or
// another has to come.
func (p *patience) heard(m *Model, msg quietMsg) tea.Cmd {
	if msg.turn != p.turn || p.proven || m.dialog.confirm == nil {
		return nil
	}
	now := time.Now()
	if left := dialog.Quiet - now.Sub(p.since); left > 0 {
		return p.wait(m, left)
	}
	return p.ask(m, now)
}

// ask has the terminal answer what every terminal can: its attributes (DA1).
func (p *patience) ask(m *Model, now time.Time) tea.Cmd {
	p.asked = now
	p.open++
	return tea.Batch(tell(ansi.RequestPrimaryDeviceAttributes), after(m.ctx, answerWithin, silenceMsg{p.turn}))
}

// answered takes the terminal's answer.
func (p *patience) answered(m *Model) tea.Cmd {
	p.answers = true
	p.open = max(p.open-1, 0)
	if p.proven || p.open > 0 || m.dialog.confirm == nil {
		return nil
	}
	return p.prove(m)
}

// silent takes the end of the wait for an answer: a terminal that can answer is
// asked again.
func (p *patience) silent(m *Model, msg silenceMsg) tea.Cmd {
	if msg.turn != p.turn || p.proven || p.open == 0 || m.dialog.confirm == nil {
		return nil
	}
	p.open = 0
	now := time.Now()
	if p.answers || now.Sub(p.asked) > answerWithin+lateBy {
		return p.ask(m, now)
	}
	return p.prove(m)
}

// prove holds unless a key came after the question.
func (p *patience) prove(m *Model) tea.Cmd {
	if now := time.Now(); !p.since.Before(p.asked) {
		return p.wait(m, max(dialog.Quiet-now.Sub(p.since), 0))
	}
	p.proven, m.redraw = true, true
	m.dialog.confirm.Heed()
	return nil
}
