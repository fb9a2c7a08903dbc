package confirm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"tillwatch/api"
	"tillwatch/api/durable"
)

// openAudit opens the log at path. It creates the file and its folder, readable only by this user.
func openAudit(path string) (*auditLog, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the audit log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	a := &auditLog{path: path, file: file, lock: flock.New(beside(path, ".lock")), turn: make(chan struct{}, 1), last: map[subject]int64{}, made: map[subject]api.ID{}, void: map[subject]string{}}
	if err = a.locked(a.noteLoss); err == nil {
		if err = durable.SyncFolder(filepath.Dir(path)); err != nil {
			err = fmt.Errorf("storing the audit log: %w", err)
		}
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// Logged reports whether the audit log at path was ever written, even if it is lost.
func Logged(path string) bool {
	a := auditLog{path: path}
	_, err := os.Stat(path)
	_, lost := os.Stat(a.sizeFile())
	return err == nil || lost == nil
}

func (a *auditLog) close() error { return errors.Join(a.file.Close(), a.lock.Close()) }

const (
	// lockFor is how long to wait for the lock. It is held while a line or a request is written: whoever holds it
	// longer hangs.
	lockFor  = 5 * time.Second
	lockStep = 5 * time.Millisecond
)

// locked takes in what other processes wrote, and then runs do while none of them writes.
func (a *auditLog) locked(do func() error) error {
	unlock, err := a.hold()
	if err != nil {
		return err
	}
	return errors.Join(do(), unlock())
}

// hold takes in what other processes wrote, and keeps them from writing until unlock is called.
func (a *auditLog) hold() (unlock func() error, err error) {
	a.turn <- struct{}{}
	defer func() {
		if err != nil {
			<-a.turn
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), lockFor) // record what was sent even if the caller has given up
	defer cancel()
	switch _, err := a.lock.TryLockContext(ctx, lockStep); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("locking the audit log: another tillwatch has held it for seconds; is one suspended?")
	case err != nil:
		return nil, fmt.Errorf("locking the audit log: %w", err)
	}
	if err := a.catchUp(); err != nil {
		return nil, errors.Join(err, a.lock.Unlock())
	}
	return func() error {
		defer func() { <-a.turn }()
		return a.lock.Unlock()
	}, nil
}

// catchUp takes in what was written since. The caller holds the lock, so a last line without an end was cut by a
// crash: its request was never sent, and catchUp removes it.
func (a *auditLog) catchUp() error {
	info, err := a.intact()
	if err != nil {
		return err
	}
	lines := bufio.NewReader(io.NewSectionReader(a.file, a.read, math.MaxInt64-a.read))
	for {
		raw, err := a.nextLine(lines)
		switch {
		case errors.Is(err, io.EOF) && len(raw) > 0:
			err = a.file.Truncate(a.read)
		case err == nil:
			a.read += int64(len(raw))
			a.take(raw)
			continue
		}
		a.dateGaps(info.ModTime())
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the audit log: %w", err)
		}
		return nil
	}
}

// mostLine is more than any line takes: its texts are from one answer, which is bounded.
const mostLine = 64 << 20

// nextLine reads a line with its end.
func (a *auditLog) nextLine(lines *bufio.Reader) (raw []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if raw = append(raw, part...); len(raw) > mostLine {
			return nil, fmt.Errorf("%s has a line of more than %d MiB, which tillwatch did not write: move the file aside and start again", a.path, mostLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return raw, err
		}
	}
}

// intact checks that the file is still the one that was opened and has lost no lines; otherwise what others sent
// would be unknown.
func (a *auditLog) intact() (os.FileInfo, error) {
	there, err := os.Stat(a.path)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	own, statErr := a.file.Stat()
	switch {
	case statErr == nil && !own.Mode().IsRegular(): // it would be endless, or remember nothing
		return nil, fmt.Errorf("the audit log %s is not a regular file", a.path)
	case err == nil && statErr == nil && os.SameFile(there, own) && own.Size() >= a.read:
		return own, nil
	}
	return nil, errors.Join(fmt.Errorf("the audit log %s was removed, replaced or cut while it was in use, so earlier confirms may not be known: start tillwatch again", a.path), statErr)
}

// take takes in one line, with its line end.
func (a *auditLog) take(raw []byte) {
	var line Line
	switch err := json.Unmarshal(raw, &line); {
	case strings.TrimSpace(string(raw)) == "":
	case err == nil && line.Stage == Lost:
		a.gaps = append(a.gaps, gap{end: a.read, by: line.At, what: "was removed or cut"})
	case err != nil || line.Intent == "":
		a.gaps = append(a.gaps, gap{end: a.read, what: "has a line that cannot be read"})
	default:
		a.dateGaps(line.At)
		a.note(line)
	}
}

func (a *auditLog) note(line Line) {
	a.last[line.subject()] = a.read
	switch {
	case line.Attempt == "":
	case line.Stage == Sending:
		// One refused for its rate is sent again: the newest request is what may be under way.
		a.open = append(slices.DeleteFunc(a.open, line.is), line)
	case line.Stage == Answered:
		for i := range a.open {
			a.open[i].Agreed = a.open[i].Agreed || line.Agreed && a.open[i].is(line)
		}
	case line.Verdict != "" && line.Verdict != Unknown:
		a.open = slices.DeleteFunc(a.open, func(l Line) bool { return l.Attempt == line.Attempt })
		switch line.Verdict {
		case NotTaken, Refused, NotConfirmable:
			a.void[line.subject()] = line.Attempt
		case Accepted, Overtaken:
			a.made[line.subject()] = api.ID(api.Scrub(strings.TrimPrefix(line.Detail, string(line.Verdict)+": ")))
		}
	}
}

// write appends a line. The caller holds the lock.
func (a *auditLog) write(line Line) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if _, err := a.file.Write(raw); err != nil {
		// Part of a line may be there. If this fails, the next reader removes it.
		_ = a.file.Truncate(a.read)
		return fmt.Errorf("writing the audit log: %w", err)
	}
	a.read += int64(len(raw))
	if err := a.file.Sync(); err != nil {
		return fmt.Errorf("flushing the audit log: %w", err)
	}
	a.take(raw)
	a.saveSize()
	if a.wrote != nil {
		a.wrote()
	}
	return nil
}

// mostLinks is more symlinks in a row than any system follows.
const mostLinks = 255

// beside returns the path of a file next to the log. It is the same for everyone who opens the log, by whatever symlink,
// even if the log is gone.
func beside(path, suffix string) string {
	for range mostLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real + suffix
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		to, linkErr := os.Readlink(path)
		if err != nil || linkErr != nil {
			break
		}
		if path = to; !filepath.IsAbs(to) {
			path = filepath.Join(folder, to)
		}
	}
	return path + suffix
}

// The log's size is kept in a file next to it, to distinguish a removed or cut log from a new one.

func (a *auditLog) sizeFile() string { return beside(a.path, ".size") }

// saveSize may fail: then only the loss of the newest lines would go unnoticed.
func (a *auditLog) saveSize() {
	_ = os.WriteFile(a.sizeFile(), []byte(strconv.FormatInt(a.read, 10)+"\n"), 0o600)
}

// size returns the size that the log had when it was last written; known is false if that was not noted.
func (a *auditLog) size() (size int64, known bool) {
	text, err := os.ReadFile(a.sizeFile())
	if err != nil {
		return 0, false
	}
	size, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return size, err == nil
}

// noteLoss records in the log that lines were lost, for later readers. The caller holds the lock.
func (a *auditLog) noteLoss() error {
	size, known := a.size()
	if !known || size <= a.read {
		if a.read > 0 && size != a.read {
			a.saveSize()
		}
		return nil
	}
	written := time.Now()
	if info, err := os.Stat(a.sizeFile()); err == nil && info.ModTime().Before(written) {
		written = info.ModTime() // when the last line was written
	}
	return a.write(Line{At: written.UTC(), Stage: Lost, Detail: "the log was removed or cut; this is when its last line was written; earlier confirms are not known"})
}
