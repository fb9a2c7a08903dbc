package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
)

// savedLayout saves how a person has arranged the screen, in a file of the state
// folder that all profiles share: eyes and habits do not change with the account. The
// palette's history is kept per profile, as it names what an account holds.
type savedLayout struct {
	path    string
	theme   string              // the configured one
	profile string              // "": none
	ran     map[string][]string // palette history by profile
	layout  dashboard.Layout
	filters []dashboard.NamedFilter          // of this run when it last read or saved the file
	bad     bool                             // the file is moved aside before it is replaced
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
	Ran map[string][]string `json:"ran,omitempty"` // by profile
}

// loadLayout reads the saved arrangement. A file that cannot be understood is ignored,
// and warning says so.
func loadLayout(folder, theme, profile string) (r *savedLayout, warning string) {
	r = &savedLayout{path: filepath.Join(folder, "layout.json"), theme: theme, profile: profile, ran: map[string][]string{}, changed: make(chan struct{}, 1)}
	content, err := readAtMost(r.path, maxLayoutFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, ""
	}
	var file layoutFile
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	switch {
	case err == nil && file.Version > layoutVersion:
		r.newer = true
		return r, fmt.Sprintf("%s was written by a newer tillwatch (version %d): it is left alone, and this run does not save how you arrange the screen", r.path, file.Version)
	case err == nil && file.Version < 1:
		err = errors.New("it has no version")
	}
	if err != nil {
		r.bad = true
		return r, fmt.Sprintf("the last arrangement of the screen could not be restored: reading %s: %v", r.path, err)
	}
	r.layout, r.filters = file.Layout, file.Filters
	r.layout.Ran = file.Ran[profile]
	if file.Ran != nil {
		r.ran = file.Ran
	}
	if file.Configured != theme {
		r.layout.Theme = ""
	}
	return r, ""
}

// maxLayoutFile is the file's largest size in bytes.
const maxLayoutFile = 1 << 20

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

// save replaces the file atomically.
func (r *savedLayout) save(l dashboard.Layout) (err error) {
	if r.newer {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("saving the arrangement of the screen: %w", err)
		}
	}()
	own := l.Filters
	l.Filters = r.withOthers(own)
	r.ran[r.profile] = l.Ran
	content, err := json.MarshalIndent(layoutFile{layoutVersion, r.theme, l, r.ran}, "", "  ")
	if err != nil {
		return err
	}
	folder := filepath.Dir(r.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if r.bad {
		if err := os.Rename(r.path, r.path+".bad"); err != nil {
			return err
		}
		r.bad = false
	}
	err = durable.Replace(r.path, func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
	if err == nil {
		r.filters = own
	}
	return err
}

// withOthers takes over what other runs have saved meanwhile: the palette's history of
// their profiles, and all filters but those that this run has changed itself.
func (r *savedLayout) withOthers(own []dashboard.NamedFilter) []dashboard.NamedFilter {
	var file layoutFile
	content, err := readAtMost(r.path, maxLayoutFile)
	if err != nil || json.Unmarshal(content, &file) != nil {
		return own
	}
	maps.Copy(r.ran, file.Ran)
	all := file.Filters
	without := func(name string) {
		all = slices.DeleteFunc(all, func(n dashboard.NamedFilter) bool { return strings.EqualFold(n.Name, name) })
	}
	for _, n := range r.filters {
		if !slices.Contains(own, n) {
			without(n.Name)
		}
	}
	for _, n := range own {
		if !slices.Contains(r.filters, n) {
			without(n.Name)
			all = append(all, n)
		}
	}
	return all
}
