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

// Service is what a guard needs of the service; [api.Client] is one.
type Service interface {
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	ConfirmIntent(ctx context.Context, id api.ID, body api.ConfirmIntent) (api.Intent, error)
}

// Config configures a guard.
type Config struct {
	Service      Service
	Environments []string          // names that the service may have; lines of other environments are ignored
	Body         api.ConfirmIntent // the body of each confirm
	AuditFile    string            // JSON lines; required. Guards that share it never confirm an intent twice
	Run          string            // names this run in the audit log, such as "watch, process 4711"; may be ""
	Recorded     func()            // when set, is called after each line that this guard writes; it must not block
	// Read, when set, is called with every intent that the guard reads, when the request was sent, and whether the
	// intent is the answer to a confirm.
	Read func(in api.Intent, sent time.Time, confirmed bool)
}

// Guard confirms intents. It has one request in flight per intent, across all processes of this machine that share
// its audit file.
type Guard struct {
	cfg      Config
	audit    *auditLog
	inFlight sync.Map // ids of the intents being confirmed
}

// New opens the audit log.
func New(cfg Config) (*Guard, error) {
	if cfg.AuditFile == "" {
		return nil, errors.New("confirming needs a file for its audit log")
	}
	if len(cfg.Environments) == 0 {
		return nil, errors.New("confirming needs to know where it confirms")
	}
	audit, err := openAudit(cfg.AuditFile)
	if err != nil {
		return nil, err
	}
	audit.wrote, audit.run = cfg.Recorded, cfg.Run
	return &Guard{cfg: cfg, audit: audit}, nil
}

// Close closes the audit log.
func (g *Guard) Close() error { return g.audit.close() }

// Confirm rereads the intent, compares it with what was seen, records the confirm and sends it. If the answer does
// not prove the outcome, it reads the intent until it is known, ctx ends, or it takes too long. It resends only
// after a per-second 429, whose request was not processed. It does not send while an earlier confirm of the intent
// has no known outcome (see [UnsettledError]). It calls progress with each stage; progress may be nil.
func (g *Guard) Confirm(ctx context.Context, p Proposal, progress func(Progress)) Outcome {
	if progress == nil {
		progress = func(Progress) {}
	}
	if !slices.Contains(g.cfg.Environments, p.Environment) {
		return Outcome{Verdict: NotSent, Err: fmt.Errorf("it was seen in %q, which is not the environment here: look at it again", p.Environment)}
	}
	if !g.begin(p.ID) {
		return Outcome{Verdict: NotSent, Err: errors.New("a confirm of this intent is already under way")}
	}
	defer g.end(p.ID)
	c := &confirming{guard: g, seen: p, report: progress}
	for try := 1; ; try++ {
		out := c.run(ctx)
		if !errors.Is(out.Err, errMeanwhile) || try == races {
			return out
		}
	}
}

func (g *Guard) begin(id api.ID) bool {
	_, busy := g.inFlight.LoadOrStore(id, true)
	return !busy
}

func (g *Guard) end(id api.ID) { g.inFlight.Delete(id) }

// wait returns how long a per-second refusal asks to wait, at least a second.
func wait(err error) time.Duration {
	var refused *api.Error
	if errors.As(err, &refused) && refused.RetryAfter > time.Second {
		return min(refused.RetryAfter, 10*time.Second)
	}
	return 1200 * time.Millisecond
}
