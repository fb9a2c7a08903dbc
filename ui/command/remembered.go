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

	"tillwatch/api/durable"
	"tillwatch/ui/dashboard"
)

// remembered keeps how a person has arranged the screen, in a file of the state
// folder. It is one for all profiles: eyes and habits do not change with the
// account. What the palette ran is the profile's own, as it names what an account
// holds.
type remembered struct {
	path    string
	theme   string              // as configured
	profile string              // "": none
	ran     map[string][]string // by the palette, of each profile
	layout  dashboard.Layout
	bad     bool // the file is put aside before another takes its place
	newer   bool // the file is another version's: it is left alone
	latest  chan dashboard.Layout
	failed  error
}

// rememberedVersion is of the file's form.
const rememberedVersion = 1

// rememberedFile is what the file holds. A theme that was chosen by key holds
// until another one is configured than at that time.
type rememberedFile struct {
	Version    int    `json:"version"`
	Configured string `json:"configured_theme"`
	dashboard.Layout
	Ran map[string][]string `json:"ran,omitempty"` // of each profile
}

// recall reads what is remembered. A file that cannot be understood is ignored,
// and warning says so.
func recall(folder, theme, profile string) (r *remembered, warning string) {
	r = &remembered{path: filepath.Join(folder, "layout.json"), theme: theme, profile: profile, ran: map[string][]string{}, latest: make(chan dashboard.Layout, 1)}
	content, err := readAtMost(r.path, longestRemembered)
	if errors.Is(err, fs.ErrNotExist) {
		return r, ""
	}
	var file rememberedFile
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	switch {
	case err == nil && file.Version > rememberedVersion:
		r.newer = true
		return r, fmt.Sprintf("%s was written by a newer tillwatch (version %d): it stays as it is, and this run does not save how you arrange the screen", r.path, file.Version)
	case err == nil && file.Version < 1:
		err = errors.New("it has no version")
	}
	if err != nil {
		r.bad = true
		return r, fmt.Sprintf("the last arrangement of the screen could not be restored: reading %s: %v", r.path, err)
	}
	r.layout = file.Layout
	r.layout.Ran = file.Ran[profile]
	if file.Ran != nil {
		r.ran = file.Ran
	}
	if file.Configured != theme {
		r.layout.Theme = ""
	}
	return r, ""
}

// longestRemembered bounds the file, in bytes.
const longestRemembered = 1 << 20

func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return content, err
}

// remember takes over how the screen is arranged now; it never blocks.
func (r *remembered) remember(l dashboard.Layout) {
	for {
		select {
		case r.latest <- l:
			return
		default:
		}
		select {
		case <-r.latest: // overtaken
		default:
		}
	}
}

// run writes what is to be remembered until ctx ends, and what is left then. That
// it cannot is no reason to end anything else.
func (r *remembered) run(ctx context.Context) error {
	if r == nil {
		return nil
	}
	for r.failed == nil {
		select {
		case l := <-r.latest:
			r.failed = r.save(l)
		case <-ctx.Done():
			select {
			case l := <-r.latest:
				r.failed = r.save(l)
			default:
			}
			return nil
		}
	}
	return nil
}

// tell says what could not be remembered, once the screen is gone.
func (r *remembered) tell(words io.Writer) {
	if r.failed != nil {
		fmt.Fprintf(words, "tillwatch: %v\n", r.failed)
	}
}

// save replaces the file as a whole: after a crash there is the old one or the
// new one.
func (r *remembered) save(l dashboard.Layout) (err error) {
	if r.newer {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("saving the arrangement of the screen: %w", err)
		}
	}()
	r.ran[r.profile] = l.Ran
	content, err := json.MarshalIndent(rememberedFile{rememberedVersion, r.theme, l, r.ran}, "", "  ")
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
	return durable.Replace(r.path, func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
}
