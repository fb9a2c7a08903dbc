package dashboard

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/pane"
)

// confirmRun is a confirm that a person said yes to.
type confirmRun struct {
	id     api.ID
	name   string
	stages chan confirm.Progress
	done   chan confirm.Outcome
	ended  time.Time // zero while it is under way
	unsure bool      // it ended without anybody knowing how
}

type stageMsg struct {
	run *confirmRun
	at  confirm.Progress
}

type outcomeMsg struct {
	run     *confirmRun
	outcome confirm.Outcome
}

// confirmDisabled says why the intent under the cursor cannot be confirmed now.
func (m *Model) confirmDisabled() string {
	if !m.cfg.Armed {
		return action.ReadOnlyReason
	}
	in, ok := m.intentOf(m.subject())
	if !ok {
		return "no intent under the cursor"
	}
	return m.unconfirmable(in)
}

// propose binds what is known of an intent now.
func (m *Model) propose(id api.ID) (confirm.Proposal, error) {
	in, ok := m.cfg.Source.Intent(id)
	if !ok {
		return confirm.Propose(nil, time.Time{}, m.environment(), m.cfg.ConfirmWindow)
	}
	return confirm.Propose(in.Latest, in.ReadAt, m.environment(), m.cfg.ConfirmWindow)
}

// openConfirm asks. The dialog holds what the person sees, whatever changes
// behind it.
func (m *Model) openConfirm() tea.Cmd {
	in, ok := m.intentOf(m.subject())
	if !ok {
		return nil
	}
	seen, err := m.propose(in.ID)
	if err != nil {
		m.say(warning, err.Error())
		return nil
	}
	m.intents.SetNote(in.ID, pane.Note{})
	m.dialog = dialogs{confirm: dialog.NewConfirm(m.theme.For(m.profile), seen, seen.Live, time.Now())}
	return m.quiet.begin(m)
}

// answer acts on what the dialog was answered with.
func (m *Model) answer(a dialog.Answer) tea.Cmd {
	switch a.Kind {
	case dialog.Cancelled, dialog.Closed:
		m.dialog = dialogs{}
	case dialog.Confirmed:
		if all := m.dialog.confirm.Batch(); all != nil {
			return m.beginBatch(all)
		}
		return m.begin(a.Proposal)
	}
	return nil
}

// begin confirms in a goroutine of its own, one an intent.
func (m *Model) begin(seen confirm.Proposal) tea.Cmd {
	if run := m.runs[seen.ID]; run != nil && run.ended.IsZero() {
		return nil
	}
	run := &confirmRun{
		id: seen.ID, name: string(seen.Product),
		stages: make(chan confirm.Progress, 16), done: make(chan confirm.Outcome, 1),
	}
	m.runs[seen.ID] = run
	m.intents.SetNote(seen.ID, pane.Note{Text: "confirming"})
	ctx, confirmer := m.ctx, m.cfg.Confirmer
	m.confirms.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				run.done <- confirm.Outcome{Verdict: confirm.Unknown, Err: fmt.Errorf("confirming: panic: %v", r)}
			}
		}()
		run.done <- confirmer.Confirm(ctx, seen, func(at confirm.Progress) {
			select {
			case run.stages <- at:
			default: // only for the eye: never hold a confirm up
			}
		})
	})
	return run.next
}

// next waits for what the confirm tells next. Stages come before the outcome.
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

func (m *Model) stage(msg stageMsg) tea.Cmd {
	m.redraw = true
	m.intents.SetNote(msg.run.id, pane.Note{Text: string(msg.at.Stage)})
	if d := m.dialog.confirm; d != nil && d.Proposal().ID == msg.run.id {
		d.SetProgress(msg.at)
	}
	return msg.run.next
}

func (m *Model) outcome(msg outcomeMsg) tea.Cmd {
	m.redraw = true
	run, o := msg.run, msg.outcome
	run.ended, run.unsure = time.Now(), o.Verdict == confirm.Unknown
	m.quitting = false
	good := o.Verdict == confirm.Accepted
	m.intents.SetNote(run.id, pane.Note{Text: string(o.Verdict), Bad: !good})
	if d := m.dialog.confirm; d != nil && d.Proposal().ID == run.id {
		d.SetOutcome(o)
	}
	kind := warning
	if good {
		kind = success
	}
	if !good || m.queue == nil || m.queue.running != run.id {
		m.say(kind, run.name+": "+o.Sentence()) // of a batch that goes well its own line tells
	}
	return m.queued(run.id, o)
}

// underway lists the intents whose confirm has not ended, those that are queued
// too.
func (m *Model) underway() []api.ID {
	var ids []api.ID
	for id, run := range m.runs {
		if run.ended.IsZero() {
			ids = append(ids, id)
		}
	}
	if m.queue != nil {
		for _, p := range m.queue.waiting {
			ids = append(ids, p.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
