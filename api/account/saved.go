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

// Saved keeps the picture of one account in a folder, so that a restart need not read everything again. It holds
// facts that a screen shows, and no payment tokens, bodies or buyers.
//
// A picture is replaced as a whole and the previous one is kept: whenever a process or a machine dies, one of the
// two can be opened. Several processes may save into one folder; the last one wins.
type Saved struct {
	cfg  SavedConfig
	path string
}

// SavedConfig says where a picture is kept and how much of it.
type SavedConfig struct {
	Dir      string                                      // created if missing, readable only by this user
	Account  string                                      // identifies the account: environment, address, profile; never a key. Only its hash is written
	Every    time.Duration                               // how often changes are saved; default one minute, longer if saving takes long
	MaxAge   time.Duration                               // how long ended intents are kept after their end; default 30 days
	MaxEnded int                                         // how many ended intents are kept; default 10,000
	Recall   func(buckets []quota.Bucket, now time.Time) // receives the buckets of a restored picture; nil: nothing does
}

// saveShare bounds the time spent on saving: one part in saveShare.
const saveShare = 20

// OpenSaved removes what interrupted saves left behind. The first save creates the folder.
func OpenSaved(cfg SavedConfig) (*Saved, error) {
	if cfg.Dir == "" || cfg.Account == "" {
		return nil, errors.New("open saved picture: want a folder and the name of an account")
	}
	orDefault(&cfg.Every, time.Minute)
	orDefault(&cfg.MaxAge, 30*24*time.Hour)
	orDefault(&cfg.MaxEnded, 10_000)
	name := sha256.Sum256([]byte(cfg.Account))
	f := &Saved{cfg: cfg, path: filepath.Join(cfg.Dir, "picture-"+hex.EncodeToString(name[:8]))}
	durable.RemoveAbandoned(f.path)
	return f, nil
}

// Save writes the current picture. It holds the store's lock only to copy a few hundred records at a time.
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

// Restore fills an empty store with the newest saved picture that can be opened; none is no error. After an error
// the store is empty but for an alert about it, until the next save. The error is [form.ErrDamaged],
// [form.ErrVersion] or why the file cannot be read.
//
// Restored facts keep the times at which they were read. The watcher rereads only what is open.
func (f *Saved) Restore(s *Store) error {
	frames, err := openPicture(f.path)
	if err != nil {
		older, olderErr := openPicture(previousOf(f.path))
		switch {
		case olderErr == nil:
			frames = older
		case errors.Is(err, fs.ErrNotExist) && errors.Is(olderErr, fs.ErrNotExist):
			return nil
		default:
			if errors.Is(err, fs.ErrNotExist) {
				err = olderErr
			}
			s.Report(AlertSaving, fmt.Errorf("the saved picture cannot be opened, so everything is read again: %w", durable.ReasonFirst(err)))
			return fmt.Errorf("open saved picture: %w", err)
		}
	}
	known := s.restore(frames)
	if f.cfg.Recall != nil {
		f.cfg.Recall(known.Buckets, time.Now())
	}
	return nil
}

// keepSaving saves changes at intervals until ctx ends.
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

// save saves what changed since the last save, and raises an alert if that fails.
func (w *Watcher) save() {
	if w.cfg.Saved == nil || w.saved == w.store.version() {
		return
	}
	version := w.store.version()
	err := w.cfg.Saved.Save(w.store)
	if err == nil {
		w.saved = version
	} else {
		err = fmt.Errorf("the picture cannot be saved for the next start: %w", durable.ReasonFirst(cmp.Or(errors.Unwrap(err), err)))
	}
	w.store.Report(AlertSaving, err)
}

// Cursor returns the feed position that the picture has reached, as "<epoch>:<seq>", and ":<id>" where the id of the
// event is known; "" for none.
func (s *Store) Cursor() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feed.Epoch == "" {
		return ""
	}
	at := fmt.Sprintf("%s:%d", s.feed.Epoch, s.feed.Cursor)
	if s.feed.Last != "" {
		at += ":" + string(s.feed.Last)
	}
	return at
}

func (s *Store) version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news.version
}
