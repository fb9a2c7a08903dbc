package dashboard

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/pane"
)

// confirms runs the confirmed proposals: one goroutine each, at most one per intent.
type confirms struct {
	*shared
	runs    map[api.ID]*confirmRun
	running sync.WaitGroup // so that Run can wait
}

// confirmRun is one running or ended confirm.
type confirmRun struct {
	id     api.ID
	name   string
	stages chan confirm.Progress
	done   chan confirm.Outcome
	ended  time.Time // zero while it runs
	unsure bool      // the outcome is unknown
}

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
	case run != nil && run.ended.IsZero():
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
	if slices.ContainsFunc(c.picture.summary.Alerts, func(a account.Alert) bool { return a.Kind == account.AlertClock }) {
		p.ExpiresAt = time.Time{}
	}
	return p, err
}

// begin confirms in its own goroutine, unless one is running.
func (c *confirms) begin(ctx context.Context, seen confirm.Proposal) tea.Cmd {
	if run := c.runs[seen.ID]; run != nil && run.ended.IsZero() {
		return nil
	}
	run := &confirmRun{
		id: seen.ID, name: string(seen.Product),
		stages: make(chan confirm.Progress, 16), done: make(chan confirm.Outcome, 1),
	}
	c.runs[seen.ID] = run
	c.board.intents.SetNote(seen.ID, pane.Note{Text: "confirming"})
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
	c.board.intents.SetNote(msg.run.id, pane.Note{Text: string(msg.at.Stage)})
	return msg.run.next
}

// outcome shows how a confirm ended. If quietly is true, only the row shows a success.
func (c *confirms) outcome(msg outcomeMsg, quietly bool) {
	run, o := msg.run, msg.outcome
	run.ended, run.unsure = time.Now(), o.Verdict == confirm.Unknown
	c.board.intents.SetNote(run.id, pane.Note{Text: string(o.Verdict), Bad: !o.Well()})
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
		if run.ended.IsZero() {
			return true
		}
	}
	return false
}
