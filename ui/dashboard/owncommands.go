package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/pane"
)

// ownCommands runs the configured commands on the row under the cursor.
type ownCommands struct {
	*shared
	links *links
	batch *batch

	// giveOver gives the terminal to a command until it has ended.
	giveOver func(c own.Command, argv []string) tea.Cmd

	ran map[action.ID]bool // the commands that ran in this session
}

// ownLeftMsg says that a command has given the terminal back, and how it ended.
type ownLeftMsg struct {
	said string
	err  error
}

// find returns the command of an action.
func (o *ownCommands) find(id action.ID) (c own.Command, ok bool) {
	for _, c := range o.cfg.Commands {
		if c.ID() == id {
			return c, true
		}
	}
	return own.Command{}, false
}

// disabled says why a command cannot run now; "" if it can.
func (o *ownCommands) disabled(c own.Command) string {
	if where := o.picture.environment(); where.Live && !c.Live {
		return c.Name + " does not run where money is real: live = true in its entry allows it"
	}
	if _, err := c.Argv(o.row()); err != nil {
		return err.Error()
	}
	return ""
}

// row returns the values of [own.Places] for the row under the cursor.
func (o *ownCommands) row() map[string]string {
	s := o.board.subject()
	row := map[string]string{}
	if found := o.links.of(s); len(found) > 0 {
		row["url"] = found[0].Link.Address
	}
	if s.Kind == pane.OfOrder {
		row["reference"] = s.Name()
	}
	in, ok := o.board.intentOf(s)
	if ok {
		row["id"], row["merchant"], row["reference"] = string(in.ID), string(in.Merchant), string(in.ReferenceID)
		if all, ok := o.cfg.Source.Intent(in.ID); ok && all.Latest != nil && len(all.Latest.OrderIDs) > 0 {
			row["order"] = string(all.Latest.OrderIDs[0])
		}
		for _, sh := range o.picture.shipmentsOf(in.ID) {
			if sh.Latest != nil && sh.Latest.Tracking != nil && row["tracking"] == "" {
				row["tracking"] = string(sh.Latest.Tracking.Number)
			}
		}
	}
	if sh := o.picture.shipments[s.ID]; s.Kind == pane.OfShipment && sh != nil && sh.Latest != nil {
		row["order"], row["tracking"] = string(sh.Latest.MarketplaceOrderID), ""
		if sh.Latest.Tracking != nil {
			row["tracking"] = string(sh.Latest.Tracking.Number)
		}
	}
	return row
}

// open shows what a command would run, unless it may run at once.
func (o *ownCommands) open(c own.Command) tea.Cmd {
	argv, err := c.Argv(o.row())
	if err != nil {
		o.notices.say(warning, err.Error())
		return nil
	}
	live := o.picture.environment().Live
	d := dialog.NewProgram(c, argv, o.ran[c.ID()] && !live)
	if c.Unguarded && !live {
		return o.run(d)
	}
	o.dialog.shown = d
	return nil
}

// run gives the terminal to the command of a dialog.
func (o *ownCommands) run(d *dialog.Program) tea.Cmd {
	o.dialog.close()
	c := d.Command()
	switch {
	case o.picture.environment().Live && !c.Live:
		o.notices.say(warning, o.disabled(c))
		return nil
	case o.batch.confirming():
		o.notices.say(warning, "a confirm is running: "+c.Name+" can have the terminal once its outcome is known")
		return nil
	}
	o.ran[c.ID()] = true
	return o.giveOver(c, d.Argv())
}

// giveOver gives the terminal to a command until it has ended.
func (m *Model) giveOver(c own.Command, argv []string) tea.Cmd {
	if m.canvas == nil {
		return nil
	}
	taking := own.Taking{
		Name: c.Name, Argv: argv, Environ: m.cfg.CommandEnviron, In: m.in, Out: m.out,
		Leave: m.canvas.Leave, Enter: m.canvas.Retake, SuspendInterrupts: m.cfg.SuspendInterrupts,
	}
	return m.job.Lend(func() error { return taking.Run(m.ctx) },
		func(err error) tea.Msg { return ownLeftMsg{taking.Ended, err} })
}

// left tells how a command ended.
func (o *ownCommands) left(msg ownLeftMsg) {
	style := plain
	if msg.err != nil {
		style = warning
	}
	o.notices.say(style, msg.said)
}
