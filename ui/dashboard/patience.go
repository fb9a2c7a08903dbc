package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/dialog"
)

// patience proves that the keys have been quiet since a dialog with money behind
// it was first drawn. Keys carry no time: one that was typed at once and handled
// late, after a stall, looks like one that was typed late. So the first key
// counts only after a message that waited its turn behind all that had been
// typed before it.
type patience struct {
	turn   int       // of the dialog; a message of another one proves nothing
	since  time.Time // of the last key, or of the opening
	due    time.Time // of the message that is under way
	proven bool
}

// quietMsg waits its turn behind the keys.
type quietMsg struct{ turn int }

// lateBy is how late a quietMsg may be; a later one tells of a stall, and proves
// nothing of what was typed meanwhile.
const lateBy = 150 * time.Millisecond

// begin starts to wait for quiet.
func (p *patience) begin(m *Model) tea.Cmd {
	now := time.Now()
	*p = patience{turn: p.turn + 1, since: now}
	return p.wait(m, now, dialog.Quiet)
}

func (p *patience) wait(m *Model, now time.Time, d time.Duration) tea.Cmd {
	p.due = now.Add(d)
	return m.after(d, quietMsg{p.turn})
}

// key notes a key or a paste and reports whether it may count.
func (p *patience) key(at time.Time) bool {
	p.since = at
	return p.proven
}

// heard takes the message: either it proves the quiet, or another has to.
func (p *patience) heard(m *Model, msg quietMsg) tea.Cmd {
	if msg.turn != p.turn || p.proven {
		return nil
	}
	now := time.Now()
	if now.Sub(p.due) > lateBy {
		p.since = now
	}
	if left := dialog.Quiet - now.Sub(p.since); left > 0 {
		return p.wait(m, now, left)
	}
	p.proven = true
	return nil
}
