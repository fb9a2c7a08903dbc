package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
	"tillwatch/api/quota"
)

const (
	reportQueue  = 10_000                 // waiting observations; beyond it the oldest are dropped
	reportBatch  = 500                    // observations per request
	reportPause  = 100 * time.Millisecond // how long a batch that is not full waits for more
	refusedPause = time.Minute            // between two attempts while the relay refuses the token
	droppedEvery = 10 * time.Second       // between two log lines about dropped observations
	flushTimeout = 2 * time.Second        // how long waiting observations are still sent at the end
)

// Reporter reports observations to a relay in batches. It never blocks the observer: while the relay is slow or
// gone, the oldest observations are dropped.
type Reporter struct {
	client  *client
	logger  *slog.Logger
	queue   chan quota.Observation
	dropped atomic.Int64

	// Used by the running goroutine:
	failing string    // why the last attempt failed; "" if it did not
	said    int64     // how many dropped ones have been logged
	saidAt  time.Time // when they were logged
}

// errSlower says that the reporter sends too much at once. Only what is dropped because of it is logged.
var errSlower = errors.New("the relay takes no more for now (429)")

// NewReporter checks the address. The token needs the scope report.
func NewReporter(to Access, logger *slog.Logger) (*Reporter, error) {
	if to.Token.IsZero() {
		return nil, errors.New("reporting to the relay needs a token with the scope report")
	}
	c, err := newClient(to)
	if err != nil {
		return nil, err
	}
	return &Reporter{client: c, logger: logger, queue: make(chan quota.Observation, reportQueue)}, nil
}

// Observe queues observations to report. It never blocks.
func (r *Reporter) Observe(batch []quota.Observation) {
	for _, o := range batch {
		for queued := false; !queued; {
			select {
			case r.queue <- o:
				queued = true
			default:
				select {
				case <-r.queue: // the oldest
					r.dropped.Add(1)
				default:
				}
			}
		}
	}
}

// Dropped returns how many observations were dropped.
func (r *Reporter) Dropped() int64 { return r.dropped.Load() }

// Run reports observations until ctx ends, and then for a short time those that still wait. Call it once.
func (r *Reporter) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTimeout, cancel) })()
	defer r.client.http.CloseIdleConnections()
	for {
		if batch := r.collect(ctx); len(batch) > 0 {
			r.send(sending, batch)
		} else if ctx.Err() != nil {
			break
		}
	}
	r.sayDropped()
}

// collect waits for observations and returns a batch. An empty batch may mean that ctx has ended and nothing
// waits. It drops what the relay would refuse.
func (r *Reporter) collect(ctx context.Context) (batch []quota.Observation) {
	ended := ctx.Done()
	var pause <-chan time.Time
	for len(batch) < reportBatch {
		select {
		case o := <-r.queue:
			if o, err := sound(o); err == nil {
				batch = append(batch, o)
			} else {
				r.dropped.Add(1)
			}
			if pause == nil {
				pause = time.After(reportPause)
			}
		case <-pause:
			return batch
		case <-ended: // take what waits
			if len(r.queue) == 0 {
				return batch
			}
		}
	}
	return batch
}

// send sends a batch until the relay has accepted or refused it, or ctx ends. While the relay refuses the token, it
// tries again rarely: the token may yet be put in place.
func (r *Reporter) send(ctx context.Context, batch []quota.Observation) {
	pauses := newRetries(lastRetry)
	for {
		err := r.post(ctx, batch)
		var refusal *RefusedError
		var final *backoff.PermanentError
		pause := pauses.NextBackOff()
		switch {
		case err == nil:
			if r.failing != "" {
				r.failing = ""
				r.logger.Info("the relay takes observations again")
			}
			if time.Since(r.saidAt) >= droppedEvery {
				r.sayDropped()
			}
			return
		case errors.As(err, &refusal):
			pause = refusedPause
		}
		if err.Error() != r.failing && !errors.Is(err, errSlower) && ctx.Err() == nil {
			r.failing = err.Error()
			r.logger.Warn("observations are not reported", slog.String("error", r.failing))
		}
		if errors.As(err, &final) || api.Sleep(ctx, pause) != nil {
			r.dropped.Add(int64(len(batch)))
			return
		}
	}
}

// sayDropped logs how many were dropped since it last did.
func (r *Reporter) sayDropped() {
	if dropped := r.Dropped(); dropped > r.said {
		r.logger.Warn("observations were dropped", slog.Int64("dropped", dropped-r.said))
		r.said, r.saidAt = dropped, time.Now()
	}
}

// post sends a batch once. An error caused by the batch itself is permanent.
func (r *Reporter) post(ctx context.Context, batch []quota.Observation) error {
	body, err := json.Marshal(map[string]any{"items": batch})
	if err != nil {
		return backoff.Permanent(fmt.Errorf("encode observations: %w", err))
	}
	status, answer, err := r.client.do(ctx, http.MethodPost, ObservationsPath, body)
	if err != nil {
		return err
	}
	err = refusal(status, answer, ScopeReport)
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return backoff.Permanent(err)
	case http.StatusTooManyRequests:
		return errSlower
	}
	return err
}
