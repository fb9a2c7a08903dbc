package dashboard

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
)

// profileSwitch switches to another account. This dashboard ends, and a new one begins for the
// other account.
type profileSwitch struct {
	*shared
	batch *batch
	to    string // the profile being prepared; "": none
	over  bool   // the next dashboard takes the screen
}

// preparedMsg says that a profile is ready, or why it is not.
type preparedMsg struct {
	name string
	err  error
}

// profiles returns the accounts to switch to.
func (s *profileSwitch) profiles() []string {
	if s.cfg.Profiles == nil {
		return nil
	}
	return s.cfg.Profiles.Names()
}

// prepare prepares a profile. Until it is ready, this account stays on the screen.
func (s *profileSwitch) prepare(ctx context.Context, name string) (tea.Cmd, error) {
	switch {
	case s.cfg.Profiles == nil:
		return nil, errors.New("there is no other account to switch to")
	case len(s.profiles()) == 0:
		return nil, errors.New("the configuration file has no profiles: a table such as [profile.staging] makes one")
	case name == s.cfg.Profiles.Current():
		return nil, errors.New(name + " is already on the screen")
	case s.to != "":
		return nil, errors.New("profile " + s.to + " is being prepared")
	}
	if why := s.bound(); why != "" {
		return nil, errors.New(why)
	}
	s.to = name
	s.notices.sayWhile(func() bool { return s.to != "" }, plain, "preparing profile "+name)
	return s.work.start(ctx, func(ctx context.Context) tea.Msg {
		return preparedMsg{name, s.cfg.Profiles.Prepare(ctx, name)}
	}), nil
}

// bound says why this account cannot leave the screen now; "" if it can.
func (s *profileSwitch) bound() string {
	switch {
	case s.cfg.Bound != "":
		return s.cfg.Bound
	case s.cfg.recordingState().On:
		return "a recording is of one account: end it first, with " + s.cfg.Actions.KeyOf(action.Record)
	case s.batch.confirming() || s.batch.queue != nil:
		return "a confirm is running: switch once its outcome is known"
	case s.dialog.confirm() != nil:
		return "a dialog asks about a confirm: answer that first"
	}
	return ""
}

// switchTo gives the screen to the prepared profile.
func (s *profileSwitch) switchTo(msg preparedMsg) tea.Cmd {
	s.to = ""
	why := s.bound()
	if msg.err != nil {
		why = msg.err.Error()
	}
	if why != "" {
		s.notices.say(warning, "not switched to "+msg.name+": "+why)
		return nil
	}
	s.cfg.Profiles.Switch()
	s.over = true
	return tea.Quit
}
