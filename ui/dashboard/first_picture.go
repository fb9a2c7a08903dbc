package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// pictureSoon is how long the first frame waits for what is known. The terminal is
// made ready meanwhile. A picture that takes longer is drawn when it comes, and
// until then the screen says that it starts.
const pictureSoon = 60 * time.Millisecond

// pictureLateMsg ends the wait for the picture.
type pictureLateMsg struct{}

// awaitPicture ends the wait for the picture after a moment.
func (m *Model) awaitPicture() tea.Cmd {
	if !m.awaited {
		return nil
	}
	return after(m.ctx, pictureSoon, pictureLateMsg{})
}

// waitNoMore ends the wait for the picture with msg, if it does.
func (m *Model) waitNoMore(msg tea.Msg) {
	switch msg.(type) {
	case changesMsg, pictureLateMsg:
		m.awaited = false
	}
}
