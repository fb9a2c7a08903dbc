package confirm

import (
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"tillwatch/api"
)

// Line is one line of the audit log. A line with stage "sending" is on disk
// before the request leaves; the line with its verdict follows.
type Line struct {
	At          time.Time `json:"at"`
	Attempt     string    `json:"attempt"`
	Environment string    `json:"environment"`
	Intent      api.ID    `json:"intent"`
	Stage       Stage     `json:"stage,omitempty"`
	Product     api.Text  `json:"product,omitempty"`
	Merchant    api.Text  `json:"merchant,omitempty"`
	Quantity    int       `json:"quantity,omitempty"`
	Total       string    `json:"total,omitempty"`
	Verdict     Verdict   `json:"verdict,omitempty"`
	Detail      string    `json:"detail,omitempty"`
}

// auditLog is what every tillwatch of this user writes before it sends a confirm,
// so that each knows what the others have sent. Lines are durable before append
// returns.
type auditLog struct {
	path string
	lock *flock.Flock // held while the log is read and then written

	turn chan struct{} // held within this process; guards all below
	file *os.File
	read int64              // how much of the file is in what follows
	open []Line             // sent, and no verdict yet; oldest first
	last map[subject]int64  // where the last line about it ends
	made map[subject]api.ID // of a creation: the newest intent that came of it
	gaps []gap              // oldest first
}

// subject is what a line is about: an intent, by whatever address of the service it
// was reached. Those of stand-ins are others, though their ids may be the same; and so
// are new intents of staging, whose references are no orders of real money.
type subject struct {
	standIn bool
	staged  bool // a new intent of staging
	intent  api.ID
}

func subjectOf(environment string, id api.ID) subject {
	return subject{isStandIn(environment), environment == "staging" && isNew(id), id}
}

// isNew reports whether a line is about a new intent, which has no id yet.
func isNew(id api.ID) bool { return strings.HasPrefix(string(id), creationMark) }

// besides reports whether both are new intents with the same reference, of different
// things.
func (s subject) besides(other subject) bool {
	mine, its := s, other
	mine.intent, its.intent = s.order(), other.order()
	return s != other && mine == its && mine.intent != ""
}

// order is what the new intents of a reference have in common; "" without one.
func (s subject) order() api.ID {
	if end := strings.LastIndexByte(string(s.intent), ' '); isNew(s.intent) && end > len(creationMark) {
		return s.intent[:end]
	}
	return ""
}

// isStandIn reports whether an [api.Environment] of this name is a stand-in's.
func isStandIn(environment string) bool { return environment == "simulator" }

// unsettled lists what was sent without a verdict, oldest first.
func (a *auditLog) unsettled() []Line {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return slices.Clone(a.open)
}

// under is what the log holds, with what other processes have written since.
func under[T any](a *auditLog, read func() T) (held T, err error) {
	err = a.locked(func() error {
		held = read()
		return nil
	})
	return held, err
}

// mark is where the last line about an intent ends, or one about what it is not to
// meet (see [auditLog.besides]).
func (a *auditLog) mark(s subject) (int64, error) {
	return under(a, func() int64 { return a.markOf(s) })
}

func (a *auditLog) markOf(s subject) int64 {
	_, _, mark := a.besides(s)
	return max(a.last[s], mark)
}

// errMeanwhile says that what was read of an intent is older than what the log
// says of it.
var errMeanwhile = errors.New("another tillwatch wrote of it at the same moment")

// begin writes that line is about to be sent, unless a confirm of the same intent
// was sent whose outcome is not known: then the error is an [UnsettledError]. mark
// was taken before the intent was read: if there is a line about it behind mark,
// the error is errMeanwhile.
func (a *auditLog) begin(line Line, mark int64) error {
	return a.locked(func() error {
		if open := a.of(line.subject()); len(open) > 0 {
			return &UnsettledError{open[0]}
		}
		if a.markOf(line.subject()) != mark {
			return errMeanwhile
		}
		return a.write(line)
	})
}

// besides is what came of new intents of something else with the same reference, those
// whose outcome is not known, and where the last line about any of them ends. The caller
// holds the lock.
func (a *auditLog) besides(s subject) (made []api.ID, open []Line, mark int64) {
	if s.order() == "" {
		return nil, nil, 0
	}
	for other, end := range a.last {
		if !other.besides(s) {
			continue
		}
		mark = max(mark, end)
		if id, ok := a.made[other]; ok {
			made = append(made, id)
		}
	}
	for _, line := range a.open {
		if line.subject().besides(s) {
			open = append(open, line)
		}
	}
	slices.Sort(made)
	return made, open, mark
}

// notTaken writes that what was sent of an intent before a moment was not taken.
func (a *auditLog) notTaken(s subject, before time.Time) error {
	old := func(l Line) bool { return l.At.Before(before) }
	return a.conclude(s, old, NotTaken, "reads, two minutes and more after it was sent, say that it still awaits confirmation")
}

// conclude writes how those of the open sends of an intent ended that which names.
// Others may learn the same at the same moment: whoever comes second finds no open
// send any more, so that the log holds one verdict of each.
func (a *auditLog) conclude(s subject, which func(Line) bool, v Verdict, detail string) error {
	return a.locked(func() error {
		written := map[string]bool{} // by attempt; one that was refused for its rate was sent more than once
		for _, line := range a.of(s) {
			if written[line.Attempt] || !which(line) {
				continue
			}
			if err := a.write(line.verdict(v, detail)); err != nil {
				return err
			}
			written[line.Attempt] = true
		}
		return nil
	})
}

// allOpen names all that was sent without a verdict.
func allOpen(Line) bool { return true }

// is names the sends of the same attempt.
func (l Line) is(other Line) bool { return l.Attempt == other.Attempt }

// of lists what was sent of an intent without a verdict, or may have been where the
// log cannot be read. The caller holds the lock.
func (a *auditLog) of(s subject) []Line {
	found := a.hidden(s)
	for _, line := range a.open {
		if line.subject() == s {
			found = append(found, line)
		}
	}
	return found
}

// openOf is the same for callers that do not hold the lock.
func (a *auditLog) openOf(s subject) ([]Line, error) {
	return under(a, func() []Line { return a.of(s) })
}

// besidesOf is the same for callers that do not hold the lock.
func (a *auditLog) besidesOf(s subject) (made []api.ID, open []Line, err error) {
	err = a.locked(func() error {
		made, open, _ = a.besides(s)
		return nil
	})
	return made, open, err
}

// madeOf is the newest intent that came of a creation; "" for none.
func (a *auditLog) madeOf(s subject) (api.ID, error) {
	return under(a, func() api.ID { return a.made[s] })
}

// append writes a line.
func (a *auditLog) append(line Line) error {
	return a.locked(func() error { return a.write(line) })
}

func (l Line) subject() subject { return subjectOf(l.Environment, l.Intent) }

// verdict is the line that records how the confirm of l ended.
func (l Line) verdict(v Verdict, detail string) Line {
	return Line{At: time.Now().UTC(), Attempt: l.Attempt, Environment: l.Environment, Intent: l.Intent, Verdict: v, Detail: detail}
}

func newAttempt() string { return rand.Text() }
