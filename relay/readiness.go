package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A check of the journal costs a disk write, and anyone may ask for one.
const (
	checkInterval = time.Second
	checkTimeout  = time.Second
	// refusalCounts is how long a delivery that could not be stored makes the relay unready, unless another one is
	// stored: it may be larger than what a check writes.
	refusalCounts = 5 * time.Second
)

// readiness remembers the last check of the journal.
type readiness struct {
	refused atomic.Pointer[time.Time] // when a delivery last could not be stored; nil once another was

	mu      sync.Mutex
	checked time.Time
	err     error
	hangs   bool // the journal has not answered in time
}

func (r *Relay) livez(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, liveWord+"\n")
}

// readyz answers 200 while deliveries can be stored and read.
func (r *Relay) readyz(w http.ResponseWriter, req *http.Request) {
	if err := r.ready(context.WithoutCancel(req.Context())); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, readyWord+"\n")
}

var (
	errDraining   = errors.New("shutting down")
	errUnwritable = errors.New("the journal cannot be written")
	errUnreadable = errors.New("the journal cannot be read")
)

// ready returns why deliveries cannot be stored now, or stored ones cannot be read.
func (r *Relay) ready(ctx context.Context) error {
	if r.draining.Load() {
		return errDraining
	}
	if err := r.checkJournal(ctx); err != nil {
		return err
	}
	if r.readiness.refuses() {
		return errUnwritable
	}
	return nil
}

func (r *readiness) refuses() bool {
	last := r.refused.Load()
	return last != nil && time.Since(*last) < refusalCounts
}

// noteWrite records whether a delivery could be stored.
func (r *readiness) noteWrite(err error) {
	switch {
	case err != nil:
		now := time.Now()
		r.refused.Store(&now)
	case r.refused.Load() != nil:
		r.refused.Store(nil)
	}
}

func (r *Relay) checkJournal(ctx context.Context) error {
	r.readiness.mu.Lock()
	defer r.readiness.mu.Unlock()
	if time.Since(r.readiness.checked) < checkInterval {
		return r.readiness.err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var why error
	failure := r.journal.Check(ctx)
	if failure != nil {
		why = errUnwritable
		r.backfill.suspect()
	} else if failure = r.journal.checkReads(ctx); failure != nil {
		why = errUnreadable
	}
	if failure != nil {
		r.logger.Error("not ready: "+why.Error(), slog.String("error", failure.Error()))
	}
	r.readiness.checked, r.readiness.err = time.Now(), why
	r.readiness.hangs = errors.Is(failure, context.DeadlineExceeded)
	return why
}

// JournalHangs reports whether the journal did not answer when it was last checked.
func (r *Relay) JournalHangs() bool {
	r.readiness.mu.Lock()
	defer r.readiness.mu.Unlock()
	return r.readiness.hangs
}
