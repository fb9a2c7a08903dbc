package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tillwatch/api"
	"tillwatch/api/durable"
	"tillwatch/api/quota"
)

// Saved keeps the picture of one account in a folder, so that a restart does not
// read it all again. What it holds are facts that a screen shows: neither payment
// tokens nor bodies, and nothing of buyers.
//
// A picture is replaced as a whole and the one before it is kept: whenever a
// process or a machine dies, one of the two opens. Several processes may save
// into one folder; the last one wins.
type Saved struct {
	cfg  SavedConfig
	path string
}

// SavedConfig says where a picture is kept and how much of it.
type SavedConfig struct {
	Dir      string                                      // made when absent, for this user alone
	Account  string                                      // what distinguishes this account from others: environment, address, profile; never a key. Only its hash is written
	Every    time.Duration                               // how often what has changed is saved; default 30 s, longer where saving takes long
	MaxAge   time.Duration                               // of ended intents, by when they ended; default 30 days
	MaxEnded int                                         // ended intents that are kept; default 10,000
	Recall   func(buckets []quota.Bucket, now time.Time) // gets the buckets of a picture that is restored; nil: nobody does
}

// Restoration says what a file has brought back.
type Restoration struct {
	Intents, Shipments, Events int
	SavedAt                    time.Time // when the picture was saved; zero when there was none
	Previous                   bool      // the newest picture could not be read, this is the one before it
}

// Why a saved picture cannot be opened, for errors.Is.
var (
	ErrSavedDamaged = errors.New("damaged")
	ErrSavedVersion = errors.New("written by another version")
)

// saveShare bounds the share of time that is spent on saving.
const saveShare = 20

// OpenSaved removes what interrupted saves left behind. The folder is made with
// the first save.
func OpenSaved(cfg SavedConfig) (*Saved, error) {
	if cfg.Dir == "" || cfg.Account == "" {
		return nil, errors.New("open saved picture: want a folder and the name of an account")
	}
	orDefault(&cfg.Every, 30*time.Second)
	orDefault(&cfg.MaxAge, 30*24*time.Hour)
	orDefault(&cfg.MaxEnded, 10_000)
	name := sha256.Sum256([]byte(cfg.Account))
	f := &Saved{cfg: cfg, path: filepath.Join(cfg.Dir, "picture-"+hex.EncodeToString(name[:8]))}
	durable.RemoveAbandoned(f.path)
	return f, nil
}

// Save writes the picture as it is now. Writers of the store wait for no longer
// than it takes to copy a few hundred records.
func (f *Saved) Save(s *Store) error {
	if err := os.MkdirAll(f.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("save the picture: %w", err)
	}
	err := durable.ReplaceKeeping(f.path, previousOf(f.path), func(w io.Writer) error {
		return s.savePicture(w, f.cfg)
	})
	if err != nil {
		return fmt.Errorf("save the picture: %w", err)
	}
	return nil
}

// Restore fills an empty store with the newest saved picture that can be opened.
// That there is none is no error. After an error the store holds nothing but an
// alert that tells of it, until the next save.
//
// Restored facts keep the moments at which they were read. The watcher reads
// everything open anew, and only that.
func (f *Saved) Restore(s *Store) (Restoration, error) {
	p, err := openPicture(f.path)
	previous := false
	if err != nil {
		older, olderErr := openPicture(previousOf(f.path))
		switch {
		case olderErr == nil:
			p, previous = older, true
		case errors.Is(err, fs.ErrNotExist) && errors.Is(olderErr, fs.ErrNotExist):
			return Restoration{}, nil
		default:
			if errors.Is(err, fs.ErrNotExist) {
				err = olderErr
			}
			s.Report(AlertSaving, fmt.Errorf("what the last run knew cannot be opened, all is read again: %w", durable.ReasonFirst(err)))
			return Restoration{}, fmt.Errorf("open saved picture: %w", err)
		}
	}
	told := s.restore(p.lines)
	if f.cfg.Recall != nil {
		f.cfg.Recall(told.Buckets, time.Now())
	}
	r := Restoration{SavedAt: p.at, Previous: previous}
	for _, line := range p.lines {
		r.Intents += len(line.Intents)
		r.Shipments += len(line.Shipments)
		r.Events += len(line.Events)
	}
	return r, nil
}

// keepSaving saves what has changed every so often, until ctx ends.
func (w *Watcher) keepSaving(ctx context.Context) {
	if w.cfg.Saved == nil {
		return
	}
	every := w.cfg.Saved.cfg.Every
	for pause := every; api.Sleep(ctx, pause) == nil; {
		began := time.Now()
		w.save()
		pause = max(every, saveShare*time.Since(began))
	}
}

// save saves what has changed since the last time, and tells of it when that
// fails.
func (w *Watcher) save() {
	if w.cfg.Saved == nil || w.saved == w.store.picture() {
		return
	}
	version := w.store.picture()
	err := w.cfg.Saved.Save(w.store)
	if err == nil {
		w.saved = version
	} else {
		err = fmt.Errorf("what is known cannot be kept for the next start: %w", durable.ReasonFirst(cmp.Or(errors.Unwrap(err), err)))
	}
	w.store.Report(AlertSaving, err)
}

// Cursor is the place in the feed that the picture has reached, as
// "<epoch>:<seq>"; "" while there is none.
func (s *Store) Cursor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feed.Epoch == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.feed.Epoch, s.feed.Cursor)
}

func (s *Store) picture() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news.version
}
