package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

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

// dialogKey passes a key to the dialog. Ctrl+c quits, except in the palette, which it closes.
// The key that opened a menu chooses.
func (m *Model) dialogKey(key tea.KeyPressMsg) tea.Cmd {
	_, palette := m.dialog.shown.(*dialog.Palette)
	menu, _ := m.dialog.shown.(*dialog.Menu)
	if key.String() == "ctrl+c" && !palette {
		m.dialog.close()
		return m.quit()
	}
	answer := m.dialog.shown.Key(key, time.Now())
	if a, _ := m.cfg.Actions.Lookup(m.scope(), key); menu != nil && a.ID == menu.Opens() {
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
		return m.own.run(m.dialog.shown.(*dialog.Program))
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
	}
	return nil
}
