package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

func newStatus() *cobra.Command {
	var wait time.Duration
	var filter string
	command := &cobra.Command{
		Use:   "status",
		Short: "Print one snapshot of an account",
		Long: "Print one snapshot of an account: intents by state, shipments, quota, and the health of relay and API.\n\n" +
			"It waits until the picture is settled, at most for --wait. Settled means: the service's list of intents, " +
			"if it has one, is read to its end, the relay has sent all its events, each intent in them is read, or its " +
			"failure is counted, and shipments were looked for of each completed intent that has none. Otherwise it " +
			"says what is missing.",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			by, err := filterBy(s, dashboard.IntentFilter, filter)
			if err != nil {
				return nil, err
			}
			var found snapshot
			err = withSettled(ctx, s, "", std, wait, func(_ context.Context, current *session.Session) error {
				found = takeSnapshot(current, time.Now(), by)
				return nil
			})
			if err != nil {
				return nil, err
			}
			return found, found.failure()
		}),
	}
	accountFlags(command.Flags())
	jsonFlag(command.Flags(), "print one JSON object")
	command.Flags().StringVar(&filter, "filter", "", "count only intents that match this filter, such as merchant:acme, "+
		"or the name of one saved with :save, with their shipments, alerts and pulse")
	command.Flags().DurationVar(&wait, "wait", 10*time.Second, "how long to wait for a settled picture")
	return command
}

// withSettled keeps the account's picture live until it is settled or the wait is over, and then
// calls read. Of an order, only what may belong to it is read; "": everything.
func withSettled(ctx context.Context, s settings, order api.Text, std streams, wait time.Duration,
	read func(context.Context, *session.Session) error) error {
	if wait < 0 {
		return usagef("--wait is %v; it must be 0 or longer, such as 10s", wait)
	}
	if err := readWatchIDs(&s, ctx, std.in); err != nil {
		return err
	}
	s.AllowConfirm = false
	current, err := session.Open(s, session.Options{Memory: session.Keeps, Order: order})
	if err != nil {
		return err
	}
	defer current.Close()
	err = session.Alongside(ctx, func(ctx context.Context) error {
		_ = current.Restored() // running the session reports the error
		limited, stop := context.WithTimeout(ctx, wait)
		defer stop()
		awaitSettled(limited, current)
		return read(ctx, current)
	}, current.Run)
	for _, a := range current.Store.Summary().Alerts {
		if err == nil && a.Kind == account.AlertSaving {
			std.say("%s", a.Text)
		}
	}
	return err
}

// awaitSettled waits until the picture is settled, waiting does not help, or ctx ends. Besides after changes, it
// looks every 200 ms.
func awaitSettled(ctx context.Context, s *session.Session) {
	for version := uint64(0); ctx.Err() == nil && settling(s); {
		version = s.Store.Changes(version).Version
		look, done := context.WithTimeout(ctx, 200*time.Millisecond)
		_ = s.Store.Wait(look, version)
		done()
	}
}

// settling reports whether something is missing that waiting may bring.
func settling(s *session.Session) bool {
	return slices.ContainsFunc(s.Watcher.Settling().Missing, func(m account.Missing) bool { return !m.Final })
}

// snapshot is what the session knows, and why something is missing. It counts only the
// intents that the filter matches; nil matches all.
func takeSnapshot(s *session.Session, now time.Time, by *pane.Filter) snapshot {
	settling, picture := s.Watcher.Settling(), s.Store.Changes(0)
	why := cmp.Or(wording.Holds(picture.Summary.Holds(now), now, time.Local), "not within "+wording.Age(now.Sub(s.Opened)))
	for i := range settling.Missing {
		if m := &settling.Missing[i]; !m.Final {
			m.Err = cmp.Or(m.Err, errors.New(why))
		}
	}
	r := newSnapshot(s.Client.Environment().Name, filtered(picture, by), settling, now)
	if by != nil {
		r.Filter = by.Text
	}
	return r
}

// snapshot is an account as it is now. Its JSON is the object of `status --json`, with null for
// unknown values.
type snapshot struct {
	Environment string                      `json:"environment"`
	At          time.Time                   `json:"at"`
	Settled     bool                        `json:"settled"` // whether nothing is missing
	Missing     []missingReport             `json:"missing"`
	Filter      string                      `json:"filter,omitempty"` // shipments, alerts and pulse belong to the intents that it matches
	Intents     map[string]*int             `json:"intents"`
	Shipments   map[api.ShipmentStatus]*int `json:"shipments"`
	Quota       []quotaReport               `json:"quota"`
	Relay       relayReport                 `json:"relay"`
	Events      eventsReport                `json:"events"`
	Reads       readsReport                 `json:"reads"`
	Alerts      []account.Alert             `json:"alerts"`
	Pulse       account.Pulse               `json:"pulse"`
	Summary     account.Summary             `json:"summary"` // without the alerts

	known account.Summary // as the text shows it
	pulse account.Pulse   // in local time
}

// quotaReport is what is left of a bucket. The summary has more of it.
type quotaReport struct {
	Class     quota.Class `json:"class"`
	Policy    string      `json:"policy"`
	Limit     *int64      `json:"limit"` // null, like the next three, if no answer reported it
	WindowS   *float64    `json:"window_s"`
	Remaining *int64      `json:"remaining"`
	ResetS    *float64    `json:"reset_s"`
	Own       float64     `json:"own_per_s"`
	Others    float64     `json:"others_per_s"`
}

type relayReport struct {
	State         string   `json:"state"`
	Epoch         string   `json:"epoch"`
	Head          *int64   `json:"head"` // null, like the cursor, if no relay reported it
	Cursor        *int64   `json:"cursor"`
	LastEventAgeS *float64 `json:"last_event_age_s"`
	Gaps          int64    `json:"gaps"`
	Error         string   `json:"error,omitempty"`
}

type eventsReport struct {
	account.EventCounters
	Missed *int `json:"missed"` // null without a relay
}

type readsReport struct {
	account.ReadCounters
	Unreadable     int      `json:"unreadable"`       // intents, shipments and list items that could not be read
	Reported       int      `json:"reported"`         // intents whose end is known only from an old event
	PerStateChange *float64 `json:"per_state_change"` // without those only because of time
}

func newSnapshot(environment string, picture account.Changes, settling account.Settling, now time.Time) snapshot {
	s := picture.Summary
	r := snapshot{
		Environment: environment, At: now.UTC(), Settled: len(settling.Missing) == 0, Missing: []missingReport{},
		Relay: relayReport{State: s.Feed.State.String(), Epoch: s.Feed.Epoch, LastEventAgeS: age(now, s.LastEvent),
			Error: wording.Because(s.Feed.Err)},
		Events:  eventsReport{EventCounters: s.Events},
		Reads:   readsReport{ReadCounters: s.Reads, Unreadable: settling.Unreadable, Reported: settling.Reported},
		Intents: map[string]*int{}, Shipments: map[api.ShipmentStatus]*int{}, Quota: []quotaReport{},
		Alerts: s.Alerts, Summary: s.Shared(), known: s, pulse: account.PulseOf(slices.Values(picture.Intents), &s, now),
	}
	r.Alerts, r.Summary.Alerts = r.Summary.Alerts, nil
	r.Pulse = r.pulse.Shared()
	if s.Feed.LostFrom != 0 {
		r.Relay.Gaps = s.Feed.LostTo - s.Feed.LostFrom + 1
	}
	if s.Feed.State != account.FeedOff {
		r.Events.Missed = &s.Events.Missed
	}
	if s.Feed.Epoch != "" {
		r.Relay.Head, r.Relay.Cursor = &s.Feed.Head, &s.Feed.Cursor
	}
	if s.Reads.StateChanges > 0 {
		r.Reads.PerStateChange = new(rounded(s.Reads.PerStateChange()))
	}
	for _, m := range settling.Missing {
		r.Missing = append(r.Missing, missingReport{m.Part, known(m.Count, false), wording.Because(m.Err)})
	}
	r.count(s.IntentsKnown())
	for i := range s.Quota {
		r.Quota = append(r.Quota, quotaOf(&s.Quota[i], now))
	}
	return r
}

// count counts intents and shipments by state. What is missing may be of any state, so there 0 is unknown.
func (r *snapshot) count(intentsKnown bool) {
	onlyShipments := !slices.ContainsFunc(r.Missing, func(m missingReport) bool { return m.What != account.PartShipmentList })
	all, other := r.Settled || onlyShipments && intentsKnown, 0
	for _, state := range api.IntentStates() {
		r.Intents[string(state)] = known(r.known.Intents[state], all)
	}
	for state, n := range r.known.Intents {
		if !state.Known() {
			other += n
		}
	}
	r.Intents["other"], r.Intents[notRead] = known(other, all), known(r.known.NotRead, all)
	for _, status := range api.ShipmentStatuses() {
		r.Shipments[status] = known(0, r.Settled)
	}
	for status, n := range r.known.Shipments {
		r.Shipments[cmp.Or(status, notRead)] = known(n, r.Settled)
	}
}

func quotaOf(b *quota.Bucket, now time.Time) quotaReport {
	r := quotaReport{Class: b.Class, Policy: b.Policy, Own: rounded(b.Own), Others: rounded(b.Others)}
	if b.Limit > 0 {
		r.Limit, r.WindowS = &b.Limit, new(b.Window.Seconds())
	}
	if !b.Unreported && (b.Limit > 0 || !b.Over(now)) {
		r.Remaining, r.ResetS = new(b.Left(now)), new(b.Reset.Seconds())
	}
	return r
}

// brief is the report without what is long, for a line every second.
func (r snapshot) brief() snapshot {
	r.Pulse.Hour, r.Pulse.Day = nil, nil
	r.Summary.Quota, r.Summary.Limits, r.Summary.Spenders, r.Summary.Latency = nil, nil, nil, nil
	return r
}

// failure is an error if the snapshot shows nothing of the account.
func (r snapshot) failure() error {
	s := &r.known
	switch {
	case s.API.State == account.APIUnauthorized:
		return errUnauthorized
	case s.Feed.State == account.FeedRefused:
		return explainable(fmt.Errorf("the relay refuses this client: %s", wording.Because(s.Feed.Err)))
	case s.API.State == account.APIFailing:
		return explainable(fmt.Errorf("the service does not answer properly: %s", wording.Because(s.API.Err)))
	case r.Reads.Total > 0:
		return nil
	case r.Reads.Unreadable > 0:
		return fmt.Errorf("nothing could be read of the account: %s", wording.Because(s.API.Err))
	case !r.Settled && (s.Holds(r.At) == nil || errors.Is(s.API.Err, api.ErrRateLimited)):
		return fmt.Errorf("nothing could be read of the account: %s", r.missing())
	}
	return nil
}

// age is how many seconds ago t was; nil if never.
func age(now, t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	return new(rounded(max(0, now.Sub(t).Seconds())))
}

func rounded(f float64) float64 { return math.Round(f*100) / 100 }
