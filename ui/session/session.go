// Package session puts the look at one account together: client, picture, watcher, feed and guard.
package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/ui/attention"
	"tillwatch/ui/config"
)

// Session is the whole program behind a look at one account:
//
//	service ◀─ client ◀─ watcher ◀─ feed ◀─ the relay
//	             │pacer     │
//	             ▼          ▼
//	           guard ──▶  store ──▶ a screen, lines of text, a report
//
// [New] makes the client and the picture, [Open] also what keeps the picture live, and [Session.Run] runs that.
type Session struct {
	Settings  config.Settings
	Client    *api.Client
	Store     *account.Store   // the picture
	Watcher   *account.Watcher // nil unless opened
	Guard     *confirm.Guard   // nil while read-only
	Attention *attention.File  // acknowledged and muted alerts
	Retry     func()           // dials a lost relay now; nil without a relay
	Opened    time.Time

	saved    *account.Saved // where the picture is kept between runs; nil: nowhere
	restored func() error   // returns once the last run's picture is restored
	confirms *confirms
	beside   []Part
}

// Memory is what a session shares with earlier and later ones.
type Memory int

// What a session can share.
const (
	Forgets   Memory = iota // begins empty and saves nothing
	Remembers               // begins with what the last run knew, and saves nothing
	Keeps                   // begins with what the last run knew, and saves what it learns
)

// Options say how to look at the account. The zero value forgets.
type Options struct {
	Memory  Memory
	StandIn bool     // the service is a stand-in in this process
	Order   api.Text // only what may belong to the order of this reference is read; "": all
}

// New makes a client and a picture. The last run's picture is restored in the background, while the terminal is made
// ready. No connection is opened.
func New(s config.Settings, o Options) (*Session, error) {
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	pacer, alerts := quota.NewPacer(quota.PacerConfig{Share: s.PollShare}), account.AlertConfig(s.Alerts)
	out := &Session{Settings: s, Opened: time.Now(), restored: func() error { return nil }}
	out.Store = account.NewStore(account.StoreConfig{
		ConfirmWindow: s.ConfirmWindow, Quota: pacer.Buckets, Observed: pacer.Observe, KeepIntents: s.KeepIntents,
		AgentsLimit: s.AgentsLimit, DayLimit: s.DayLimit, Alerts: &alerts,
	})
	var err error
	out.Client, err = NewClient(s, api.Config{StandIn: o.StandIn, Pacer: pacer, Observe: out.Store.RecordExchange})
	if err != nil {
		return nil, err
	}
	name := pictureName(s, out.Client.Environments()[0])
	out.confirms = newConfirms(confirm.NewHistory(s.AuditFile(), nil), out.Client.Environment, out.Store.RecordConfirms)
	out.Attention = attention.OpenFile(s.StateDir, name)
	if o.Memory == Forgets {
		return out, nil
	}
	saved, err := account.OpenSaved(account.SavedConfig{
		Dir: s.StateDir, Account: name, Recall: pacer.Recall, MaxEnded: s.KeepIntents,
	})
	if err != nil {
		return nil, err
	}
	out.restore(saved)
	if o.Memory == Keeps {
		out.saved = saved
	}
	return out, nil
}

// restore starts to fill the picture with what the last run knew. A saved picture that cannot be read raises an alert,
// and everything is read anew.
func (s *Session) restore(saved *account.Saved) {
	s.restored = sync.OnceValue(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("opening the saved picture: panic: %v", p)
			}
		}()
		_ = saved.Restore(s.Store)
		return nil
	})
	go s.restored()
}

// Restored waits until the picture holds what the last run knew. Its error is a bug.
func (s *Session) Restored() error { return s.restored() }

// Open makes a session that can keep its picture live, and confirm if the settings allow it.
func Open(s config.Settings, o Options) (*Session, error) {
	out, err := New(s, o)
	if err != nil {
		return nil, err
	}
	feed, err := out.Subscribe(relay.SubscriberConfig{})
	if err == nil && s.AllowConfirm {
		err = out.Arm("watch")
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	out.Watcher = account.NewWatcher(account.WatcherConfig{
		Store: out.Store, Reader: out.Client, Feed: feed, WatchIDs: IDs(s.WatchIDs), Order: o.Order, Poll: s.PollEvery, Saved: out.saved,
	})
	return out, nil
}

// IDs are the ids that texts hold.
func IDs(texts []string) []api.ID {
	ids := make([]api.ID, len(texts))
	for i, id := range texts {
		ids[i] = api.ScrubID(id)
	}
	return ids
}

// NewClient makes a client of the configured service, unless the configuration has another address.
func NewClient(s config.Settings, c api.Config) (*api.Client, error) {
	c.BaseURL, c.Key, c.InsecureHTTP = cmp.Or(c.BaseURL, s.APIURL), s.APIKey, s.InsecureHTTP
	c.LookupPath, c.UserAgent = s.LookupPath, "tillwatch"
	client, err := api.New(c)
	if err != nil {
		return nil, config.WrongAddress(err)
	}
	return client, nil
}

// ConfirmBody is the body of each confirm.
func ConfirmBody(s config.Settings) api.ConfirmIntent {
	return api.ConfirmIntent{Raw: json.RawMessage(s.ConfirmBody)}
}

// Arm opens the guard and its audit log, in which this run has the name of its command.
func (s *Session) Arm(command string) error {
	s.confirms.ownRun = fmt.Sprintf("tillwatch %s, process %d", command, os.Getpid())
	guard, err := confirm.New(confirm.Config{
		Service:      s.Client,
		Environments: s.Client.Environments(),
		Body:         ConfirmBody(s.Settings),
		AuditFile:    s.Settings.AuditFile(),
		Run:          s.confirms.ownRun,
		Recorded:     s.confirms.changed,
		Read: func(in api.Intent, sent time.Time, confirmed bool) {
			how := account.ByRead
			if confirmed {
				how = account.ByConfirm
			}
			s.Store.ApplyRead(in, sent, how)
		},
	})
	if err != nil {
		return fmt.Errorf("preparing to confirm, in %s: %w", s.Settings.StateDir, err)
	}
	s.Guard = guard
	return nil
}

// Warnings are what is wrong with the audit log.
func (s *Session) Warnings() []string {
	if s.Guard == nil {
		return nil
	}
	return s.Guard.Warnings()
}

// Warn writes what is wrong with the audit log, if anything.
func (s *Session) Warn(w io.Writer) {
	for _, warning := range s.Warnings() {
		fmt.Fprintf(w, "tillwatch: %s\n", api.Scrub(warning))
	}
}

// Beside has a part run whenever the session runs.
func (s *Session) Beside(run Part) { s.beside = append(s.beside, run) }

// Run keeps the picture live until ctx ends, and settles unknown outcomes of earlier confirms.
func (s *Session) Run(ctx context.Context) error {
	if err := s.restored(); err != nil {
		return err
	}
	s.confirms.tell()
	parts := append(slices.Clone(s.beside), s.Watcher.Run, s.followWatchList, s.followKey, s.confirms.run)
	if s.Guard != nil {
		parts = append(parts, func(ctx context.Context) error {
			s.Guard.Settle(ctx)
			return nil
		})
	}
	if err := Alongside(ctx, UntilDone, parts...); err != nil {
		return fmt.Errorf("watching the account: %w", err)
	}
	return nil
}

// Close ends what New and Open began, once nothing runs any more.
func (s *Session) Close() {
	_ = s.restored()
	s.Client.Close()
	if s.Guard != nil {
		s.Guard.Close()
	}
}

// Header is the first line of the session's recordings and streams.
func (s *Session) Header() form.Header {
	where := s.Client.Environment()
	return form.Header{Began: time.Now(), Environment: where.Name, Live: where.Live, Account: s.Settings.Host()}
}

// environmentWithin is how long a stream or a recording waits for an answer that names the environment.
const environmentWithin = 2 * time.Second

// AwaitEnvironment waits for the first answer if only that can name the environment, 2 s at most: the first line of a
// recording names it, and cannot change later.
func (s *Session) AwaitEnvironment(ctx context.Context) {
	if len(s.Client.Environments()) == 1 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, environmentWithin)
	defer stop()
	_ = s.Store.Until(ctx, func() bool { return s.Client.Environment().Known() })
}

// pictureName is the name of this account's picture. It stays the same when the key of a key file is rotated. Any other
// key may belong to another account, so its fingerprint, which reveals nothing of the key, is in the name.
func pictureName(s config.Settings, environment string) string {
	whose := "key " + s.APIKey.Fingerprint("saved picture")
	if path, err := filepath.Abs(s.KeyFile()); s.KeyFile() != "" && err == nil {
		whose = "key file " + path
	}
	return strings.Join([]string{environment, s.APIURL, s.RelayURL, whose}, "\n")
}

// OnceRestored is a part that begins once the picture holds what the last run knew.
func (s *Session) OnceRestored(run Part) Part {
	return func(ctx context.Context) error {
		if err := s.Restored(); err != nil {
			return err
		}
		return run(ctx)
	}
}
