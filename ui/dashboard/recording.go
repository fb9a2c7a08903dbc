package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Recording starts and ends recordings of the screen. Start and End are not called in
// Update; said is the notice for the person.
type Recording interface {
	State() RecordingState
	Start() (said string, err error)
	End() (said string, err error)
}

// RecordingState is the state of the recording.
type RecordingState struct {
	On      bool      // the screen is being recorded
	Since   time.Time // when the recording was started
	Trouble string    // why it has ended by itself; "" if it has not
}

// recorder starts and ends a recording when a person asks for it.
type recorder struct{ *shared }

// recordedMsg brings the outcome of starting or ending a recording.
type recordedMsg struct {
	said string
	err  error
}

// recordingState returns the state of the recording; zero if there can be none.
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

// done shows the outcome.
func (r recorder) done(msg recordedMsg) {
	if msg.err != nil {
		r.notices.say(warning, "not recorded: "+msg.err.Error())
	} else {
		r.notices.sayWhile(r.untroubled, success, msg.said)
	}
}

// untroubled reports whether no recording has ended by itself.
func (r recorder) untroubled() bool { return r.cfg.recordingState().Trouble == "" }

// disabled says why nothing can be recorded; "" if something can.
func (r recorder) disabled() string {
	if r.cfg.Recording == nil {
		return "nothing can be recorded here"
	}
	return ""
}
