// Package confirm submits intents for purchase, with money behind the key:
// bound to what a person saw, never twice, and honest about what is not known.
package confirm

import (
	"context"
	"time"

	"tillwatch/api"
)

// Service is what a guard asks of the service; [api.Client] is one.
type Service interface {
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	ConfirmIntent(ctx context.Context, id api.ID, body api.ConfirmIntent) (api.Intent, error)
}

// Proposal is what a person saw and says yes to. It is made by [Propose] alone.
type Proposal struct {
	ID          api.ID
	Environment string
	Product     api.Text
	Merchant    api.Text
	Quantity    int
	Cost        api.Cost
	Total       api.Money
	ExpiresAt   time.Time // end of the confirm window; zero while not known
	ReadAt      time.Time
}

// Propose binds what was read. It refuses an intent that was not read as
// awaiting_confirmation, or that has no total.
func Propose(read *api.Intent, readAt time.Time, environment string, window time.Duration) (Proposal, error) {
	panic("unwritten")
}

// Stage is where a confirm stands.
type Stage string

// The stages, in order. Settling is passed only when the outcome of sending is
// not known.
const (
	Rereading Stage = "rereading"
	Recording Stage = "recording"
	Sending   Stage = "sending"
	Settling  Stage = "settling"
)

// Verdict is how a confirm ended.
type Verdict string

// The verdicts.
const (
	Accepted       Verdict = "accepted"        // the service took it
	Changed        Verdict = "changed"         // what was seen is no longer so; nothing was sent
	NotConfirmable Verdict = "not confirmable" // the intent is not awaiting any more; nothing was placed by this
	Refused        Verdict = "refused"         // the service said no; nothing was placed
	Unknown        Verdict = "unknown"         // sent, and what came of it is not known yet
	NotSent        Verdict = "not sent"        // it could not be reread or recorded; nothing was sent
)

// Difference is one thing that is not as the person saw it.
type Difference struct{ What, Seen, Now string }

// Outcome tells how a confirm ended.
type Outcome struct {
	Verdict     Verdict
	Intent      *api.Intent  // as last read; nil when it was not
	Differences []Difference // with Changed
	Err         error
}

// Guard confirms intents. One request is in flight an intent, whoever asks.
type Guard struct{}

// Config sets a guard up.
type Config struct {
	Service     Service
	Environment string
	Window      time.Duration     // default api.ConfirmWindow
	Body        api.ConfirmIntent // sent with each confirm
	AuditFile   string            // JSON lines; required
}

// New opens the audit log.
func New(cfg Config) (*Guard, error) { panic("unwritten") }

// Confirm rereads, compares, records, sends, and where the outcome is not known
// reads the intent until it is, or ctx ends. progress is told each stage; it may
// be nil.
func (g *Guard) Confirm(ctx context.Context, p Proposal, progress func(Stage)) Outcome {
	panic("unwritten")
}
