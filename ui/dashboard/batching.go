package dashboard

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/dialog"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// queue confirms several intents that a person said yes to, one after another.
type queue struct {
	waiting  []confirm.Proposal // in the order of the dialog
	running  api.ID             // "" while none is on its way
	accepted map[api.ID]bool
	others   int    // that ended otherwise
	stopped  string // why no more are sent; "" while it goes on
}

// batchDisabled says why what is marked cannot be confirmed now.
func (m *Model) batchDisabled() string {
	switch {
	case !m.cfg.Armed:
		return action.ReadOnlyReason
	case m.queue != nil:
		return "a batch is under way: " + m.keyOf(action.StopBatch) + " stops it"
	case len(m.marks) == 0:
		return "nothing is marked: " + m.keyOf(action.Mark) + " marks the intent under the cursor"
	}
	return ""
}

// openBatch asks about all that is marked. What cannot be confirmed any more is
// unmarked, and nothing is asked until the person has seen that.
func (m *Model) openBatch() tea.Cmd {
	var seen []confirm.Proposal
	var gone int
	for id := range m.marks {
		in, ok := m.intent(id)
		if !ok || m.unconfirmable(in) != "" {
			m.setMark(id, false)
			gone++
			continue
		}
		p, err := m.propose(in.ID)
		if err != nil {
			m.setMark(id, false)
			gone++
			continue
		}
		seen = append(seen, p)
	}
	if gone > 0 {
		m.say(warning, wording.Counted(gone, "intent", "intents")+" can no longer be confirmed and lost the mark: look again")
		return nil
	}
	slices.SortFunc(seen, func(a, b confirm.Proposal) int {
		if c := a.ExpiresAt.Compare(b.ExpiresAt); c != 0 {
			return c
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	d, err := dialog.NewBatch(m.theme.For(m.profile), seen, m.environment().Live, time.Now())
	if err != nil {
		m.say(warning, err.Error())
		return nil
	}
	m.dialog = dialogs{confirm: d}
	return m.quiet.begin(m)
}

// beginBatch takes the yes. The marks have done their work.
func (m *Model) beginBatch(seen []confirm.Proposal) tea.Cmd {
	m.dialog = dialogs{}
	if m.queue != nil {
		return nil
	}
	m.unmark()
	m.queue = &queue{waiting: slices.Clone(seen), accepted: map[api.ID]bool{}}
	for _, p := range seen {
		m.intents.SetNote(p.ID, pane.Note{Text: "queued"})
	}
	return m.feedQueue()
}

// feedQueue sends the next of the queue, if one may go out now: one at a time,
// while the mutations bucket has room and an agent is free.
func (m *Model) feedQueue() tea.Cmd {
	q := m.queue
	if q == nil || q.running != "" {
		return nil
	}
	for q.stopped == "" && len(q.waiting) > 0 {
		if m.queueWaits() != "" {
			return nil
		}
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		if reason := m.outdated(next); reason != "" {
			q.others++
			m.intents.SetNote(next.ID, pane.Note{Text: "not sent", Bad: true})
			m.say(warning, string(next.Product)+": not sent: "+reason)
			continue
		}
		if cmd := m.begin(next); cmd != nil {
			q.running = next.ID
			return cmd
		}
		q.others++
	}
	m.endQueue()
	return nil
}

// outdated says why an intent of the queue is not to be sent any more.
func (m *Model) outdated(p confirm.Proposal) string {
	in, ok := m.intent(p.ID)
	if !ok {
		return "it is no longer known"
	}
	return m.unconfirmable(in)
}

// agentsCap is how many intents an account may have placing at a time, where the
// picture does not tell.
const agentsCap = 10

// queueWaits says what the next of the queue waits for; "" when it may go.
func (m *Model) queueWaits() string {
	s := &m.picture.summary
	limit := agentsCap
	if s.Agents.Limit > 0 {
		limit = min(s.Agents.Limit, agentsCap)
	}
	placing := s.Agents.Placing
	for id := range m.queue.accepted {
		// The picture may not yet have learnt of what was just accepted.
		if in, ok := m.intent(id); ok && in.State == api.AwaitingConfirmation {
			placing++
		}
	}
	if placing >= limit {
		return "a free agent"
	}
	now := time.Now()
	for _, b := range s.Quota {
		if b.Class == quota.Mutations && b.Limit > 0 && b.Left(now) <= 0 {
			return "the quota of mutations"
		}
	}
	return ""
}

// queued takes the outcome of one of the queue. Where the way to the service, or
// what came of an order, is in doubt, no more are sent.
func (m *Model) queued(id api.ID, o confirm.Outcome) tea.Cmd {
	q := m.queue
	if q == nil || q.running != id {
		return nil
	}
	q.running = ""
	switch o.Verdict {
	case confirm.Accepted:
		q.accepted[id] = true
		return m.feedQueue()
	case confirm.Changed, confirm.NotConfirmable, confirm.Already, confirm.Overtaken:
		q.others++
		return m.feedQueue()
	}
	q.others++
	m.stopQueue("one was " + string(o.Verdict))
	return nil
}

// stopQueue sends no more. One that is on its way goes on.
func (m *Model) stopQueue(why string) {
	q := m.queue
	if q == nil {
		return
	}
	q.stopped = why
	for _, p := range q.waiting {
		m.intents.SetNote(p.ID, pane.Note{})
	}
	m.redraw = true
	if q.running == "" {
		m.endQueue()
	}
}

// endQueue tells how the batch ended.
func (m *Model) endQueue() {
	q := m.queue
	m.queue = nil
	kind, text := success, "batch: "+wording.Count(len(q.accepted))+" accepted"
	if q.others > 0 {
		kind, text = warning, text+", "+wording.Count(q.others)+" not: see their rows"
	}
	if len(q.waiting) > 0 {
		kind, text = warning, text+", "+wording.Count(len(q.waiting))+" not sent: stopped"
		if q.stopped != "" {
			text += ", " + q.stopped
		}
	}
	m.say(kind, text)
}

// queueNotice says where the batch stands.
func (m *Model) queueNotice(l *paint.Line) {
	q := m.queue
	done := len(q.accepted) + q.others
	total := done + len(q.waiting)
	if q.running != "" {
		total++
	}
	l.Put(paint.Placing|paint.Bold, "▸ BATCH ").Put(paint.Text, wording.Count(done)+" of "+wording.Count(total)+" done")
	if q.others > 0 {
		l.Put(paint.Warning, " · "+wording.Count(q.others)+" not accepted")
	}
	if q.stopped != "" {
		l.Put(paint.Warning, " · stopped; waiting for the one that was sent")
		return
	}
	if why := m.queueWaits(); q.running == "" && why != "" {
		l.Put(paint.Warning, " · waiting for "+why)
	}
	l.Put(paint.Muted, " · "+m.keyOf(action.StopBatch)+" stops it; what was sent goes on")
}

// unconfirmable says why an intent cannot be confirmed now, whoever is armed.
func (m *Model) unconfirmable(in *account.Intent) string {
	run := m.runs[in.ID]
	switch {
	case run != nil && run.ended.IsZero():
		return "already under way"
	case in.State != api.AwaitingConfirmation:
		return "not awaiting confirmation"
	case in.Missing:
		return "the service no longer knows it"
	case in.Certainty < account.Verified || in.ReadAt.IsZero():
		return "not verified yet: read it again first"
	case run != nil && run.unsure && !m.readSince(in.ID, run.ended):
		return "the outcome of its last confirm is unknown: read it again first"
	}
	p, err := m.propose(in.ID)
	switch {
	case err != nil:
		return string(api.Scrub(err.Error()))
	case !p.ExpiresAt.IsZero() && !time.Now().Before(p.ExpiresAt):
		return "its confirm window has closed"
	}
	return ""
}

// readSince reports whether an intent was read after a moment.
func (m *Model) readSince(id api.ID, after time.Time) bool {
	in, ok := m.cfg.Source.Intent(id)
	return ok && in.ReadAt.After(after)
}
