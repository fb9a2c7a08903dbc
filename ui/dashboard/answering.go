package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
)

func (m *Model) help() {
	m.dialog.shown = dialog.NewHelp(m.cfg.Actions, m.disabled)
}

func (m *Model) palette() {
	p := dialog.NewPalette(m.cfg.Actions, m.scope(), m.disabled)
	p.SetVerbs(m.verbs.all())
	m.dialog.shown = p
}

func (m *Model) arrange() {
	m.dialog.shown = dialog.NewArrange(m.arranging.choices())
}

// dialogKey passes a key to the dialog. Ctrl+c quits, except in the palette, which it closes,
// and while an own command runs, which it ends. The key that opened the arranging closes it;
// the key that opened a menu chooses.
func (m *Model) dialogKey(key tea.KeyPressMsg) tea.Cmd {
	_, palette := m.dialog.shown.(*dialog.Palette)
	_, arranges := m.dialog.shown.(*dialog.Arrange)
	menu, _ := m.dialog.shown.(*dialog.Menu)
	program, _ := m.dialog.shown.(*dialog.Program)
	if key.String() == "ctrl+c" && !palette && (program == nil || !program.Running()) {
		m.dialog.close()
		return m.quit()
	}
	answer := m.dialog.shown.Key(key, time.Now())
	switch a, _ := m.cfg.Actions.Lookup(m.scope(), key); {
	case arranges && a.ID == action.Arrange:
		answer = dialog.Answer{Kind: dialog.Closed}
	case menu != nil && a.ID == menu.Opens():
		answer = menu.Choose()
	}
	return m.answer(answer)
}

// answer acts on the dialog's answer.
func (m *Model) answer(a dialog.Answer) tea.Cmd {
	switch {
	case a.Kind == dialog.Confirmed:
		c := m.dialog.confirm()
		if all := c.Batch(); all != nil {
			m.dialog.close()
			return m.batch.begin(m.ctx, all)
		}
		return m.confirms.begin(m.ctx, c.Proposal(), c)
	case a.Kind == dialog.Withdrawn:
		m.confirms.withdraw(m.dialog.confirm().Proposal().ID)
	case a.Kind == dialog.Agreed:
		return m.own.run(m.ctx, m.dialog.shown.(*dialog.Program))
	case a.Kind == dialog.Cancelled:
		m.own.cancel()
	case a.Kind == dialog.VerbChosen:
		return m.verbs.run(a.Verb, a.Argument)
	case a.Kind == dialog.Closed:
		if c := m.dialog.confirm(); c != nil && c.Ended() != "" {
			m.money.seen(c.Ended())
		}
		m.dialog.close()
		if a.Item != nil {
			return a.Item.Do()
		}
		if _, ok := m.cfg.Actions.Action(a.Do); ok {
			return m.do(a.Do)
		}
	case a.Option != nil:
		a.Option.Choose()
		m.restyle()
		if d, ok := m.dialog.shown.(*dialog.Arrange); ok { // it stays open, so that a choice can be seen and undone
			d.SetChoices(m.arranging.choices())
		}
	}
	return nil
}
