package confirm

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

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

// auditLog appends lines that are durable before append returns.
type auditLog struct {
	mu   sync.Mutex
	file *os.File
}

// openAudit opens the log at path, creating it and its folder for this user
// alone, and returns the confirms that it knows the sending of, but no verdict.
func openAudit(path string) (*auditLog, []Line, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the folder of the audit log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the audit log: %w", err)
	}
	unsettled, torn, err := readUnsettled(file)
	if err == nil && torn {
		_, err = file.Write([]byte("\n")) // a crash cut the last line: start a fresh one
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return &auditLog{file: file}, unsettled, nil
}

// readUnsettled skips lines that it cannot read: a torn line never reached the
// point where its request was sent.
func readUnsettled(r io.Reader) (unsettled []Line, torn bool, err error) {
	byAttempt := map[string]Line{}
	var order []string
	lines := bufio.NewReader(r)
	for {
		raw, err := lines.ReadBytes('\n')
		if len(raw) > 0 {
			torn = raw[len(raw)-1] != '\n'
			var line Line
			if json.Unmarshal(raw, &line) == nil && line.Attempt != "" {
				switch {
				case line.Stage == Sending:
					byAttempt[line.Attempt] = line
					order = append(order, line.Attempt)
				case line.Verdict != "" && line.Verdict != Unknown:
					delete(byAttempt, line.Attempt)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	for _, attempt := range order {
		if line, ok := byAttempt[attempt]; ok {
			unsettled = append(unsettled, line)
		}
	}
	return unsettled, torn, nil
}

func (a *auditLog) append(line Line) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	if err := a.file.Sync(); err != nil {
		return fmt.Errorf("flushing the audit log: %w", err)
	}
	return nil
}

func (a *auditLog) close() error { return a.file.Close() }

// syncFolder makes the file's name as durable as its content, where the system
// can do it.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !os.IsPermission(err) {
		return err
	}
	return nil
}

func newAttempt() string { return rand.Text() }
