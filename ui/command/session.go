package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// session is everything that looks at one account, assembled: client, quota,
// picture, watcher and guard.
type session struct {
	settings settings
	client   *api.Client
	store    *account.Store
	watcher  *account.Watcher
	guard    *confirm.Guard // nil while read-only
	retry    func()         // has a lost relay dialled now; nil without a relay
	opened   time.Time
	restored *restoring // nil where nothing is restored
}

// openSession assembles a session that begins with nothing and leaves nothing. It
// opens files, but no connection.
func openSession(s settings) (*session, error) { return assemble(s, false) }

// openKeptSession assembles a session that begins with what the last one knew of
// the account, and keeps what it learns for the next.
func openKeptSession(s settings) (*session, error) {
	out, err := beginKeptSession(s)
	if err != nil {
		return nil, err
	}
	return out, out.restored.wait()
}

// beginKeptSession is openKeptSession that does not wait for what the last
// session knew: its picture comes while the terminal is made ready.
func beginKeptSession(s settings) (*session, error) { return assemble(s, true) }

func assemble(s settings, kept bool) (*session, error) {
	pacer := quota.NewPacer(quota.PacerConfig{Share: s.PollShare})
	out, err := newSession(s, pacer)
	if err != nil {
		return nil, err
	}
	var saved *account.Saved
	if kept {
		if saved, err = out.openSaved(pacer); err != nil {
			return nil, err
		}
		out.restored = restore(saved, out.store)
	}
	var events account.Feed
	if s.RelayURL != "" {
		subscriber, err := relay.NewSubscriber(relay.SubscriberConfig{
			URL: s.RelayURL, Token: s.RelayToken, InsecureHTTP: s.InsecureHTTP, From: "earliest", Client: "tillwatch",
		})
		if err != nil {
			return nil, addressed(err)
		}
		events, out.retry = feed{subscriber, out.store}, subscriber.Retry
	}
	ids := make([]api.ID, len(s.WatchIDs))
	for i, id := range s.WatchIDs {
		ids[i] = api.ScrubID(id)
	}
	out.watcher = account.NewWatcher(account.WatcherConfig{Store: out.store, Reader: out.client, Feed: events, WatchIDs: ids, Poll: s.PollEvery, Saved: saved})
	if s.AllowConfirm {
		if err := out.arm(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newSession is a session without a watcher: client and picture alone.
func newSession(s settings, pacer *quota.Pacer) (*session, error) {
	if err := s.requireAccount(); err != nil {
		return nil, err
	}
	store := account.NewStore(account.StoreConfig{
		ConfirmWindow: s.ConfirmWindow, Quota: pacer.Buckets, KeepIntents: s.KeepIntents,
		AgentsLimit: s.AgentsLimit, DayLimit: s.DayLimit, Alerts: s.Alerts.config(),
	})
	client, err := api.New(api.Config{
		BaseURL: s.APIURL, Key: s.APIKey, StandIn: s.OwnStandIn, InsecureHTTP: s.InsecureHTTP, LookupPath: s.LookupPath, UserAgent: "tillwatch",
		Pacer: pacer, Observe: store.RecordExchange,
	})
	if err != nil {
		return nil, addressed(err)
	}
	return &session{settings: s, client: client, store: store, opened: time.Now()}, nil
}

// openSaved opens the place where the picture is kept.
func (s *session) openSaved(pacer *quota.Pacer) (*account.Saved, error) {
	return account.OpenSaved(account.SavedConfig{
		Dir: s.settings.StateDir, Account: s.settings.pictureName(s.client.Environments()[0]), Quota: pacer, MaxEnded: s.settings.KeepIntents,
	})
}

// arm opens the guard and with it the audit log.
func (s *session) arm() error {
	guard, err := confirm.New(confirm.Config{
		Service:      s.client,
		Environments: s.client.Environments(),
		Body:         api.ConfirmIntent{Raw: json.RawMessage(s.settings.ConfirmBody)},
		AuditFile:    filepath.Join(s.settings.StateDir, "confirms.jsonl"),
		Read: func(in api.Intent, sent time.Time, confirmed bool) {
			how := account.ByRead
			if confirmed {
				how = account.ByConfirm
			}
			s.store.ApplyRead(in, sent, how)
		},
	})
	if err != nil {
		return fmt.Errorf("preparing to confirm, in %s: %w", s.settings.StateDir, err)
	}
	s.guard = guard
	return nil
}

// warn says on w what is wrong with the audit log, where it is.
func (s *session) warn(w io.Writer) {
	if s.guard == nil {
		return
	}
	for _, warning := range s.guard.Warnings() {
		fmt.Fprintf(w, "tillwatch: %s\n", api.Scrub(warning))
	}
}

// pictureName tells the picture of this account from others. That of a profile,
// or of a key's file, stays the same when the key in it is rotated. Another key
// that is set directly may be another account's: it is told apart by a fingerprint
// from which nothing can be learnt of the key.
func (s settings) pictureName(environment string) string {
	whose := "key " + s.APIKey.Fingerprint("saved picture")
	switch path, err := filepath.Abs(s.KeyFile); {
	case s.Profile != "":
		whose = "profile " + s.Profile
	case s.KeyFile != "" && err == nil:
		whose = "key file " + path
	}
	return strings.Join([]string{environment, s.APIURL, s.RelayURL, whose}, "\n")
}

// run keeps the picture live until ctx ends.
func (s *session) run(ctx context.Context) error {
	if err := s.restored.wait(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var list sync.WaitGroup
	defer list.Wait()
	defer stop()
	list.Go(func() { s.followWatchList(ctx) })
	list.Go(func() { s.followKey(ctx) })
	return s.watcher.Run(ctx)
}

func (s *session) close() {
	_ = s.restored.wait()
	if s.guard != nil {
		s.guard.Close()
	}
}

// account names what the settings look at, for the header: the profile's host.
func (s *session) account() string {
	if u, err := url.Parse(s.settings.APIURL); err == nil {
		return u.Host
	}
	return ""
}
