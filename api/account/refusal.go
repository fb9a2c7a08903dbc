package account

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// A refused key is tried again at a widening pace, because the refusal may be an accident or may be mended at the
// issuer, and at once when the key is replaced.
const (
	trialFirst = 15 * time.Second
	trialMost  = 5 * time.Minute
)

// refusal is the state after a 401: only a person's reads go out, and with each trial one other read and the
// lists.
type refusal struct {
	stands bool
	trials int
	next   time.Time     // when the next trial is due
	open   bool          // one read may go out as a trial
	again  chan struct{} // closed when the lists are to be read again
}

// trialPause is the pause before a trial. It doubles, and is random within its last quarter.
func trialPause(trials int) time.Duration {
	span := min(trialFirst<<min(trials, 10), trialMost)
	return span - rand.N(span/4)
}

// TryKey tries a refused key at once, because it may have been replaced, or one that may not read shipments. It reads
// nothing if the key is neither.
func (w *Watcher) TryKey() {
	forbidden := w.store.permitShipments()
	refused := look(w.store, w.store.health.refused)
	w.change(func(now time.Time) {
		if refused || w.refusal.stands {
			w.refuse(now)
			w.refusal.trials = 0
			w.try(now)
		}
		if forbidden {
			w.askShipments(now)
			w.askLists()
		}
	})
}

// judgeKey follows what answers say of the key, and starts a trial when it is due.
func (w *Watcher) judgeKey(now time.Time) {
	refused := look(w.store, w.store.health.refused)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case refused && !w.refusal.stands:
		w.refuse(now)
	case !refused && w.refusal.stands:
		w.acceptKey(now)
	case refused && !now.Before(w.refusal.next):
		w.try(now)
	default:
		return
	}
	w.stir()
}

// refuse stops all reads but a person's until the next trial.
func (w *Watcher) refuse(now time.Time) {
	if w.refusal.stands {
		return
	}
	w.refusal.stands, w.refusal.open = true, false
	w.refusal.next = now.Add(trialPause(0))
	w.store.updateHealth(func(h *health, _ time.Time) { h.TryAt = w.refusal.next })
}

// try lets out one of the reads that were refused first, and has the lists read again.
func (w *Watcher) try(now time.Time) {
	w.refusal.open = true
	w.refusal.trials++
	w.refusal.next = now.Add(trialPause(w.refusal.trials))
	w.store.updateHealth(func(h *health, _ time.Time) { h.TryAt = w.refusal.next })
	w.askRefused(now)
	w.askLists()
}

// acceptKey resumes reading after an answer: what changed in the meantime is unknown.
func (w *Watcher) acceptKey(now time.Time) {
	if !w.refusal.stands {
		return
	}
	w.refusal.stands, w.refusal.open, w.refusal.trials, w.refusal.next = false, false, 0, time.Time{}
	w.store.updateHealth((*health).acceptKey)
	w.askRefused(now)
	w.reconcile(now, now)
	w.askLists()
}

// askRefused asks again for the reads that were answered 401.
func (w *Watcher) askRefused(now time.Time) {
	for t, j := range w.queue.jobs {
		if errors.Is(j.failure.err, api.ErrUnauthorized) {
			w.queue.askAgain(t, now, quota.Hint)
		}
	}
}

func (w *Watcher) askLists() {
	close(w.refusal.again)
	w.refusal.again = make(chan struct{})
}

// nap waits until a list is to be read again: for d, or until the key is tried. It reports whether ctx is alive.
func (w *Watcher) nap(ctx context.Context, d time.Duration) bool {
	w.mu.Lock()
	again := w.refusal.again
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return false
	case <-again:
	case <-time.After(d):
	}
	return true
}

// listPause is how long to wait after failed failures of a list in a row. If the key was refused, its next trial
// ends the wait.
func listPause(failed int, err error) time.Duration {
	if errors.Is(err, api.ErrUnauthorized) {
		return trialMost
	}
	return backOff(failed)
}
