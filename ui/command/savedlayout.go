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

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
)

// savedLayout saves how a person has arranged the screen, in a file of the state folder that all profiles share: eyes
// and habits do not change with the account. The last run to save wins.
type savedLayout struct {
	path    string
	theme   string // the configured one
	layout  dashboard.Layout
	bad     bool                             // the file could not be understood: it is put aside
	latest  atomic.Pointer[dashboard.Layout] // not saved yet; nil: none
	changed chan struct{}                    // holds a token while latest is new
	failed  error
}

// layoutFile is the file's content. A theme chosen by key is kept until the configured theme changes.
type layoutFile struct {
	Configured string `json:"configured_theme"`
	dashboard.Layout
}

// loadLayout reads the saved arrangement. A file that cannot be understood is ignored, and warning says so.
func loadLayout(folder, theme string) (r *savedLayout, warning string) {
	r = &savedLayout{path: filepath.Join(folder, "layout.json"), theme: theme, changed: make(chan struct{}, 1)}
	content, err := config.ReadFile(r.path, api.FileText)
	var file layoutFile
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, ""
	case err != nil:
		r.bad = true
		return r, fmt.Sprintf("the last arrangement of the screen could not be restored: reading %s: %v", r.path, err)
	}
	r.layout = file.Layout
	if file.Configured != theme {
		r.layout.Theme = ""
	}
	return r, ""
}

// remember takes over the current arrangement; it never blocks.
func (r *savedLayout) remember(l dashboard.Layout) {
	r.latest.Store(&l)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// run saves arrangements until ctx ends, and the last one then. What could not be saved is tried again with the next
// one, and at the end.
func (r *savedLayout) run(ctx context.Context) error {
	for over := false; !over; {
		select {
		case <-r.changed:
		case <-ctx.Done():
			over = true
		}
		if l := r.latest.Swap(nil); l != nil {
			if r.failed = r.save(*l); r.failed != nil {
				r.failed = fmt.Errorf("saving the arrangement of the screen: %w", r.failed)
				r.latest.CompareAndSwap(nil, l)
			}
		}
	}
	return nil
}

// save replaces the file. One that could not be understood is moved aside first.
func (r *savedLayout) save(l dashboard.Layout) error {
	if r.bad {
		if err := os.Rename(r.path, r.path+".bad"); err != nil {
			return err
		}
		r.bad = false
	}
	content, err := json.MarshalIndent(layoutFile{r.theme, l}, "", "  ")
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
