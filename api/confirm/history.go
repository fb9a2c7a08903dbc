package confirm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"tillwatch/api"
)

// Attempt is one confirm of an intent, as the audit log tells it.
type Attempt struct {
	Sent     Line // as it was sent, the newest time where that was repeated
	Answered Line // the answer that proves nothing, in its Detail; zero: none came yet
	Ended    Line // with the verdict; zero while the outcome is unknown
}

// Open reports whether the outcome is not known.
func (a *Attempt) Open() bool { return a.Ended.Verdict == "" }

// HistoryKept is how long a [History] keeps an attempt after its end.
const HistoryKept = 24 * time.Hour

// History follows an audit log that any process may write. It never writes or locks it, so a read-only run can tell
// what became of the confirms of others.
type History struct {
	path         string
	environments []string
	opened       os.FileInfo // the file read so far; nil before the first read
	taken        int64       // how much of it
	attempts     []*Attempt  // open ones and those that ended lately, oldest first
	byID         map[string]*Attempt
	damaged      bool // a line cannot be read
}

// NewHistory follows the log at path, which need not exist. It tells of the confirms in these environments; nil: in all.
func NewHistory(path string, environments []string) *History {
	return &History{path: path, environments: environments, byID: map[string]*Attempt{}}
}

// Read returns what the log tells now: every confirm without a known outcome, and those that ended within
// [HistoryKept], oldest first. New intents, which have no id yet, are not among them. What cannot be read is left out.
func (h *History) Read() []Attempt {
	attempts, _ := h.read()
	return attempts
}

// read returns the same, and whether all of the log was read.
func (h *History) read() (all []Attempt, whole bool) {
	err := h.catchUp()
	h.attempts = slices.DeleteFunc(h.attempts, func(a *Attempt) bool {
		over := !a.Open() && time.Since(a.Ended.At) > HistoryKept
		if over {
			delete(h.byID, a.Sent.Attempt)
		}
		return over
	})
	for _, a := range h.attempts {
		all = append(all, *a)
	}
	return all, err == nil && !h.damaged
}

// catchUp takes in the whole lines that were written since.
func (h *History) catchUp() error {
	file, err := os.Open(h.path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return os.ErrInvalid
	}
	if h.opened == nil || !os.SameFile(h.opened, info) || info.Size() < h.taken {
		*h = *NewHistory(h.path, h.environments)
	}
	h.opened = info
	lines := bufio.NewReader(io.NewSectionReader(file, h.taken, info.Size()-h.taken))
	for {
		raw, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the rest of a line is still to come
		}
		h.taken += int64(len(raw))
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		var line Line
		if err := json.Unmarshal(raw, &line); err != nil || line.Intent == "" {
			h.damaged = true
			continue
		}
		h.take(line)
	}
}

func (h *History) take(line Line) {
	if isNew(line.Intent) || line.Attempt == "" || h.environments != nil && !slices.Contains(h.environments, line.Environment) {
		return
	}
	line.Product, line.Merchant = api.Scrub(string(line.Product)), api.Scrub(string(line.Merchant))
	line.Detail, line.Run, line.Total = string(api.Scrub(line.Detail)), string(api.Scrub(line.Run)), string(api.Scrub(line.Total))
	a := h.byID[line.Attempt]
	switch {
	case a == nil && line.Stage == Sending:
		a = &Attempt{Sent: line}
		h.attempts, h.byID[line.Attempt] = append(h.attempts, a), a
	case a == nil:
	case line.Stage == Sending:
		a.Sent.At = line.At
	case line.Stage == Answered, line.Verdict == Unknown && a.Answered.Attempt == "":
		a.Answered = line
	case line.Verdict != "" && line.Verdict != Unknown:
		a.Ended = line
	}
}
