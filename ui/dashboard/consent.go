package dashboard

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// consent lets a person choose what to confirm, and asks for the yes.
type consent struct {
	*shared
	marks    *marks
	batch    *batch
	confirms *confirms
	details  *details
}

// mark marks or unmarks the order or the intent under the cursor, and
// moves on.
func (c *consent) mark() {
	switch row := c.board.subject(); {
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
	in, ok := c.board.intentUnder()
	if ok && c.hidden(in.ID) != nil {
		return ""
	}
	return c.confirms.disabled(in, ok)
}

// hidden is the dialog of the intent's confirm, if that is running; nil if there is none.
func (c *consent) hidden(id api.ID) *dialog.Confirm {
	if run := c.confirms.runs[id]; run.underway() {
		return run.dialog
	}
	return nil
}

// ask asks about the intent or the order under the cursor, or shows again how far its confirm is. The dialog keeps what the
// person sees, whatever changes behind it.
func (c *consent) ask(ctx context.Context) tea.Cmd {
	if o := c.board.orderUnder(); o != nil {
		return c.askOrder(ctx, o)
	}
	in, ok := c.board.intentUnder()
	if !ok {
		return nil
	}
	if d := c.hidden(in.ID); d != nil { // it goes on: show again how far it is
		return c.dialog.ask(ctx, d)
	}
	seen, err := c.confirms.propose(in.ID)
	if err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	c.confirms.clear(in.ID)
	return c.open(ctx, dialog.NewConfirm(seen, seen.Live, &c.dialog.quiet, time.Now()), []confirm.Proposal{seen})
}

// open asks for the yes. What became of earlier confirms comes first.
func (c *consent) open(ctx context.Context, d *dialog.Confirm, seen []confirm.Proposal) tea.Cmd {
	if err := d.SetEarlier(c.earlier(seen)); err != nil {
		c.notices.say(warning, err.Error())
		return nil
	}
	return c.dialog.ask(ctx, d)
}

// earlier says what became of the earlier confirms of what is asked about, where they are or were in doubt.
func (c *consent) earlier(seen []confirm.Proposal) string {
	now, text := c.cfg.Now(), ""
	for _, p := range seen {
		last := c.picture.earlierConfirm(p.ID, now)
		if last == nil {
			continue
		}
		sent := " at " + last.Sent.In(c.cfg.Location).Format("15:04:05")
		if last.Run != "" && !last.Own {
			sent += " by " + string(last.Run)
		}
		what := "A confirm of this was sent"
		if len(seen) > 1 {
			what = "A confirm of " + p.Item() + " was sent"
		}
		if last.Unknown(now) {
			text += "? " + what + sent + ", and its outcome is unknown: it may have been bought. " + upper(wording.Reads(last)) + ". "
		} else {
			text += "○ " + what + sent + ", and ended: " + wording.ConfirmEnd(last.End) + ". "
		}
	}
	return strings.TrimSpace(text)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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
	return c.open(ctx, d, seen)
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
		c.confirms.clear(p.ID)
	}
	return c.open(ctx, d, seen)
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
