package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
)

// confirms runs the confirmed proposals: one goroutine each, at most one per intent.
type confirms struct {
	*shared
	runs    map[api.ID]*confirmRun
	marked  map[api.ID]string // intents whose row says that the outcome is unknown, with the attempt
	running sync.WaitGroup    // so that Run can wait
}

// confirmRun is one running or ended confirm.
type confirmRun struct {
	id       api.ID
	name     string
	stages   chan confirm.Progress
	done     chan confirm.Outcome
	dialog   *dialog.Confirm  // that was opened for it, perhaps hidden now; nil in a batch
	withdraw func()           // takes the yes back, unless it is written down already
	at       confirm.Progress // its stage
	ended    time.Time        // zero while it runs
	unsure   bool             // the outcome is unknown
}

// underway reports whether the confirm has not ended.
func (r *confirmRun) underway() bool { return r != nil && r.ended.IsZero() }

type stageMsg struct {
	run *confirmRun
	at  confirm.Progress
}

type outcomeMsg struct {
	run     *confirmRun
	outcome confirm.Outcome
}

// disabled says why an intent cannot be confirmed now, armed or not; ok is false if there is no
// intent.
func (c *confirms) disabled(in *account.Intent, ok bool) string {
	if !ok {
		return "no intent under the cursor"
	}
	return c.unconfirmable(in)
}

// unconfirmable says why an intent cannot be confirmed now, armed or not.
func (c *confirms) unconfirmable(in *account.Intent) string {
	run := c.runs[in.ID]
	switch {
	case run.underway():
		return "already being confirmed"
	case in.State != api.AwaitingConfirmation:
		return "not awaiting confirmation"
	case in.Missing:
		return "the service no longer knows it"
	case in.Certainty < account.Verified || in.ReadAt.IsZero():
		return "not verified yet: read it again first"
	case run != nil && run.unsure && !c.readSince(in.ID, run.ended):
		return "the outcome of its last confirm is unknown: read it again first"
	}
	if last := c.picture.confirmOf(in.ID); last != nil && last.UnderWay(c.cfg.Now()) {
		return "already being confirmed, by " + string(cmp.Or(last.Run, "another run"))
	}
	p, err := c.propose(in.ID)
	switch {
	case err != nil:
		return string(api.Scrub(err.Error()))
	case !p.ExpiresAt.IsZero() && !time.Now().Before(p.ExpiresAt):
		return "its confirm window has closed"
	}
	return ""
}

// readSince reports whether an intent was read after a moment.
func (c *confirms) readSince(id api.ID, after time.Time) bool {
	in, ok := c.cfg.Source.Intent(id)
	return ok && in.ReadAt.After(after)
}

// propose binds what is known of an intent now. While the clock is wrong, nobody knows when its
// window closes.
func (c *confirms) propose(id api.ID) (confirm.Proposal, error) {
	in, ok := c.cfg.Source.Intent(id)
	if !ok {
		return confirm.Propose(nil, c.picture.environment(), c.cfg.ConfirmWindow)
	}
	p, err := confirm.Propose(in.Latest, c.picture.environment(), c.cfg.ConfirmWindow)
	p.Payment = cmp.Or(c.cfg.Payment, p.Payment)
	if slices.ContainsFunc(c.picture.summary.Alerts, func(a account.Alert) bool { return a.Kind == account.AlertClock }) {
		p.ExpiresAt = time.Time{}
	}
	return p, err
}

// begin confirms in its own goroutine, unless one is running. in is the dialog that was opened for it; nil in a batch.
func (c *confirms) begin(ctx context.Context, seen confirm.Proposal, in *dialog.Confirm) tea.Cmd {
	if c.runs[seen.ID].underway() {
		return nil
	}
	withdrawn := make(chan struct{})
	seen.Withdrawn = withdrawn
	run := &confirmRun{
		id: seen.ID, name: string(seen.Product), dialog: in,
		stages: make(chan confirm.Progress, 64), done: make(chan confirm.Outcome, 1), withdraw: sync.OnceFunc(func() { close(withdrawn) }),
	}
	c.runs[seen.ID] = run
	c.board.intents.SetNote(seen.ID, pane.Note{Text: "▸ confirming", Style: paint.Placing})
	confirmer := c.cfg.Confirmer
	c.running.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				run.done <- confirm.Outcome{Verdict: confirm.Unknown, Err: fmt.Errorf("confirming: panic: %v", r)}
			}
		}()
		run.done <- confirmer.Confirm(ctx, seen, func(at confirm.Progress) {
			select {
			case run.stages <- at:
			default: // only for display: never delay a confirm
			}
		})
	})
	return run.next
}

// next waits for the next stage, or for the outcome. Stages come first.
func (r *confirmRun) next() tea.Msg {
	select {
	case s := <-r.stages:
		return stageMsg{r, s}
	default:
	}
	select {
	case s := <-r.stages:
		return stageMsg{r, s}
	case o := <-r.done:
		return outcomeMsg{r, o}
	}
}

// stage shows a confirm's progress.
func (c *confirms) stage(msg stageMsg) tea.Cmd {
	msg.run.at = msg.at
	if msg.run.dialog != nil {
		msg.run.dialog.SetProgress(msg.at)
	}
	c.board.intents.SetNote(msg.run.id, pane.Note{Text: "▸ " + string(msg.at.Stage), Style: paint.Placing})
	return msg.run.next
}

// outcome shows how a confirm ended. If quietly is true, only the row shows a success.
func (c *confirms) outcome(msg outcomeMsg, quietly bool) {
	run, o := msg.run, msg.outcome
	run.ended, run.unsure = time.Now(), o.Verdict == confirm.Unknown
	if run.dialog != nil {
		run.dialog.SetOutcome(o)
	}
	c.board.intents.SetNote(run.id, noteOf(o))
	switch {
	case o.Verdict == confirm.Accepted && len(o.Differences) > 0:
		c.notices.say(warning, run.name+": "+o.String())
	case !o.Well():
		c.notices.say(warning, run.name+": "+o.Sentence())
	case !quietly:
		c.notices.say(success, run.name+": "+o.Sentence())
	}
}

// underway reports whether a confirm is running.
func (c *confirms) underway() bool {
	for _, run := range c.runs {
		if run.underway() {
			return true
		}
	}
	return false
}

// written reports whether a confirm is running that is written down, so that it cannot be taken back.
func (c *confirms) written() bool {
	for _, run := range c.runs {
		if run.underway() && !run.at.BeforeWriting() {
			return true
		}
	}
	return false
}

// withdraw takes back the yes to an intent, unless it is written down already.
func (c *confirms) withdraw(id api.ID) {
	if run := c.runs[id]; run.underway() && run.at.BeforeWriting() {
		run.withdraw()
	}
}

// clear removes what the row of an intent says of an ended confirm, but not that an outcome is unknown.
func (c *confirms) clear(id api.ID) {
	if c.marked[id] == "" {
		c.board.intents.SetNote(id, pane.Note{})
	}
}

// noteOf is what the row says of an outcome.
func noteOf(o confirm.Outcome) pane.Note {
	n := pane.Note{Text: "! " + string(o.Verdict), Style: paint.Warning}
	switch {
	case o.Unsettled, o.Verdict == confirm.Unknown:
		return pane.Note{Text: "? unknown", Style: paint.Unknown}
	case o.Well():
		return pane.Note{Text: "✓ accepted", Style: paint.Good}
	case o.Verdict == confirm.Refused:
		n.Text, n.Style = "✕ refused", paint.Bad
	case o.Verdict == confirm.NotSent:
		n.Text, n.Style = "· not sent", paint.Muted
	case o.Verdict == confirm.NotTaken:
		n.Text = "○ not taken"
	case o.Verdict == confirm.NotConfirmable && o.Intent != nil && o.Intent.State == api.Failed:
		n.Text, n.Style = "– expired", paint.Faint
	case o.Verdict == confirm.Accepted && o.Proves() == confirm.NotPlaced:
		n.Style = paint.Bad
	}
	return n
}

// mark marks the rows whose confirm has an unknown outcome, whichever run sent it, and those whose outcome became
// known.
func (c *confirms) mark(now time.Time) {
	for id, was := range c.marked {
		if last := c.picture.confirmOf(id); last == nil || !last.Unknown(now) {
			delete(c.marked, id)
			note := pane.Note{}
			if last != nil && last.Attempt == was && last.End == account.ConfirmNotDone {
				note = pane.Note{Text: "○ not taken", Style: paint.Warning}
			}
			c.board.intents.SetNote(id, note)
		}
	}
	for _, last := range c.picture.summary.Confirms {
		if run := c.runs[last.Intent]; last.End == account.ConfirmLate && run != nil && run.dialog != nil && run.dialog.Ended() == last.Attempt {
			run.dialog.SetOutcome(confirm.Outcome{Verdict: confirm.Overtaken}) // a dialog may still say that nothing was bought
		}
		if last.Unknown(now) {
			c.marked[last.Intent] = last.Attempt
			c.board.intents.SetNote(last.Intent, pane.Note{Text: "? unknown", Style: paint.Unknown})
		}
	}
}
