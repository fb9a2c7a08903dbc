package dashboard

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

// batch confirms several intents, one after another.
type batch struct {
	*shared
	marks    *marks
	confirms *confirms
	queue    *queue // nil unless a batch is running
}

// queue is a running batch.
type queue struct {
	waiting  []confirm.Proposal // in the order of the dialog
	running  api.ID             // "" while none is being sent
	accepted map[api.ID]bool
	others   int      // that ended otherwise
	told     []string // how each of these ended, in words
	stopped  string   // why no more are sent; "" while it runs
}

// disabled says why the marked intents cannot be confirmed now.
func (b *batch) disabled() string {
	switch {
	case b.queue != nil:
		return "a batch is running: " + b.cfg.Actions.KeyOf(action.StopBatch) + " stops it"
	case len(b.marks.set) == 0:
		return "nothing is marked: " + b.cfg.Actions.KeyOf(action.Mark) + " marks the intent under the cursor"
	}
	return ""
}

// confirming reports whether a confirm is running or queued.
func (b *batch) confirming() bool {
	return b.confirms.underway() || b.queue != nil && len(b.queue.waiting) > 0
}

// propose binds all marked intents, the first to expire first. An intent that can no
// longer be confirmed loses its mark; then propose returns none, so that the person
// sees that before the dialog asks.
func (b *batch) propose() []confirm.Proposal {
	var seen []confirm.Proposal
	var gone int
	for id := range b.marks.set {
		in, ok := b.picture.intents[id]
		if ok && b.confirms.unconfirmable(in) == "" {
			if p, err := b.confirms.propose(id); err == nil {
				seen = append(seen, p)
				continue
			}
		}
		b.marks.put(id, false)
		gone++
	}
	if gone > 0 {
		b.notices.say(warning, wording.Counted(gone, "intent", "intents")+" can no longer be confirmed and lost the mark: look again")
		return nil
	}
	slices.SortFunc(seen, closesFirst)
	return seen
}

func closesFirst(a, b confirm.Proposal) int {
	return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
}

// begin takes the yes and clears the marks.
func (b *batch) begin(ctx context.Context, seen []confirm.Proposal) tea.Cmd {
	if b.queue != nil {
		return nil
	}
	for _, p := range seen {
		b.marks.put(p.ID, false)
	}
	b.queue = &queue{waiting: slices.Clone(seen), accepted: map[api.ID]bool{}}
	for _, p := range seen {
		b.board.intents.SetNote(p.ID, pane.Note{Text: "queued", Style: paint.Placing})
	}
	return b.sendNext(ctx)
}

// sendNext sends the next confirm if it may be sent now: one at a time, while the mutations
// bucket has room and an agent is free.
func (b *batch) sendNext(ctx context.Context) tea.Cmd {
	q := b.queue
	if q == nil || q.running != "" {
		return nil
	}
	for q.stopped == "" && len(q.waiting) > 0 {
		if b.waits() != "" {
			return nil
		}
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		if reason := b.outdated(next); reason != "" {
			q.others++
			q.told = append(q.told, string(next.Product)+": not sent: "+reason)
			b.board.intents.SetNote(next.ID, pane.Note{Text: "· not sent", Style: paint.Muted})
			b.notices.say(warning, string(next.Product)+": not sent: "+reason)
			continue
		}
		if cmd := b.confirms.begin(ctx, next, nil); cmd != nil {
			q.running = next.ID
			return cmd
		}
		q.others++
	}
	b.end()
	return nil
}

// outdated says why a queued intent must not be sent any more.
func (b *batch) outdated(p confirm.Proposal) string {
	in, ok := b.picture.intents[p.ID]
	if !ok {
		return "it is no longer known"
	}
	return b.confirms.unconfirmable(in)
}

// agentsCap is the limit of agents if the picture does not know it.
const agentsCap = 10

// waits says what the next one waits for; "" if nothing.
func (b *batch) waits() string {
	s := &b.picture.summary
	limit := agentsCap
	if s.Agents.Limit > 0 {
		limit = min(s.Agents.Limit, agentsCap)
	}
	placing := s.Agents.Placing
	for id := range b.queue.accepted {
		// The picture may not know yet what was just accepted.
		if in, ok := b.picture.intents[id]; ok && in.State == api.AwaitingConfirmation {
			placing++
		}
	}
	if placing >= limit {
		return "a free agent"
	}
	now := time.Now()
	for _, bucket := range s.Quota {
		if bucket.Class == quota.Mutations && bucket.Limit > 0 && bucket.Left(now) <= 0 {
			return "the quota of mutations"
		}
	}
	return ""
}

// isRunning reports whether the batch is sending this intent.
func (b *batch) isRunning(id api.ID) bool { return b.queue != nil && b.queue.running == id }

// outcome records how a confirm ended. If the connection to the service, the outcome
// or what the service charges is in doubt, the batch stops.
func (b *batch) outcome(ctx context.Context, id api.ID, o confirm.Outcome) tea.Cmd {
	if !b.isRunning(id) {
		return nil
	}
	q := b.queue
	q.running = ""
	if o.Well() {
		q.accepted[id] = true
		return b.sendNext(ctx)
	}
	q.others++
	q.told = append(q.told, b.confirms.runs[id].name+": "+o.Sentence())
	switch o.Verdict {
	case confirm.Accepted, confirm.Overtaken:
		if len(o.Differences) > 0 {
			b.stop("one was placed at another total")
			return nil
		}
		return b.sendNext(ctx)
	case confirm.Changed, confirm.NotConfirmable, confirm.Already:
		return b.sendNext(ctx)
	}
	b.stop("one was " + string(o.Verdict))
	return nil
}

// stop sends no more. A confirm that is written down goes on.
func (b *batch) stop(why string) {
	q := b.queue
	if q == nil {
		return
	}
	q.stopped = why
	b.confirms.withdraw(q.running)
	for _, p := range q.waiting {
		b.board.intents.SetNote(p.ID, pane.Note{})
	}
	if q.running == "" {
		b.end()
	}
}

// stopDisabled says why no batch can be stopped; "" if one can.
func (b *batch) stopDisabled() string {
	if b.queue == nil {
		return "no batch is running"
	}
	return ""
}

// end reports how the batch ended.
func (b *batch) end() {
	q := b.queue
	b.queue = nil
	kind, text := success, "batch: "+wording.Count(len(q.accepted))+" accepted"
	if q.others > 0 {
		kind, text = warning, text+", "+wording.Count(q.others)+" ended otherwise"
	}
	if len(q.waiting) > 0 {
		kind, text = warning, text+", "+wording.Count(len(q.waiting))+" not sent: stopped"
	}
	if q.stopped != "" {
		text += ", " + q.stopped
	}
	if len(q.told) > 0 {
		text += " (" + strings.Join(q.told, "; ") + ")"
	}
	b.notices.say(kind, text)
	if kind == warning {
		b.notices.toast.until = time.Now().Add(batchEndFor)
	}
}

// batchEndFor is how long it is said how a batch ended of which something went otherwise, unless something else is said.
const batchEndFor = 10 * time.Minute

// draw shows the batch's progress.
func (b *batch) draw(l *paint.Line) {
	q := b.queue
	done, total := q.count()
	l.Put(paint.Placing|paint.Bold, "▸ BATCH ").Put(paint.Text, wording.Count(done)+" of "+wording.Count(total)+" done")
	if q.others > 0 {
		l.Put(paint.Warning, " · "+wording.Count(q.others)+" ended otherwise")
	}
	if q.stopped != "" {
		l.Put(paint.Warning, " · stopped; waiting for the one already sent")
		return
	}
	if why := b.waits(); q.running == "" && why != "" {
		l.Put(paint.Warning, " · waiting for "+why)
	}
	l.Put(paint.Muted, " · "+b.cfg.Actions.KeyOf(action.StopBatch)+" stops it; what was sent goes on")
}

// count is how many of the batch have ended, and how many there are.
func (q *queue) count() (done, total int) {
	done = len(q.accepted) + q.others
	total = done + len(q.waiting)
	if q.running != "" {
		total++
	}
	return done, total
}
