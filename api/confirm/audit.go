package confirm

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"tillwatch/api"
	"tillwatch/api/durable"
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
	lock *flock.Flock // held while the log is read and then written

	turn chan struct{} // held within this process; guards all below
	file *os.File
	read int64             // how much of the file is in what follows
	open []Line            // sent, and no verdict yet; oldest first
	last map[subject]int64 // where the last line about it ends
}

// subject is what a line is about: an intent, by whatever address of the service it
// was reached. Those of stand-ins are others, though their ids may be the same.
type subject struct {
	standIn bool
	intent  api.ID
}

func subjectOf(environment string, id api.ID) subject {
	return subject{isStandIn(environment), id}
}

// isStandIn reports whether an [api.Environment] of this name is a stand-in's.
func isStandIn(environment string) bool { return environment == "simulator" }

// openAudit opens the log at path, creating it and its folder for this user
// alone.
func openAudit(path string) (*auditLog, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the audit log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	a := &auditLog{file: file, lock: flock.New(path + ".lock"), turn: make(chan struct{}, 1), last: map[subject]int64{}}
	if err = a.locked(func() error { return nil }); err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		a.close()
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return a, nil
}

// unsettled lists what was sent without a verdict, oldest first.
func (a *auditLog) unsettled() []Line {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return slices.Clone(a.open)
}

// mark is where the last line about an intent ends.
func (a *auditLog) mark(s subject) (mark int64, err error) {
	err = a.locked(func() error {
		mark = a.last[s]
		return nil
	})
	return mark, err
}

// errMeanwhile says that what was read of an intent is older than what the log
// tells of it.
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
		if a.last[line.subject()] != mark {
			return errMeanwhile
		}
		return a.write(line)
	})
}

// notTaken writes that what was sent of an intent before a moment was not taken.
func (a *auditLog) notTaken(s subject, before time.Time) error {
	return a.locked(func() error {
		for _, old := range a.of(s) {
			if !old.At.Before(before) {
				continue
			}
			if err := a.write(old.verdict(NotTaken, "reads, two minutes and more after it was sent, say that it still awaits confirmation")); err != nil {
				return err
			}
		}
		return nil
	})
}

// of lists what was sent of an intent without a verdict. The caller holds the
// lock.
func (a *auditLog) of(s subject) []Line {
	var found []Line
	for _, line := range a.open {
		if line.subject() == s {
			found = append(found, line)
		}
	}
	return found
}

// openOf is the same for callers that do not hold the lock, with what other
// processes have written since.
func (a *auditLog) openOf(s subject) (found []Line, err error) {
	err = a.locked(func() error {
		found = a.of(s)
		return nil
	})
	return found, err
}

// append writes a line.
func (a *auditLog) append(line Line) error {
	return a.locked(func() error { return a.write(line) })
}

const (
	// lockFor is how long a lock is waited for. It is held for as long as a line
	// takes to be written, so whoever holds it longer hangs.
	lockFor  = 5 * time.Second
	lockStep = 5 * time.Millisecond
)

// locked runs do while no other process writes, after having read what they
// wrote.
func (a *auditLog) locked(do func() error) (err error) {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	ctx, cancel := context.WithTimeout(context.Background(), lockFor) // what was sent is recorded, whoever has left
	defer cancel()
	switch _, err := a.lock.TryLockContext(ctx, lockStep); {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("locking the audit log: another tillwatch has held it for seconds: is one of them stopped?")
	case err != nil:
		return fmt.Errorf("locking the audit log: %w", err)
	}
	defer func() { err = errors.Join(err, a.lock.Unlock()) }()
	if err := a.catchUp(); err != nil {
		return err
	}
	return do()
}

// catchUp takes in what was written since. It skips lines that it cannot read: a
// torn line never reached the point where its request was sent. The caller holds
// the lock, so that a line without its end was cut by a crash.
func (a *auditLog) catchUp() error {
	lines := bufio.NewReader(io.NewSectionReader(a.file, a.read, math.MaxInt64-a.read))
	for {
		raw, err := lines.ReadBytes('\n')
		a.read += int64(len(raw))
		var line Line
		if json.Unmarshal(raw, &line) == nil {
			a.note(line)
		}
		switch {
		case errors.Is(err, io.EOF) && len(raw) > 0: // start a fresh line
			n, err := a.file.Write([]byte("\n"))
			a.read += int64(n)
			return err
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the audit log: %w", err)
		}
	}
}

func (a *auditLog) note(line Line) {
	a.last[line.subject()] = a.read
	switch {
	case line.Attempt == "":
	case line.Stage == Sending:
		a.open = append(a.open, line)
	case line.Verdict != "" && line.Verdict != Unknown:
		a.open = slices.DeleteFunc(a.open, func(l Line) bool { return l.Attempt == line.Attempt })
	}
}

// write puts a line at the end. The caller holds the lock.
func (a *auditLog) write(line Line) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	n, err := a.file.Write(append(raw, '\n'))
	a.read += int64(n)
	if err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	if err := a.file.Sync(); err != nil {
		return fmt.Errorf("flushing the audit log: %w", err)
	}
	a.note(line)
	return nil
}

func (a *auditLog) close() error { return errors.Join(a.file.Close(), a.lock.Close()) }

func (l Line) subject() subject { return subjectOf(l.Environment, l.Intent) }

// verdict is the line that says how what l tells of ended.
func (l Line) verdict(v Verdict, detail string) Line {
	return Line{At: time.Now().UTC(), Attempt: l.Attempt, Environment: l.Environment, Intent: l.Intent, Verdict: v, Detail: detail}
}

func newAttempt() string { return rand.Text() }
