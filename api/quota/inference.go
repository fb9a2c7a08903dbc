package quota

import "time"

// shortest is the longest window whose reset, in whole seconds, is too coarse to use.
const shortest = 2 * time.Second

// inference estimates what everyone else on the account spends. It is a lower bound: a request of this client that
// a report may have counted is taken as counted.
type inference struct {
	anchored  bool
	remaining int64 // of the report that later ones are compared with
	charged   int64 // this client's requests that had ended by then
	unsure    int64 // this client's requests that overlapped with it

	recent []sighting // others' requests within a short window
}

type sighting struct {
	at    time.Time
	count int64
}

// infer returns how many requests of others the report r shows beyond those of earlier reports; never below 0.
func (b *ledger) infer(r Report, a answer, q *queue) int64 {
	if b.limit.window > 0 && b.limit.window <= shortest {
		return b.inferShort(r, a, q)
	}
	return b.inferLong(r, a, q)
}

// inferShort subtracts what this client may have spent from what a window shows as spent.
func (b *ledger) inferShort(r Report, a answer, q *queue) int64 {
	begin := a.at.Add(-b.limit.window)
	if a.received.Sub(begin) > longestPause || b.limit.requests > mostKept {
		return 0 // more than this client's spending is remembered for
	}
	in := &b.inference
	others := b.limit.requests - r.Remaining - q.all.since(begin)
	b.limit.demand.answered(max(others, 0), b.limit.requests-q.pacer.cfg.Reserve, a.received)
	if others <= 0 {
		return 0
	}
	if others >= b.limit.seen || b.limit.quiet(a.received) {
		b.limit.seen = others
	}
	kept := in.recent[:0]
	for _, s := range in.recent {
		if s.at.After(begin) {
			others -= s.count
			kept = append(kept, s)
		}
	}
	in.recent = kept
	if others <= 0 {
		return 0
	}
	in.recent = append(in.recent, sighting{at: a.received, count: others})
	return others
}

// inferLong compares successive reports of one window.
func (b *ledger) inferLong(r Report, a answer, q *queue) int64 {
	before := b.inference
	own := b.charged - before.charged + before.unsure + int64(q.all.inFlight)
	b.inference.anchored, b.inference.remaining = true, r.Remaining
	b.inference.charged, b.inference.unsure = b.charged, q.started-a.before-1
	switch passed := b.known && !a.sent.Before(b.limit.until); {
	case !before.anchored, passed && !b.restarted(r, a):
		return 0
	case passed:
		return max(b.limit.requests-r.Remaining-own, 0)
	}
	return max(before.remaining-r.Remaining-own, 0)
}

// restarted reports whether a report is of a window that began after the last one had passed. A service that
// returns quota bit by bit shows another time to reset.
func (b *ledger) restarted(r Report, a answer) bool {
	const rounding = 2 * time.Second
	if b.limit.requests == 0 || b.limit.window == 0 || !r.ResetKnown {
		return false
	}
	off := (r.Reset + a.received.Sub(b.limit.until)) % b.limit.window
	return off <= rounding || b.limit.window-off <= rounding
}
