package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

const (
	// A check of the journal costs a disk write, and anyone may ask for one.
	checkInterval = time.Second
	checkTimeout  = time.Second
	// refusalCounts is how long a delivery that could not be stored makes the relay unready, unless another one is
	// stored: it may be larger than what a check writes.
	refusalCounts = 5 * time.Second

	// The audit reads auditBatch events, or journal.ReadBytes, at a time, and rests in between.
	auditBatch = 500
	auditRest  = 5 * time.Millisecond
	auditRetry = 10 * time.Second
)

// readiness remembers the last check of the journal, and what the audit found.
type readiness struct {
	refused atomic.Pointer[time.Time] // when a delivery last could not be stored; nil once another was

	mu      sync.Mutex
	checked time.Time
	err     error

	audited      int64        // the last sequence number that the audit, its only user, has read
	damaged      atomic.Int64 // events that it found damaged
	firstDamaged atomic.Int64 // the oldest of them; 0 for none
}

func (r *Relay) livez(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, liveWord+"\n")
}

// readyz answers 200 while deliveries can be stored and read. A second line tells of damaged events, if any.
func (r *Relay) readyz(w http.ResponseWriter, req *http.Request) {
	if err := r.ready(context.WithoutCancel(req.Context())); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, readyWord+"\n")
	if said := r.readiness.damage(); said != "" {
		_, _ = io.WriteString(w, said+"\n")
	}
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
	if last := r.readiness.refused.Load(); last != nil && time.Since(*last) < refusalCounts {
		return errUnwritable
	}
	return nil
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

// checkJournal writes to the journal and reads the newest event, at most once in checkInterval.
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
	} else if failure = r.readNewest(ctx); failure != nil {
		why = errUnreadable
	}
	if failure != nil {
		r.logger.Error("not ready: "+why.Error(), slog.String("error", failure.Error()))
	}
	r.readiness.checked, r.readiness.err = time.Now(), why
	return why
}

func (r *Relay) readNewest(ctx context.Context) error {
	head, err := r.journal.Head(ctx)
	if err == nil {
		_, err = r.journal.Read(ctx, head-1, 1)
	}
	return err
}

// audit reads all events that there are at the start, and tells how many are damaged.
func (r *Relay) audit(ctx context.Context) {
	_ = untilDone(ctx, auditRetry, func() (err error) {
		defer journal.Recovered(&err)
		return r.auditOnce(ctx)
	}, func(err error) {
		r.logger.Error("the journal could not be checked for damage", slog.String("error", err.Error()))
	})
	if said := r.readiness.damage(); said != "" {
		r.logger.Error(said)
	}
}

func (r *Relay) auditOnce(ctx context.Context) error {
	head, err := r.journal.Head(ctx)
	for err == nil && r.readiness.audited < head {
		var records []journal.Record
		if records, err = r.journal.Read(ctx, r.readiness.audited, auditBatch); len(records) == 0 {
			break
		}
		for _, record := range records {
			if r.readiness.audited = record.Seq; record.Damaged {
				r.readiness.firstDamaged.CompareAndSwap(0, record.Seq)
				r.readiness.damaged.Add(1)
			}
		}
		if err := api.Sleep(ctx, auditRest); err != nil {
			return err
		}
	}
	return err
}

// damage tells of damaged events; "" if there are none.
func (r *readiness) damage() string {
	n := r.damaged.Load()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("damaged events in the journal: %d, the first is number %d; readers are told of a gap",
		n, r.firstDamaged.Load())
}

// pruneInterval is how often the age of events is checked.
const pruneInterval = time.Minute

// retain deletes what is too old at intervals until ctx ends. The ids of what it deletes stay.
func (r *Relay) retain(ctx context.Context) {
	for api.Sleep(ctx, pruneInterval) == nil {
		removed, err := func() (removed int64, err error) {
			defer journal.Recovered(&err)
			return r.journal.Prune(ctx, time.Now().Add(-r.retention))
		}()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			r.logger.Error("could not prune old events", slog.String("error", err.Error()))
		case removed > 0:
			r.logger.Info("old events pruned", slog.Int64("events", removed))
		}
	}
}
