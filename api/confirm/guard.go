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
	Service      Service
	Environments []string          // that the service may turn out to be; what was sent elsewhere is of no concern
	Body         api.ConfirmIntent // sent with each confirm
	AuditFile    string            // JSON lines; required. Guards that share it never send an intent twice
	// Read, when set, is called with every intent that the guard reads, the moment
	// at which the request was sent, and whether it answers a confirm.
	Read func(in api.Intent, sent time.Time, confirmed bool)
}

// Guard confirms intents. One request is in flight an intent, whoever asks: in
// this process, or in another one of this machine with the same audit file.
type Guard struct {
	cfg       Config
	audit     *auditLog
	unsettled []Line
	inFlight  sync.Map // ids of intents
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
	unsettled := slices.DeleteFunc(audit.unsettled(), func(l Line) bool {
		return !slices.Contains(cfg.Environments, l.Environment) || isNew(l.Intent) // there is none to read
	})
	return &Guard{cfg: cfg, audit: audit, unsettled: unsettled}, nil
}

// Close closes the audit log.
func (g *Guard) Close() error { return g.audit.close() }

// Confirm rereads, compares, records, sends, and where the answer does not prove
// what came of it reads the intent until that is known, or until ctx ends or it
// takes too long. It never sends again by itself, but after a per-second 429: that
// request was not processed. It does not send while an earlier confirm of the
// intent is not known to have ended (see [UnsettledError]). progress is called with each
// stage; it may be nil.
func (g *Guard) Confirm(ctx context.Context, p Proposal, progress func(Progress)) Outcome {
	if progress == nil {
		progress = func(Progress) {}
	}
	if !slices.Contains(g.cfg.Environments, p.Environment) {
		return Outcome{Verdict: NotSent, Err: fmt.Errorf("it was seen in %q, and not in what answers here: look at it again", p.Environment)}
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

// wait is how long a per-second refusal asks for, at least a second.
func wait(err error) time.Duration {
	var refused *api.Error
	if errors.As(err, &refused) && refused.RetryAfter > time.Second {
		return min(refused.RetryAfter, 10*time.Second)
	}
	return 1200 * time.Millisecond
}
