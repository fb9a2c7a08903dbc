package dashboard

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// ownCommands runs the configured commands on the row under the cursor.
type ownCommands struct {
	*shared
	links *links
	batch *batch

	// giveOver gives the terminal to a command until it has ended.
	giveOver func(c own.Command, argv []string) tea.Cmd

	ran    map[action.ID]bool // the commands that ran in this session
	cancel context.CancelFunc // of the running command; nil if none runs
}

// ownEndedMsg brings the result of a command.
type ownEndedMsg struct{ own.Result }

// ownLeftMsg says that a command has given the terminal back.
type ownLeftMsg struct {
	name string
	took time.Duration
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
func (o *ownCommands) open(ctx context.Context, c own.Command) tea.Cmd {
	argv, err := c.Argv(o.row())
	if err != nil {
		o.notices.say(warning, err.Error())
		return nil
	}
	if c.Screen && o.batch.confirming() {
		o.notices.say(warning, "a confirm is running: "+c.Name+" can have the terminal once its outcome is known")
		return nil
	}
	live := o.picture.environment().Live
	d := dialog.NewProgram(o.cfg.Actions, c, argv, o.ran[c.ID()] && !live)
	o.dialog.shown = d
	if c.Unguarded && !live {
		return o.run(ctx, d)
	}
	return nil
}

// run runs the command that a dialog shows.
func (o *ownCommands) run(ctx context.Context, d *dialog.Program) tea.Cmd {
	c := d.Command()
	if where := o.picture.environment(); where.Live && !c.Live {
		o.dialog.close()
		o.notices.say(warning, o.disabled(c))
		return nil
	}
	o.ran[c.ID()] = true
	if c.Screen {
		o.dialog.close()
		return o.giveOver(c, d.Argv())
	}
	d.Begin(time.Now())
	running, cancel := context.WithCancel(ctx)
	o.cancel = cancel
	run := o.cfg.RunCommand
	return o.work.start(running, func(ctx context.Context) tea.Msg {
		defer cancel()
		return ownEndedMsg{run(ctx, d.Argv(), o.cfg.CommandEnviron)}
	})
}

// giveOver gives the terminal to a command until it has ended.
func (m *Model) giveOver(c own.Command, argv []string) tea.Cmd {
	if m.canvas == nil {
		return nil
	}
	began := time.Now()
	taking := own.Taking{Context: m.ctx, Argv: argv, Environ: m.cfg.CommandEnviron, In: m.in, Out: m.out, Leave: m.canvas.Leave, Enter: m.canvas.Retake, SuspendInterrupts: m.cfg.SuspendInterrupts}
	return m.job.Lend(taking.Run, func(err error) tea.Msg { return ownLeftMsg{c.Name, time.Since(began), err} })
}

// update handles the end of a command.
func (o *ownCommands) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case ownEndedMsg:
		o.cancel = nil
		if d, ok := o.dialog.shown.(*dialog.Program); ok {
			d.End(msg.Result)
		}
	case ownLeftMsg:
		took := wording.Took(msg.took)
		var exit *exec.ExitError
		switch {
		case msg.err == nil:
			o.notices.say(plain, fmt.Sprintf("%s ended after %s", msg.name, took))
		case errors.As(msg.err, &exit) && exit.Exited():
			o.notices.say(warning, fmt.Sprintf("%s ended with exit code %d after %s", msg.name, exit.ExitCode(), took))
		default:
			o.notices.say(warning, msg.name+": "+msg.err.Error())
		}
	}
}
