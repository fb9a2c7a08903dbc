package dashboard

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
)

// switching is the way to another account. This dashboard ends with all that it
// knows, and another one is made for that account.
type switching struct {
	to   string // being made ready; "": none
	over bool   // the next dashboard has the screen
}

// preparedMsg says that a profile is ready, or why it is not.
type preparedMsg struct {
	name string
	err  error
}

func (m *Model) profiles() []string {
	if m.cfg.Profiles == nil {
		return nil
	}
	return m.cfg.Profiles.Names()
}

// switchTo has a profile made ready. Until it is, this account stays on the screen.
func (m *Model) switchTo(name string) (tea.Cmd, error) {
	switch {
	case m.cfg.Profiles == nil:
		return nil, errors.New("there is no other account to switch to here")
	case len(m.profiles()) == 0:
		return nil, errors.New("the configuration file has no profiles: a table such as [profile.staging] makes one")
	case name == m.cfg.Profiles.Current():
		return nil, errors.New(name + " is on the screen already")
	case m.switching.to != "":
		return nil, errors.New("profile " + m.switching.to + " is being made ready")
	}
	if why := m.bound(); why != "" {
		return nil, errors.New(why)
	}
	m.switching.to = name
	m.notices.sayWhile(func() bool { return m.switching.to != "" }, plain, "making profile "+name+" ready")
	return m.beside(func(ctx context.Context) tea.Msg {
		return preparedMsg{name, m.cfg.Profiles.Prepare(ctx, name)}
	}), nil
}

// bound says why this account cannot leave the screen now; "" when it can.
func (m *Model) bound() string {
	switch {
	case m.cfg.Bound != "":
		return m.cfg.Bound
	case m.confirming() || m.batch.queue != nil:
		return "a confirm is under way: switch once its outcome is known"
	case m.dialog.confirm() != nil:
		return "a confirm is being asked for: answer that first"
	}
	return ""
}

// switchOver gives the screen to the profile that was made ready.
func (m *Model) switchOver(msg preparedMsg) tea.Cmd {
	m.switching.to = ""
	why := m.bound()
	if msg.err != nil {
		why = msg.err.Error()
	}
	if why != "" {
		m.notices.say(warning, "not switched to "+msg.name+": "+why)
		return nil
	}
	m.cfg.Profiles.Take()
	m.switching.over = true
	return tea.Quit
}

// beside does something beside the loop. Run waits for it.
func (m *Model) beside(do func(context.Context) tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	m.work.Go(func() { done <- do(m.ctx) })
	return func() tea.Msg { return <-done }
}
