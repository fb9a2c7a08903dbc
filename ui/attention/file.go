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

// File keeps one account's [Memory] and record of sent alerts in a folder that
// several processes share. Each change applies to the file's current content.
type File struct {
	path string

	mu      sync.Mutex
	waiting []func(*Memory)
	wake    chan struct{} // holds a token while something waits
	failed  error
}

// content is what the file holds.
type content struct {
	Version int `json:"version"`
	Memory
	Sent []sent `json:"sent,omitempty"`
}

const (
	contentVersion = 1
	longestContent = 4 << 20 // bytes
	lockWithin     = 5 * time.Second
)

// OpenFile names the file of an account in a folder; it neither reads nor creates
// anything. account distinguishes accounts and is never a key; only its hash is
// written.
func OpenFile(folder, account string) *File {
	name := sha256.Sum256([]byte(account))
	return &File{path: filepath.Join(folder, "attention-"+hex.EncodeToString(name[:8])+".json"), wake: make(chan struct{}, 1)}
}

// Load reads the file. A missing file is not an error.
func (f *File) Load() (Memory, error) {
	c, err := f.read()
	if err != nil {
		return Memory{}, fmt.Errorf("reading acknowledged and muted alerts: %w", err)
	}
	return c.Memory, nil
}

// errNewer: a newer version's file is left alone.
var errNewer = errors.New("a newer tillwatch wrote it")

func (f *File) read() (c content, err error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{Version: contentVersion}, nil
	}
	if err != nil {
		return c, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestContent+1))
	if err != nil {
		return c, err
	}
	switch err := json.Unmarshal(text, &c); {
	case err != nil, len(text) > longestContent, c.Version < 1:
		return content{}, fmt.Errorf("%s is damaged: delete it to start over", f.path)
	case c.Version > contentVersion:
		return content{}, fmt.Errorf("%s: %w", f.path, errNewer)
	}
	return c, nil
}

// change applies a change to the file under its lock.
func (f *File) change(ctx context.Context, do func(*content)) error {
	return durable.Exclusively(ctx, f.path, lockWithin, func() error {
		c, err := f.read()
		if err != nil {
			return err
		}
		do(&c)
		return durable.Replace(f.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
	})
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
	err := f.change(context.Background(), func(c *content) {
		for _, do := range all {
			do(&c.Memory)
		}
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
