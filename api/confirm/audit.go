package confirm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"tillwatch/api"
)

// Line is one line of the audit log. A line with stage "sending" is on disk before the request is sent; the line
// with its verdict follows.
type Line struct {
	At          time.Time       `json:"at"`
	Date        time.Time       `json:"date,omitzero"` // when the intent was last read, by the service's clock; zero if the service did not say
	Attempt     string          `json:"attempt"`
	After       string          `json:"after,omitempty"` // the last attempt that is settled and bought nothing, which the idempotency key is derived from; "" for none
	Run         string          `json:"run,omitempty"`   // which run sent it, as [Config.Run] names it
	Environment string          `json:"environment"`
	Intent      api.ID          `json:"intent"`
	Stage       Stage           `json:"stage,omitempty"`
	Product     api.Text        `json:"product,omitempty"`
	Merchant    api.Text        `json:"merchant,omitempty"`
	Quantity    int             `json:"quantity,omitempty"`
	Total       string          `json:"total,omitempty"`
	Verdict     Verdict         `json:"verdict,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	State       api.IntentState `json:"state,omitempty"`  // with a verdict: of the intent, as last read
	By          time.Time       `json:"by,omitzero"`      // with stage answered: when reads have settled it, unless they fail
	Agreed      bool            `json:"agreed,omitempty"` // with stage answered: the service said yes, though reads show nothing of it
}

// auditLog is the log that every tillwatch of this user writes before it sends a confirm, so that each knows what
// the others sent. A line is durable when append returns.
type auditLog struct {
	path  string
	lock  *flock.Flock // held while the log is read and then written
	wrote func()       // is called after each line; may be nil
	run   string       // names this run

	turn chan struct{} // the lock within this process; guards the fields below
	file *os.File
	read int64              // how much of the file the fields below reflect
	open []Line             // sent, without a verdict; oldest first
	last map[subject]int64  // where a subject's last line ends
	made map[subject]api.ID // the newest intent that was confirmed, or that an order made
	void map[subject]string // the last attempt that is settled and bought nothing
	gaps []gap              // oldest first
}

// subject is what a line is about: an intent, whatever address it was reached by. Intents of stand-ins are other
// subjects, though their ids may be the same; so are new intents of staging, which move no real money.
type subject struct {
	standIn bool
	staged  bool // a new intent of staging
	intent  api.ID
}

func subjectOf(environment string, id api.ID) subject {
	return subject{isStandIn(environment), environment == "staging" && isNew(id), id}
}

// isStandIn reports whether the environment of this name is a stand-in.
func isStandIn(environment string) bool { return environment == "simulator" }

// unsettled lists the lines sent without a verdict, oldest first.
func (a *auditLog) unsettled() []Line {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return slices.Clone(a.open)
}

// readLocked runs read under the lock, once the log holds what other processes have written.
func readLocked[T any](a *auditLog, read func() T) (held T, err error) {
	err = a.locked(func() error {
		held = read()
		return nil
	})
	return held, err
}

// mark returns where the last line ends that is about a subject.
func (a *auditLog) mark(s subject) (int64, error) {
	return readLocked(a, func() int64 { return a.last[s] })
}

// errMeanwhile says that the log has lines that are newer than the read of the intent.
var errMeanwhile = errors.New("another tillwatch recorded it at the same time")

// begin records that line is about to be sent, and sets what it comes after. The error is an [UnsettledError] if an earlier confirm of the
// intent has no known outcome, and errMeanwhile if there is a line about it after mark, which was taken before the
// intent was read.
func (a *auditLog) begin(line *Line, mark int64) error {
	return a.locked(func() error {
		if open := a.of(line.subject()); len(open) > 0 {
			return &UnsettledError{open[0]}
		}
		if a.last[line.subject()] != mark {
			return errMeanwhile
		}
		line.After = a.void[line.subject()]
		return a.write(*line)
	})
}

// notTaken records that the service took none of the requests for an intent for which old returns true.
func (a *auditLog) notTaken(s subject, old func(Line) bool) error {
	return a.conclude(s, old, Outcome{Verdict: NotTaken}, "two reads, at least "+api.Span(heldFor)+" after it was sent, still show the intent awaiting confirmation")
}

// old reports whether the request cannot have been under way any more at a read, so that an intent which still awaits
// confirmation proves that it was not taken. Nothing proves that where the service said yes. This machine's clock may have been
// set since: the service's counts if it shows less time, or if this machine's was set back.
func (l Line) old(now api.Response) bool {
	if l.Agreed {
		return false
	}
	passed := now.Sent.Sub(l.At)
	if !l.Date.IsZero() && !now.Date.IsZero() {
		if there := now.Date.Sub(l.Date); passed < 0 || there < passed {
			passed = there
		}
	}
	return passed > heldFor
}

// conclude records how the subject's open sends ended, those for which which returns true. Others may learn the
// outcome at the same time: the second finds no open send, so the log holds one verdict of each.
func (a *auditLog) conclude(s subject, which func(Line) bool, out Outcome, detail string) error {
	return a.locked(func() error {
		written := map[string]bool{} // by attempt; what gaps of the log hide has none
		for _, line := range a.of(s) {
			if written[line.Attempt] || !which(line) {
				continue
			}
			end := line.verdict(out.Verdict, detail)
			end.Run = a.run
			if out.Intent != nil {
				end.State = out.Intent.State
			}
			if err := a.write(end); err != nil {
				return err
			}
			written[line.Attempt] = true
		}
		return nil
	})
}

// unrecorded says that the log lacks the verdict of what was sent: later runs read it again.
func unrecorded(err error) error {
	return fmt.Errorf("the audit log does not have this outcome: %w", err)
}

// allOpen selects every open send.
func allOpen(Line) bool { return true }

// is reports whether both lines belong to the same attempt.
func (l Line) is(other Line) bool { return l.Attempt == other.Attempt }

// of lists what was sent for a subject without a verdict, including what unreadable parts of the log may hide. The
// caller holds the lock.
func (a *auditLog) of(s subject) []Line {
	found := a.hidden(s)
	for _, line := range a.open {
		if line.subject() == s {
			found = append(found, line)
		}
	}
	return found
}

// openOf is [auditLog.of] for callers that do not hold the lock.
func (a *auditLog) openOf(s subject) ([]Line, error) {
	return readLocked(a, func() []Line { return a.of(s) })
}

// madeOf returns the newest intent of a subject that was confirmed or made; "" for none.
func (a *auditLog) madeOf(s subject) (api.ID, error) {
	return readLocked(a, func() api.ID { return a.made[s] })
}

// add adds a line to an attempt that is still open: its outcome, or that its request is about to be sent again.
func (a *auditLog) add(line Line) error {
	return a.locked(func() error {
		if !a.isOpen(line) {
			return errSettled
		}
		return a.write(line)
	})
}

// isOpen reports whether the attempt of a line has no verdict. The caller holds the lock.
func (a *auditLog) isOpen(line Line) bool { return slices.ContainsFunc(a.open, line.is) }

func (l Line) subject() subject { return subjectOf(l.Environment, l.Intent) }

// verdict returns the line that records how the confirm of l ended.
func (l Line) verdict(v Verdict, detail string) Line {
	return Line{At: time.Now().UTC(), Attempt: l.Attempt, Run: l.Run, Environment: l.Environment, Intent: l.Intent, Verdict: v, Detail: detail}
}

func newAttempt() string { return rand.Text() }
