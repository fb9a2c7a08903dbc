package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/confirm"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/ui/attention"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/notify"
	"tillwatch/ui/plain"
	"tillwatch/ui/wording"
)

// session is the whole program behind a look at one account:
//
//	service ◀─ client ◀─ watcher ◀─ feed ◀─ the relay
//	             │pacer     │
//	             ▼          ▼
//	           guard ──▶  store ──▶ a screen, lines of text, a report
//
// [newSession] makes the client and the picture, [open] also what keeps the picture
// live, [session.run] runs that, and [session.show] puts a screen in front.
type session struct {
	settings settings
	client   *api.Client
	store    *account.Store                 // the picture
	saved    *account.Saved                 // where the picture is kept between runs; nil: nowhere
	glance   func() (account.Changes, bool) // the part of the saved picture to show first
	restored func() error                   // returns once the last run's picture is restored
	watcher  *account.Watcher
	guard    *confirm.Guard // nil while read-only
	confirms *confirmFollower
	proxied  part   // the session's own proxy; may be nil
	retry    func() // dials a lost relay now; nil without a relay
	opened   time.Time

	attention *attention.File // acknowledged and muted alerts
}

// memory is what a session shares with earlier and later ones.
type memory int

const (
	forgets   memory = iota // begins empty and saves nothing
	remembers               // begins with what the last run knew, and saves nothing
	keeps                   // begins with what the last run knew, and saves what it learns
)

// newSession makes a client and a picture. The last run's picture is restored in the
// background, while the terminal is made ready. No connection is opened.
func newSession(s settings, m memory) (*session, error) {
	alerts := account.AlertConfig(s.Alerts)
	if err := s.RequireService(); err != nil {
		return nil, err
	}
	pacer := quota.NewPacer(quota.PacerConfig{Share: s.PollShare})
	out := &session{settings: s, opened: time.Now()}
	out.glance, out.restored = func() (none account.Changes, ok bool) { return none, false }, func() error { return nil }
	out.store = account.NewStore(account.StoreConfig{
		ConfirmWindow: s.ConfirmWindow, Quota: pacer.Buckets, Observed: pacer.Observe, KeepIntents: s.KeepIntents,
		AgentsLimit: s.AgentsLimit, DayLimit: s.DayLimit, Alerts: &alerts,
	})
	var err error
	out.confirms = newConfirmFollower(out.store.RecordConfirms)
	if out.client, err = newClient(s, api.Config{StandIn: s.OwnStandIn, Pacer: pacer, Observe: out.store.RecordExchange}); err != nil {
		return nil, err
	}
	out.confirms.history, out.confirms.environment = confirm.NewHistory(s.AuditFile(), nil), out.client.Environment
	out.attention = attention.OpenFile(s.StateDir, pictureName(s, out.client.Environments()[0]))
	if m == forgets {
		return out, nil
	}
	saved, err := account.OpenSaved(account.SavedConfig{
		Dir: s.StateDir, Account: pictureName(s, out.client.Environments()[0]), Recall: pacer.Recall, MaxEnded: s.KeepIntents,
	})
	if err != nil {
		return nil, err
	}
	out.glance, out.restored = restore(saved, out.store)
	if m == keeps {
		out.saved = saved
	}
	return out, nil
}

// newClient makes a client of the configured service, unless the configuration has another address.
func newClient(s settings, config api.Config) (*api.Client, error) {
	config.BaseURL, config.Key, config.InsecureHTTP = cmp.Or(config.BaseURL, s.APIURL), s.APIKey, s.InsecureHTTP
	config.LookupPath, config.UserAgent = s.LookupPath, "tillwatch"
	client, err := api.New(config)
	if err != nil {
		return nil, withAddressHint(err)
	}
	return client, nil
}

// open makes a session that can keep its picture live, and confirm if the settings
// allow it.
func open(s settings, m memory) (*session, error) {
	out, err := newSession(s, m)
	if err != nil {
		return nil, err
	}
	feed, err := out.subscribe(relay.SubscriberConfig{})
	if err == nil && s.AllowConfirm {
		err = out.arm("watch")
	}
	if err != nil {
		out.close()
		return nil, err
	}
	out.watcher = account.NewWatcher(account.WatcherConfig{Store: out.store, Reader: out.client, Feed: feed, WatchIDs: idsOf(s.WatchIDs), Order: s.WatchOrder, Poll: s.PollEvery, Saved: out.saved})
	return out, nil
}

func idsOf(texts []string) []api.ID {
	ids := make([]api.ID, len(texts))
	for i, id := range texts {
		ids[i] = api.ScrubID(id)
	}
	return ids
}

// newSubscriber makes a subscriber of the configured relay.
func newSubscriber(s settings, config relay.SubscriberConfig) (*relay.Subscriber, error) {
	config.URL, config.Token, config.InsecureHTTP = s.RelayURL, s.RelayToken, s.InsecureHTTP
	subscriber, err := relay.NewSubscriber(config)
	if err != nil {
		return nil, withAddressHint(err)
	}
	return subscriber, nil
}

// subscribe makes the feed of the relay's events, from the oldest or from config's Since
// on; nil without a relay.
func (s *session) subscribe(config relay.SubscriberConfig) (account.Feed, error) {
	if s.settings.RelayURL == "" {
		return nil, nil
	}
	if err := s.settings.RequireAccount(); err != nil {
		return nil, err
	}
	config.From, config.Client = relay.FromEarliest, "tillwatch"
	subscriber, err := newSubscriber(s.settings, config)
	if err != nil {
		return nil, err
	}
	s.retry = subscriber.Retry
	return feed{subscriber, s.store}, nil
}

// confirmBody is the body of each confirm.
func confirmBody(s settings) api.ConfirmIntent {
	return api.ConfirmIntent{Raw: json.RawMessage(s.ConfirmBody)}
}

// arm opens the guard and its audit log, in which this run has the name of its command.
func (s *session) arm(command string) error {
	s.confirms.ownRun = fmt.Sprintf("tillwatch %s, process %d", command, os.Getpid())
	guard, err := confirm.New(confirm.Config{
		Service:      s.client,
		Environments: s.client.Environments(),
		Body:         confirmBody(s.settings),
		AuditFile:    s.settings.AuditFile(),
		Run:          s.confirms.ownRun,
		Recorded:     s.confirms.changed,
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

// warn writes what is wrong with the audit log, if anything.
func (s *session) warn(w io.Writer) {
	if s.guard == nil {
		return
	}
	for _, warning := range s.guard.Warnings() {
		fmt.Fprintf(w, "tillwatch: %s\n", api.Scrub(warning))
	}
}

func (s *session) close() {
	_ = s.restored()
	s.client.Close()
	if s.guard != nil {
		s.guard.Close()
	}
}

// run keeps the picture live until ctx ends, and settles unknown outcomes of earlier
// confirms.
func (s *session) run(ctx context.Context) error {
	if err := s.restored(); err != nil {
		return err
	}
	s.confirms.tell()
	parts := []part{s.watcher.Run, s.followWatchList, s.followKey, s.confirms.run}
	if s.guard != nil {
		parts = append(parts, func(ctx context.Context) error {
			s.guard.Settle(ctx)
			return nil
		})
	}
	if s.proxied != nil {
		parts = append(parts, s.proxied)
	}
	err := alongside(ctx, untilDone, parts...)
	if err != nil {
		return fmt.Errorf("watching the account: %w", err)
	}
	return nil
}

// paintFirst is how long network traffic waits for the first frame.
const paintFirst = 30 * time.Millisecond

// garbagePercent is GOGC. Most of the picture is long-lived: with Go's 100, the program takes a third to a half more
// memory. With 15 it takes a twentieth less than with 25, and a fifth more CPU while charts are open beside ten events and
// fifty requests a second (go run ./ui/measure -under charts).
const garbagePercent = 25

// show runs the session behind the dashboard, or prints lines of text, until the
// person quits or ctx ends.
func (s *session) show(ctx context.Context, o screenOptions, in io.Reader, out io.Writer) error {
	config, err := s.screen(o)
	if err != nil {
		return err
	}
	if config.Commands, err = ownCommands(s.settings); err != nil {
		return err
	}
	config.CommandEnviron, config.SuspendInterrupts = s.settings.Environ(os.Environ()), interruptSuspender(ctx)
	record, err := s.record(o, out)
	if err != nil {
		return err
	}
	defer record.report(o.words)
	s.warn(o.words)
	if o.plain {
		lines := plain.Config{Source: restoredStore{s.store, s.restored}, Environment: config.Environment, Account: config.Account}
		return alongside(ctx, func(ctx context.Context) error { return plain.Run(ctx, lines, out) }, s.run, record.run, s.sendAlerts(o))
	}
	var layout *savedLayout
	if o.kept {
		layout, config.Warning = loadLayout(s.settings.StateDir, s.settings.Theme)
		config.Remembered, config.Remember = layout.layout, layout.remember
		defer layout.reportFailure(o.words)
		config.Attend = s.attention.Change
		if config.Attention, err = s.attention.Load(); err != nil && config.Warning == "" {
			config.Warning = err.Error()
		}
	}
	if s.guard != nil && len(s.guard.Warnings()) > 0 {
		config.Warning = s.guard.Warnings()[0] // first, as it is about money
	}
	config.Recording = record
	followTheme, err := applyTheme(s.settings, &config)
	if err != nil {
		return err
	}
	live := func(ctx context.Context) error {
		_ = api.Sleep(ctx, paintFirst)
		debug.SetGCPercent(garbagePercent)
		return s.run(ctx)
	}
	screen := func(ctx context.Context) error { return dashboard.Run(ctx, config, in, out) }
	if o.screen != nil {
		screen = func(ctx context.Context) error { return o.screen.Show(ctx, config) }
	}
	return alongside(ctx, screen, live, followTheme, record.run, layout.run, s.attend(o), s.sendAlerts(o))
}

// screen is the dashboard's configuration for a session.
func (s *session) screen(o screenOptions) (dashboard.Config, error) {
	where := s.client.Environment()
	config := dashboard.Config{
		Source: &glancedStore{restoredStore: restoredStore{s.store, s.restored}, glance: s.glance}, Environment: where.Name, Live: where.Live, Account: s.settings.Host(),
		Armed: s.guard != nil, Refresh: s.watcher.Refresh, TryKey: s.tryKey, KeyFile: wording.Path(s.settings.KeyFile()), Reconnect: s.retry, ConfirmWindow: s.settings.ConfirmWindow, Payment: confirmBody(s.settings).PaysBy(),
		Browser: browser(runtime.GOOS, os.Getenv, s.settings.NoOpen), Exporter: exporter{s},
		Copy:   clipboard(os.Getenv, s.settings.Environ(os.Environ())),
		Notify: notify.Method(s.settings.Notify).Resolve(os.Getenv), NoMouse: o.noMouse, NoColor: o.noColor, Width: o.width, Height: o.height,
		Filter: s.settings.Filter, IdleAfter: cmp.Or(s.settings.IdleAfter, -1), At: o.at,
	}
	if s.guard != nil {
		config.Confirmer = s.guard
	}
	var err error
	if config.Actions, err = actionsOf(s.settings); err != nil {
		return config, usage(err)
	}
	return config, nil
}

// pictureName is the name of this account's picture. It stays the same when the key
// of a profile or of a key file is rotated. Any other key may belong to another
// account, so its fingerprint, which reveals nothing of the key, is in the name.
func pictureName(s settings, environment string) string {
	whose := "key " + s.APIKey.Fingerprint("saved picture")
	switch path, err := filepath.Abs(s.KeyFile()); {
	case s.KeyProfile != "":
		whose = "profile " + s.KeyProfile
	case s.KeyFile() != "" && err == nil:
		whose = "key file " + path
	}
	return strings.Join([]string{environment, s.APIURL, s.RelayURL, whose}, "\n")
}
