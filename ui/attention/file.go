package attention

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tillwatch/api/durable"
)

// File keeps one account's [Memory] in a folder that several processes share. Each change
// applies to the file's current content.
type File struct {
	path string
	wake chan struct{} // holds a token while something waits

	mu      sync.Mutex
	waiting []func(*Memory)
	failed  error
}

// content is what the file holds.
type content struct {
	Version int `json:"version"`
	Memory
}

const (
	contentVersion = 1
	lockWithin     = 5 * time.Second
)

// OpenFile names the file of an account in a folder; it neither reads nor creates
// anything. account distinguishes accounts and is never a key; only its hash is
// written.
func OpenFile(folder, account string) *File {
	name := sha256.Sum256([]byte(account))
	path := filepath.Join(folder, "attention-"+hex.EncodeToString(name[:8])+".json")
	return &File{path: path, wake: make(chan struct{}, 1)}
}

// Load reads the file. A missing file is not an error.
func (f *File) Load() (Memory, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Memory{}, nil
	}
	var c content
	if err == nil && (json.Unmarshal(text, &c) != nil || c.Version != contentVersion) {
		err = fmt.Errorf("%s is damaged, or of a newer tillwatch: delete it to start over", f.path)
	}
	if err != nil {
		return Memory{}, fmt.Errorf("reading acknowledged and muted alerts: %w", err)
	}
	return c.Memory, nil
}

// Change queues a change; it never blocks.
func (f *File) Change(do func(*Memory)) {
	f.mu.Lock()
	f.waiting = append(f.waiting, do)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Run applies changes until ctx ends, and then the queued ones. Failures end nothing
// else: [File.Err] reports them, and what failed is tried again with the next change and at
// the end.
func (f *File) Run(ctx context.Context) error {
	for {
		select {
		case <-f.wake:
			f.flush()
		case <-ctx.Done():
			f.flush()
			return nil
		}
	}
}

func (f *File) flush() {
	f.mu.Lock()
	all := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	if len(all) == 0 {
		return
	}
	err := durable.Exclusively(context.Background(), f.path, lockWithin, func() error {
		m, err := f.Load()
		if err != nil {
			return err
		}
		for _, do := range all {
			do(&m)
		}
		return durable.Replace(f.path, func(w io.Writer) error {
			return json.NewEncoder(w).Encode(content{contentVersion, m})
		})
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed = nil; err != nil {
		f.failed = fmt.Errorf("saving acknowledged and muted alerts: %w", err)
		f.waiting = append(all, f.waiting...)
	}
}

// Err is why a change could not be saved; nil if all are.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}
