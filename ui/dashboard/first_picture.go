package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// pictureSoon is how long the first frame waits for the picture. A later picture is drawn when
// it arrives; until then the screen says that it is starting.
const pictureSoon = 60 * time.Millisecond

// pictureLateMsg ends the wait for the picture.
type pictureLateMsg struct{}

// awaitPicture ends the wait for the picture after pictureSoon.
func (m *Model) awaitPicture() tea.Cmd {
	if !m.awaited {
		return nil
	}
	return after(m.ctx, pictureSoon, pictureLateMsg{})
}

// waitNoMore ends the wait if msg does.
func (m *Model) waitNoMore(msg tea.Msg) {
	switch msg.(type) {
	case changesMsg, pictureLateMsg:
		m.awaited = false
	}
}
