package dashboard

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/pane"
)

// consent lets a person choose what to confirm, and asks for the yes.
type consent struct {
	board    *board
	picture  *picture
	marks    *marks
	batch    *batch
	confirms *confirms
	details  *details
	notices  *notices
	themes   *themeChoice
	dialog   *dialogs
}

// do performs the actions that lead to a confirm.
func (c *consent) do(ctx context.Context, id action.ID) tea.Cmd {
	switch id {
	case action.Confirm:
		return c.ask(ctx)
	case action.MarkRange:
		c.marks.reach()
	case action.Mark:
		c.mark()
	case action.MarkAll:
		c.marks.all()
	case action.Unmark:
		c.marks.clear()
	case action.ConfirmMarked:
		return c.askMarked(ctx)
	case action.StopBatch:
		c.batch.stop("by hand")
	}
	return nil
}

// mark marks or unmarks the range, the order or the intent under the cursor, and
// moves on.
func (c *consent) mark() {
	switch row := c.board.subject(); {
	case c.board.ranging():
		c.marks.reach()
	case c.board.headUnder():
		c.markOrder()
	case c.marks.toggle():
		c.details.step(pane.Down)
		c.marks.stay(row)
	}
}

// disabled says why that is not possible now.
func (c *consent) disabled(id action.ID) string {
	switch id {
	case action.Confirm:
		if o := c.board.orderUnder(); o != nil {
			return c.batch.orderDisabled(o)
		}
		return c.confirms.disabled(c.board.intentUnder())
	case action.Mark:
		return c.marks.disabled()
	case action.MarkAll, action.MarkRange:
		return c.marks.allDisabled()
	case action.Unmark:
		if len(c.marks.set) == 0 {
			return "nothing is marked"
		}
	case action.ConfirmMarked:
		return c.batch.disabled()
	case action.StopBatch:
		if c.batch.queue == nil {
			return "no batch is running"
		}
	}
	return ""
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
	return c.dialog.ask(ctx, dialog.NewConfirm(c.themes.current(), seen, seen.Live, &c.dialog.quiet, time.Now()))
}

// askMarked asks about all marked intents.
func (c *consent) askMarked(ctx context.Context) tea.Cmd {
	seen := c.batch.propose()
	if len(seen) == 0 {
		return nil
	}
	d, err := dialog.NewBatch(c.themes.current(), seen, c.picture.environment().Live, &c.dialog.quiet, time.Now())
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
	whole := dialog.Order{Reference: string(o.Reference), Left: left, Partial: c.board.look.Partial}
	d, err := dialog.NewOrder(c.themes.current(), whole, seen, c.picture.environment().Live, &c.dialog.quiet, time.Now())
	if err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	for _, p := range seen {
		c.board.intents.SetNote(p.ID, pane.Note{})
	}
	return c.dialog.ask(ctx, d)
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
