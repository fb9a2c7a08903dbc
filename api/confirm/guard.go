package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
)

// Service is what a guard asks of the service; [api.Client] is one.
type Service interface {
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	ConfirmIntent(ctx context.Context, id api.ID, body api.ConfirmIntent) (api.Intent, error)
}

// Config sets a guard up.
type Config struct {
	Service     Service
	Environment string
	Body        api.ConfirmIntent // sent with each confirm
	AuditFile   string            // JSON lines; required. Guards that share it never send an intent twice
	// Read, when set, is told of every intent that the guard reads, with the
	// moment at which the request was sent and whether it answers a confirm.
	Read func(in api.Intent, sent time.Time, confirmed bool)
}

// Guard confirms intents. One request is in flight an intent, whoever asks: in
// this process, or in another one of this machine with the same audit file.
type Guard struct {
	cfg       Config
	audit     *auditLog
	unsettled []Line

	mu       sync.Mutex
	inFlight map[api.ID]bool
}

// perSecondTries bounds the sends, when each before was refused by the per-second
// bucket.
const perSecondTries = 4

// New opens the audit log.
func New(cfg Config) (*Guard, error) {
	if cfg.AuditFile == "" {
		return nil, errors.New("confirming needs a file for its audit log")
	}
	audit, err := openAudit(cfg.AuditFile)
	if err != nil {
		return nil, err
	}
	unsettled := slices.DeleteFunc(audit.unsettled(), func(l Line) bool { return l.Environment != cfg.Environment })
	return &Guard{cfg: cfg, audit: audit, unsettled: unsettled, inFlight: map[api.ID]bool{}}, nil
}

// Close closes the audit log.
func (g *Guard) Close() error { return g.audit.close() }

// Confirm rereads, compares, records, sends, and where the outcome is not known
// reads the intent until it is, or until ctx ends or two minutes have passed. It
// never sends again by itself, but after a per-second 429: that request was not
// processed. It does not send while an earlier confirm of the intent is not known
// to have ended (see [UnsettledError]). progress is told each stage; it may be
// nil.
func (g *Guard) Confirm(ctx context.Context, p Proposal, progress func(Stage)) Outcome {
	if progress == nil {
		progress = func(Stage) {}
	}
	if p.Environment != g.cfg.Environment {
		return Outcome{Verdict: NotSent, Err: fmt.Errorf("it was seen in %q, and this is %q", p.Environment, g.cfg.Environment)}
	}
	if !g.begin(p.ID) {
		return Outcome{Verdict: NotSent, Err: errors.New("a confirm of this intent is already under way")}
	}
	defer g.end(p.ID)
	for try := 1; ; try++ {
		outcome := g.try(ctx, p, progress)
		if try > 1 && outcome.Verdict == NotConfirmable && toldBy(outcome.Intent) == Accepted {
			// The refused request may have had a twin on its way.
			outcome.Verdict = Overtaken
		}
		if outcome.Verdict != Refused || !errors.Is(outcome.Err, api.ErrPerSecond) || try == perSecondTries {
			return outcome
		}
		if err := pause(ctx, wait(outcome.Err)); err != nil {
			return outcome
		}
	}
}

func (g *Guard) begin(id api.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inFlight[id] {
		return false
	}
	g.inFlight[id] = true
	return true
}

func (g *Guard) end(id api.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inFlight, id)
}

// wait is how long a per-second refusal asks for, at least a second.
func wait(err error) time.Duration {
	var refused *api.Error
	if errors.As(err, &refused) && refused.RetryAfter > time.Second {
		return min(refused.RetryAfter, 10*time.Second)
	}
	return 1200 * time.Millisecond
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
