package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Recording starts and ends recordings of what is shown. Start and End are not
// called in Update; what they say is for the person.
type Recording interface {
	State() RecordingState
	Start() (said string, err error)
	End() (said string, err error)
}

// RecordingState is whether something is recorded now.
type RecordingState struct {
	On      bool
	Since   time.Time // when it was asked for
	Trouble string    // why it has ended by itself; "" when it has not
}

// recordedMsg says what came of starting or ending a recording.
type recordedMsg struct {
	said string
	err  error
}

// recordingState is that of the recording, where there can be one.
func (c *Config) recordingState() RecordingState {
	if c.Recording == nil {
		return RecordingState{}
	}
	return c.Recording.State()
}

// record starts a recording, or ends it.
func (m *Model) record() tea.Cmd {
	do := m.cfg.Recording.Start
	if m.cfg.recordingState().On {
		do = m.cfg.Recording.End
	}
	return func() tea.Msg {
		said, err := do()
		return recordedMsg{said, err}
	}
}

// recorded says what came of it, for as long as a path takes to be read.
func (m *Model) recorded(msg recordedMsg) {
	if msg.err != nil {
		m.notices.say(warning, "not recorded: "+msg.err.Error())
	} else {
		m.notices.say(success, msg.said)
	}
	m.notices.toast.until = time.Now().Add(pathFor)
}

// pathFor is how long a sentence with a path is to be read.
const pathFor = 20 * time.Second
