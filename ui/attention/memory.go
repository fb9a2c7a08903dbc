// Package attention records which alerts a person has acknowledged or muted, and
// gives alerts to a program.
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
	"slices"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/durable"
)

// Memory is what is saved of a person's attention between runs. The zero Memory is
// empty.
type Memory struct {
	Looked time.Time `json:"looked,omitzero"` // when somebody last looked; zero: never
	Off    []Off     `json:"off,omitempty"`   // acknowledged and muted alerts, newest last

	// Endings are the confirms, by attempt, whose unknown outcome a person has seen to end; newest last.
	Endings []string `json:"endings,omitempty"`
}

// Key identifies an alert, also in other runs.
type Key struct {
	Kind   account.AlertKind `json:"kind"`
	Intent api.ID            `json:"intent,omitempty"`
	Cause  string            `json:"cause,omitempty"`
}

// KeyOf is the key of an alert.
func KeyOf(a account.Alert) Key { return Key{a.Kind, a.Intent, a.Cause} }

// Off is an alert that a person has acknowledged, until it is over or gets worse, or
// muted for a time.
type Off struct {
	Key
	All      bool      `json:"all,omitempty"`      // every alert of the kind
	At       time.Time `json:"at"`                 // when
	Until    time.Time `json:"until,omitzero"`     // muted until then; zero: acknowledged
	Pressing bool      `json:"pressing,omitempty"` // it was already pressing when acknowledged, so it cannot get worse
}

// soon is the least time needed to look at an intent and confirm it.
const soon = 2 * time.Minute

// Pressing reports whether an alert has got worse since it was raised: what it warns
// of is about to happen.
func Pressing(a account.Alert, now time.Time) bool {
	return a.Cause != account.Spent && !a.Due.IsZero() && a.Due.Sub(now) <= soon
}

func (o Off) covers(a account.Alert, now time.Time) bool {
	switch {
	case o.Kind != a.Kind, !o.All && o.Key != KeyOf(a):
		return false
	case o.Until.IsZero():
		return o.Pressing || !Pressing(a, now)
	}
	return now.Before(o.Until)
}

// OffOf returns how an alert is acknowledged or muted, if it is. A mute comes first.
func (m *Memory) OffOf(a account.Alert, now time.Time) (off Off, ok bool) {
	for _, o := range m.Off {
		if o.covers(a, now) && (!ok || o.Until.After(off.Until)) {
			off, ok = o, true
		}
	}
	return off, ok
}

// most limits the entries, and the endings; the oldest are dropped first.
const most = 500

// Put records an entry, in place of an earlier one for the same alert.
func (m *Memory) Put(o Off) {
	m.Take(o.Key, o.All)
	m.Off = append(m.Off, o)
	m.Off = m.Off[max(len(m.Off)-most, 0):]
}

// Take removes the entry of an alert, or of a kind.
func (m *Memory) Take(key Key, all bool) {
	m.keep(func(o Off) bool { return o.Key != key || o.All != all })
}

// Forget drops acknowledgements of alerts that are over, and mutes that have ended.
func (m *Memory) Forget(now time.Time, over func(Key) bool) {
	m.keep(func(o Off) bool { return o.Until.IsZero() && !over(o.Key) || now.Before(o.Until) })
}

// keep replaces the list by a new one: others may hold the old one.
func (m *Memory) keep(keeps func(Off) bool) {
	m.Off = slices.DeleteFunc(slices.Clone(m.Off), func(o Off) bool { return !keeps(o) })
}

// See records at now when somebody looked.
func (m *Memory) See(at, now time.Time) {
	if at.After(m.Looked) || m.Looked.After(now) {
		m.Looked = at
	}
}

// SeeEnding records that a person has seen how a confirm ended.
func (m *Memory) SeeEnding(attempt string) {
	if !m.HasSeen(attempt) {
		m.Endings = append(slices.Clone(m.Endings), attempt) // others may hold the old list
		m.Endings = m.Endings[max(len(m.Endings)-most, 0):]
	}
}

// HasSeen reports whether a person has seen how a confirm ended.
func (m *Memory) HasSeen(attempt string) bool { return slices.Contains(m.Endings, attempt) }

// File keeps one account's [Memory] in a folder that several processes share. Each change
// applies to the file's current content.
type File struct {
	path    string
	changes chan func(*Memory)
	failed  atomic.Pointer[error]
}

const (
	mostChanges = 256 // that wait for the disk
	lockWithin  = 5 * time.Second
)

// OpenFile names the file of an account in a folder; it neither reads nor creates
// anything. account distinguishes accounts and is never a key; only its hash is
// written.
func OpenFile(folder, account string) *File {
	name := sha256.Sum256([]byte(account))
	path := filepath.Join(folder, "attention-"+hex.EncodeToString(name[:8])+".json")
	return &File{path: path, changes: make(chan func(*Memory), mostChanges)}
}

// Load reads the file. A missing file is not an error.
func (f *File) Load() (m Memory, err error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Memory{}, nil
	}
	if err == nil && json.Unmarshal(text, &m) != nil {
		err = fmt.Errorf("%s is damaged: delete it to start over", f.path)
	}
	if err != nil {
		return Memory{}, fmt.Errorf("reading acknowledged and muted alerts: %w", err)
	}
	return m, nil
}

// Change queues a change; it never blocks.
func (f *File) Change(do func(*Memory)) {
	select {
	case f.changes <- do:
	default:
		f.fail(errors.New("the disk is too slow"))
	}
}

// Run saves changes until ctx ends, and then the queued ones. [File.Err] reports those that
// cannot be saved.
func (f *File) Run(ctx context.Context) error {
	for ctx.Err() == nil || len(f.changes) > 0 {
		select {
		case do := <-f.changes:
			f.save(do)
		case <-ctx.Done():
		}
	}
	return nil
}

func (f *File) save(do func(*Memory)) {
	f.fail(durable.Exclusively(context.Background(), f.path, lockWithin, func() error {
		m, err := f.Load()
		if err != nil {
			return err
		}
		do(&m)
		return durable.Replace(f.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
	}))
}

func (f *File) fail(err error) {
	if err != nil {
		err = fmt.Errorf("saving acknowledged and muted alerts: %w", err)
	}
	f.failed.Store(&err)
}

// Err is why the last change could not be saved; nil if it was.
func (f *File) Err() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}
