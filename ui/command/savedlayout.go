package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
)

// savedLayout saves how a person has arranged the screen, in a file of the state
// folder that all profiles share: eyes and habits do not change with the account.
type savedLayout struct {
	path    string
	theme   string // the configured one
	layout  dashboard.Layout
	newer   bool                             // a newer version wrote the file: it is left alone
	latest  atomic.Pointer[dashboard.Layout] // not saved yet; nil: none
	changed chan struct{}                    // holds a token while latest is new
	failed  error
}

// layoutVersion is the version of the file's format.
const layoutVersion = 1

// layoutFile is the file's content. A theme chosen by key is kept until the
// configured theme changes.
type layoutFile struct {
	Version    int    `json:"version"`
	Configured string `json:"configured_theme"`
	dashboard.Layout
}

// loadLayout reads the saved arrangement. A file that cannot be understood is ignored,
// and warning says so.
func loadLayout(folder, theme string) (r *savedLayout, warning string) {
	r = &savedLayout{path: filepath.Join(folder, "layout.json"), theme: theme, changed: make(chan struct{}, 1)}
	file, err := readLayout(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, ""
	case err != nil:
		return r, fmt.Sprintf("the last arrangement of the screen could not be restored: reading %s: %v", r.path, err)
	case file.Version > layoutVersion:
		r.newer = true
		return r, newerLayout(r.path, file.Version)
	}
	r.layout = file.Layout
	if file.Configured != theme {
		r.layout.Theme = ""
	}
	return r, ""
}

// maxLayoutFile is the file's largest size in bytes.
const maxLayoutFile = 1 << 20

// readLayout reads the file at path. Only the version of one that a newer version wrote
// is reliable.
func readLayout(path string) (file layoutFile, err error) {
	content, err := readAtMost(path, maxLayoutFile)
	if err != nil {
		return file, err
	}
	err = json.Unmarshal(content, &file)
	switch {
	case file.Version > layoutVersion:
		return file, nil
	case err == nil && file.Version < 1:
		err = errors.New("it has no version")
	}
	return file, err
}

func newerLayout(path string, version int) string {
	return fmt.Sprintf("%s was written by a newer tillwatch (version %d): it is left alone, and this run does not save how you arrange the screen", path, version)
}

// remember takes over the current arrangement; it never blocks.
func (r *savedLayout) remember(l dashboard.Layout) {
	r.latest.Store(&l)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// run saves arrangements until ctx ends, and the last one then. What could not be saved is
// tried again with the next one, and at the end.
func (r *savedLayout) run(ctx context.Context) error {
	if r == nil {
		return nil
	}
	for over := false; !over; {
		select {
		case <-r.changed:
		case <-ctx.Done():
			over = true
		}
		if l := r.latest.Swap(nil); l != nil {
			if r.failed = r.save(*l); r.failed != nil {
				r.latest.CompareAndSwap(nil, l)
			}
		}
	}
	return nil
}

// reportFailure says what could not be saved, once the screen is gone.
func (r *savedLayout) reportFailure(words io.Writer) {
	if r.failed != nil {
		fmt.Fprintf(words, "tillwatch: %v\n", r.failed)
	}
}

// save replaces the file: the last run to save wins.
func (r *savedLayout) save(l dashboard.Layout) error {
	if r.newer {
		return nil
	}
	if err := r.replace(l); err != nil {
		return fmt.Errorf("saving the arrangement of the screen: %w", err)
	}
	return nil
}

// replace replaces the file atomically. A file that cannot be understood is moved aside first.
func (r *savedLayout) replace(l dashboard.Layout) error {
	file, err := readLayout(r.path)
	switch {
	case err == nil && file.Version > layoutVersion:
		return errors.New(newerLayout(r.path, file.Version))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		if err := os.Rename(r.path, r.path+".bad"); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(layoutFile{layoutVersion, r.theme, l}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	return durable.Replace(r.path, func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
}
