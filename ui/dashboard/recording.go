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

// recorder records what is shown, when a person asks for it.
type recorder struct {
	cfg     *Config
	notices *notices
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

// toggle starts a recording, or ends it.
func (r recorder) toggle() tea.Cmd {
	do := r.cfg.Recording.Start
	if r.cfg.recordingState().On {
		do = r.cfg.Recording.End
	}
	return func() tea.Msg {
		said, err := do()
		return recordedMsg{said, err}
	}
}

// done says what came of it.
func (r recorder) done(msg recordedMsg) {
	if msg.err != nil {
		r.notices.say(warning, "not recorded: "+msg.err.Error())
	} else {
		r.notices.sayWhile(r.untroubled, success, msg.said)
	}
}

// untroubled reports whether no recording has ended by itself.
func (r recorder) untroubled() bool { return r.cfg.recordingState().Trouble == "" }

// disabled says why nothing can be recorded.
func (r recorder) disabled() string {
	if r.cfg.Recording == nil {
		return "nothing can be recorded here"
	}
	return ""
}
