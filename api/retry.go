package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxRetryWait is the longest that a read is held for a retry; a service that
// asks for more gets its answer handed to the caller instead.
const maxRetryWait = 30 * time.Second

// retry says whether and when a call is sent again.
type retry struct {
	left              int
	limited, breaking *backoff.ExponentialBackOff
}

func newRetry(request call, retries int) *retry {
	r := &retry{
		// The first wait after a per-second 429 is 1 to 2 s (contract, Limits).
		limited:  growing(1500*time.Millisecond, 1.0/3),
		breaking: growing(300*time.Millisecond, 0.5),
	}
	if request.method == http.MethodGet {
		r.left = retries
	}
	return r
}

func growing(first time.Duration, jitter float64) *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{
		InitialInterval:     first,
		RandomizationFactor: jitter,
		Multiplier:          2,
		MaxInterval:         maxRetryWait,
	}
	b.Reset()
	return b
}

func (r *retry) after(err error) (time.Duration, bool) {
	if r.left <= 0 {
		return 0, false
	}
	r.left--
	answer := (*Error)(nil)
	if !errors.As(err, &answer) {
		return r.breaking.NextBackOff(), passing(err)
	}
	var wait time.Duration
	switch {
	case errors.Is(err, ErrPerSecond):
		wait = r.limited.NextBackOff()
	case answer.Status >= http.StatusInternalServerError && answer.Status != http.StatusNotImplemented:
		wait = r.breaking.NextBackOff()
	default:
		return 0, false
	}
	// Others got the same time: do not all come back at once.
	jitter := rand.N(250 * time.Millisecond)
	switch {
	case answer.RetryAfter > 0:
		wait = answer.RetryAfter + jitter
	case answer.Reset > 0: // nothing is left until then (contract, Limits)
		wait = max(wait, answer.Reset+jitter)
	}
	return wait, wait <= maxRetryWait
}

// passing reports whether an error without an answer of the service may be gone
// the next time.
func passing(err error) bool {
	var transport *TransportError
	if errors.As(err, &transport) {
		return true
	}
	var unreadable *UnreadableError
	return errors.As(err, &unreadable) && unreadable.brokenOff
}

// Sleep waits for d, or until ctx ends, and then returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
