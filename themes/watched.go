package themes

import (
	"context"
	"maps"
	"os"
	"time"
)

// Watched is a theme together with the files that it was read from.
type Watched struct {
	Theme Theme

	library Library
	name    string
	prints  map[string]fingerprint
}

// Change is what became of a theme whose file has changed: the new theme, or why
// it cannot be read.
type Change struct {
	Theme Theme
	Err   error
}

// Watch loads a theme as [Library.Load] does, to be followed by [Watched.Run].
func (l Library) Watch(name string) (*Watched, error) {
	w := &Watched{library: l, name: name}
	return w, w.load()
}

// pollEvery is how often the files are looked at: a change shows after two looks
// at most, as one that is still being written is left alone.
const pollEvery = 500 * time.Millisecond

// Run looks at the theme's files until ctx ends and tells of each change. It
// returns at once for a theme that is embedded.
func (w *Watched) Run(ctx context.Context, tell func(Change)) {
	if len(w.prints) == 0 {
		return
	}
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var before map[string]fingerprint
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := look(w.prints)
		switch {
		case maps.Equal(now, w.prints):
			before = nil
		case !maps.Equal(now, before):
			before = now
		default:
			before = nil
			err := w.load()
			tell(Change{w.Theme, err})
		}
	}
}

// load reads the theme. After an error the old one stays, and the files of both
// are looked at.
func (w *Watched) load() error {
	reading := newReading(w.library)
	theme, err := reading.theme(w.name)
	if err == nil {
		w.Theme, w.prints = theme, reading.prints
		return nil
	}
	w.prints = look(w.prints)
	maps.Copy(w.prints, reading.prints)
	return err
}

// fingerprint tells one state of a file from another; it is zero while there is
// no such file.
type fingerprint struct {
	modified time.Time
	size     int64
}

func look(at map[string]fingerprint) map[string]fingerprint {
	now := make(map[string]fingerprint, len(at))
	for path := range at {
		now[path] = take(path)
	}
	return now
}

func take(path string) fingerprint {
	info, err := os.Stat(path)
	if err != nil {
		return fingerprint{}
	}
	return fingerprint{info.ModTime(), info.Size()}
}
