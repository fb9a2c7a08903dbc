package dashboard

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/pane"
)

// consent lets a person choose what to confirm, and asks for the yes.
type consent struct {
	*shared
	marks    *marks
	batch    *batch
	confirms *confirms
	details  *details
}

// mark marks or unmarks the range, the order or the intent under the cursor, and
// moves on.
func (c *consent) mark() {
	switch row := c.board.subject(); {
	case c.board.ranging():
		c.marks.toggleRange()
	case c.board.headUnder():
		c.markOrder()
	case c.marks.toggle():
		c.details.step(pane.Down)
		c.marks.stay(row)
	}
}

// disabled says why what is under the cursor cannot be confirmed now; "" if it can.
func (c *consent) disabled() string {
	if o := c.board.orderUnder(); o != nil {
		return c.batch.orderDisabled(o)
	}
	return c.confirms.disabled(c.board.intentUnder())
}

// ask asks about the intent or the order under the cursor. The dialog keeps what the
// person sees, whatever changes behind it.
func (c *consent) ask(ctx context.Context) tea.Cmd {
	if o := c.board.orderUnder(); o != nil {
		return c.askOrder(ctx, o)
	}
	in, ok := c.board.intentUnder()
	if !ok {
		return nil
	}
	seen, err := c.confirms.propose(in.ID)
	if err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	c.board.intents.SetNote(in.ID, pane.Note{})
	return c.dialog.ask(ctx, dialog.NewConfirm(seen, seen.Live, &c.dialog.quiet, time.Now()))
}

// askMarked asks about all marked intents.
func (c *consent) askMarked(ctx context.Context) tea.Cmd {
	seen := c.batch.propose()
	if len(seen) == 0 {
		return nil
	}
	d, err := dialog.NewBatch(seen, c.picture.environment().Live, &c.dialog.quiet, time.Now())
	if err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	return c.dialog.ask(ctx, d)
}

// askOrder asks about all confirmable items of an order, and shows those left out.
func (c *consent) askOrder(ctx context.Context, o *account.Order) tea.Cmd {
	seen, left := c.batch.proposeOrder(o)
	if len(seen) == 0 {
		c.notices.say(warning, c.batch.orderDisabled(o))
		return nil
	}
	whole := dialog.Order{Reference: string(o.Reference), Left: left, Failed: o.Counts[api.Failed], Partial: c.board.look.Partial}
	d, err := dialog.NewOrder(whole, seen, c.picture.environment().Live, &c.dialog.quiet, time.Now())
	if err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	for _, p := range seen {
		c.board.intents.SetNote(p.ID, pane.Note{})
	}
	return c.dialog.ask(ctx, d)
}

// follow updates the items of the order that an open dialog is about.
func (c *consent) follow() {
	d := c.dialog.confirm()
	if d == nil || d.Order() == "" {
		return
	}
	var ids []api.ID
	failed := 0
	for _, in := range c.picture.intents {
		if string(in.ReferenceID) != d.Order() {
			continue
		}
		ids = append(ids, in.ID)
		if in.State == api.Failed {
			failed++
		}
	}
	d.SetItems(ids, failed)
}

// markOrder marks or unmarks the order under the cursor, and moves on past its items.
// On the last row the cursor stays.
func (c *consent) markOrder() {
	ids := c.marks.toggleOrder()
	for range len(ids) + 1 {
		c.details.step(pane.Down)
	}
	if in, ok := c.board.intentUnder(); ok && slices.Contains(ids, in.ID) {
		c.marks.stayed = c.board.subject()
	}
}
