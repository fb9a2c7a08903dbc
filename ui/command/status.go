package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/wording"
)

func newStatus() *cobra.Command {
	var (
		asJSON bool
		wait   time.Duration
		filter string
	)
	command := &cobra.Command{
		Use:   "status",
		Short: "Print one snapshot of an account",
		Long: "Print one snapshot of an account: intents by state, shipments, quota, and the health of relay and API.\n\n" +
			"It waits until the picture is settled, at most for --wait. Settled means: the service's list of intents, if it has one, is read " +
			"to its end, the relay has sent all its events, each intent in them is read, or its failure is counted, and shipments were looked for of each completed " +
			"intent that has none. Otherwise it says what is missing.",
		Args: noArguments,
		RunE: configured(func(c *cobra.Command, settings settings, _ []string) error {
			by, err := settings.filterBy(dashboard.IntentFilter, filter)
			if err != nil {
				return err
			}
			var snapshot report
			look := func(_ context.Context, s *session) error {
				snapshot = s.report(time.Now(), by).whole()
				return nil
			}
			return lookAt(c, settings, wait, look, func(*session) error {
				return cmp.Or(printed(c.OutOrStdout(), asJSON, snapshot, snapshot.String()), snapshot.failure())
			})
		}),
	}
	accountFlags(command.Flags())
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().StringVar(&filter, "filter", "", "count only intents that match this filter, such as merchant:acme, or the name of one saved with :save,\n"+
		"with their shipments, alerts and pulse")
	command.Flags().DurationVar(&wait, "wait", 10*time.Second, "how long to wait for a settled picture")
	return command
}

// lookAt keeps the account's picture live until it is settled or the wait is over,
// and then calls tell.
func lookAt(c *cobra.Command, s settings, wait time.Duration, look func(context.Context, *session) error, tell func(*session) error) error {
	if wait < 0 {
		return usagef("--wait is %v; it must be 0 or longer, such as 10s", wait)
	}
	if err := s.takeWatchList(c.Context(), c.InOrStdin()); err != nil {
		return err
	}
	s.AllowConfirm = false
	current, err := open(s, keeps)
	if err != nil {
		return err
	}
	defer current.close()
	err = alongside(c.Context(), func(ctx context.Context) error {
		current.settle(ctx, wait)
		return look(ctx, current)
	}, current.run)
	if err != nil {
		return err
	}
	return tell(current)
}

// settleLook is how often to check whether the picture is settled, at least.
const settleLook = 200 * time.Millisecond

// settle waits until the picture is settled or waiting does not help, at most for
// limit.
func (s *session) settle(ctx context.Context, limit time.Duration) {
	_ = s.restored() // running the session reports the error
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for version := uint64(0); ctx.Err() == nil && s.settling(); {
		version = s.store.Changes(version).Version
		look, done := context.WithTimeout(ctx, settleLook)
		_ = s.store.Wait(look, version) // checks again in either case
		done()
	}
}

// settling reports whether something is missing that waiting may bring.
func (s *session) settling() bool {
	return slices.ContainsFunc(s.watcher.Settling().Missing, func(m account.Missing) bool { return !m.Final })
}

// report is what the session knows, and why something is missing. It counts only the
// intents that the filter matches; nil matches all.
func (s *session) report(now time.Time, by *pane.Filter) report {
	settling := s.watcher.Settling()
	for i := range settling.Missing {
		if m := &settling.Missing[i]; m.Err == nil {
			m.Err = errors.New(whyMissing(*m, now.Sub(s.opened)))
		}
	}
	r := newReport(s.client.Environment().Name, filtered(s.store.Changes(0), by), settling, now)
	if by != nil {
		r.Filter = by.Text
	}
	return r
}

// report is the object of `status --json`. Fields are added, never renamed.
type report struct {
	Environment string                      `json:"environment"`
	At          time.Time                   `json:"at"`
	Settled     bool                        `json:"settled"` // whether nothing is missing
	Missing     []missingReport             `json:"missing"`
	Filter      string                      `json:"filter,omitempty"` // shipments, alerts and pulse belong to the intents that it matches
	Intents     map[string]*int             `json:"intents"`          // null if not known
	LetGo       int                         `json:"intents_let_go"`   // ended intents no longer kept, so not in these counts
	Shipments   map[api.ShipmentStatus]*int `json:"shipments"`        // likewise
	Quota       []quotaReport               `json:"quota"`
	Limits      []limitQuota                `json:"limits"`   // the contract's five
	Spenders    []spenderReport             `json:"spenders"` // in the last hour
	Relay       relayReport                 `json:"relay"`
	API         apiReport                   `json:"api"`
	Events      eventsReport                `json:"events"`
	Reads       readsReport                 `json:"reads"`
	Today       dayReport                   `json:"today"`
	Agents      limitReport                 `json:"agents"`
	Pace        map[string]paceReport       `json:"pace"`
	Pulse       pulseReport                 `json:"pulse"`
	Latency     []latencyReport             `json:"latency"`
	Alerts      []alertReport               `json:"alerts"`

	buckets []quota.Bucket
}

// paceReport is how long this account's intents recently stayed in a state.
type paceReport struct {
	Count int     `json:"count"`
	P50S  float64 `json:"p50_s"`
	P95S  float64 `json:"p95_s"`
}

type quotaReport struct {
	Class     string   `json:"class"`
	Policy    string   `json:"policy"`
	Limit     *int64   `json:"limit"` // null, like the next three, if no answer reported it
	WindowS   *float64 `json:"window_s"`
	Remaining *int64   `json:"remaining"`
	ResetS    *float64 `json:"reset_s"`
	Own       float64  `json:"own_per_s"`
	Others    float64  `json:"others_per_s"`
	Rejected  int64    `json:"rejected"`
	AgeS      *float64 `json:"age_s"`

	ExhaustedInS *float64       `json:"exhausted_in_s"` // forecast; null if not in sight
	Spent        spansReport    `json:"spent"`
	History      *coursesReport `json:"history,omitempty"`
}

type relayReport struct {
	State         string   `json:"state"`
	Epoch         string   `json:"epoch"`
	Head          *int64   `json:"head"` // null, like the cursor, if no relay reported it
	Cursor        *int64   `json:"cursor"`
	LastEventAgeS *float64 `json:"last_event_age_s"`
	Gaps          int64    `json:"gaps"`
	SinceS        *float64 `json:"since_s"`
	RetryInS      *float64 `json:"retry_in_s,omitempty"`
	ObservedS     *float64 `json:"observed_since_s,omitempty"` // how long all requests of proxies are known; left out if for the last hour
	Error         string   `json:"error,omitempty"`
}

type apiReport struct {
	State        string   `json:"state"`
	LatencyMS    *float64 `json:"latency_ms"` // null before the first answer
	LastReadAgeS *float64 `json:"last_read_age_s"`
	SinceS       *float64 `json:"since_s"`
	Error        string   `json:"error,omitempty"`
}

type eventsReport struct {
	Received   int  `json:"received"`
	Duplicate  int  `json:"duplicate"`
	Late       int  `json:"late"`
	Missed     *int `json:"missed"` // null without a relay
	Backfilled int  `json:"backfilled"`
}

type readsReport struct {
	Total          int      `json:"total"`
	Reconciled     int      `json:"reconciled"` // of the total, those only because of time
	Failed         int      `json:"failed"`
	Unreadable     int      `json:"unreadable"` // intents, shipments and list items that could not be read
	Reported       int      `json:"reported"`   // intents whose end is known only from an old event
	Behind         int      `json:"behind"`     // what an event had already reported
	StateChanges   int      `json:"state_changes"`
	PerStateChange *float64 `json:"per_state_change"` // without reconciled ones
}

// limitReport is a lower bound of a count, and its limit; null while unknown.
type limitReport struct {
	AtLeast int  `json:"at_least"`
	Limit   *int `json:"limit"`
}

func limitOf(atLeast, limit int) limitReport {
	if limit == 0 {
		return limitReport{AtLeast: atLeast}
	}
	return limitReport{atLeast, &limit}
}

func (l limitReport) text(what string) string {
	if l.Limit == nil {
		return fmt.Sprintf("at least %s %s, limit unknown", wording.Count(l.AtLeast), what)
	}
	return fmt.Sprintf("at least %s of %s %s", wording.Count(l.AtLeast), wording.Count(*l.Limit), what)
}

type alertReport struct {
	Kind   account.AlertKind `json:"kind"`
	Text   string            `json:"text"`
	Intent api.ID            `json:"intent,omitempty"`
	AgeS   float64           `json:"age_s"`
	DueInS *float64          `json:"due_in_s,omitempty"`
}

func newReport(environment string, picture account.Changes, settling account.Settling, now time.Time) report {
	s := picture.Summary
	r := report{
		Environment: environment, At: now.UTC(), Settled: len(settling.Missing) == 0, Missing: []missingReport{},
		Relay: relayReport{State: s.Feed.State.String(), Epoch: s.Feed.Epoch,
			LastEventAgeS: age(now, s.LastEvent), Gaps: lost(s.Feed), Error: wording.Because(s.Feed.Err),
			SinceS: age(now, s.Feed.Since), RetryInS: forecastOf(s.Feed.RetryAt.Sub(now)), ObservedS: age(now, s.Feed.ObservedSince)},
		API:    apiReport{State: s.API.State.String(), LastReadAgeS: age(now, s.LastRead), SinceS: age(now, s.API.Since), Error: wording.Because(s.API.Err)},
		Events: eventsReport{Received: s.Events.Received, Duplicate: s.Events.Duplicate, Late: s.Events.Late, Backfilled: s.Events.Backfilled},
		Reads: readsReport{Total: s.Reads.Total, Reconciled: s.Reads.Reconciled, Failed: s.Reads.Failed, Unreadable: settling.Unreadable, Reported: settling.Reported,
			Behind: s.Reads.Behind, StateChanges: s.Reads.StateChanges},
		Today:  dayOf(s.Day, now),
		Agents: limitOf(s.Agents.Placing, s.Agents.Limit),
		LetGo:  s.LetGo,
		Limits: limitsOf(s.Limits, now), Spenders: spendersOf(s.Spenders),
		Pulse: pulseOf(&picture, len(settling.Missing) == 0, now), Latency: latenciesOf(s.Latency, now),
		Quota: []quotaReport{}, Alerts: []alertReport{}, Pace: map[string]paceReport{}, buckets: s.Quota,
	}
	if s.API.Latency > 0 {
		r.API.LatencyMS = new(float64(s.API.Latency.Microseconds()) / 1000)
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
	r.Intents, r.Shipments = intentCounts(s, r.Settled), shipmentCounts(s, r.Settled)
	for _, b := range s.Quota {
		r.Quota = append(r.Quota, quotaOf(b, now))
	}
	for state, p := range s.Pace {
		r.Pace[string(api.Scrub(string(state)))] = paceReport{p.Count, rounded(p.P50.Seconds()), rounded(p.P95.Seconds())}
	}
	for _, a := range s.Alerts {
		r.Alerts = append(r.Alerts, alertReport{a.Kind, string(api.Scrub(a.Text)), a.Intent, rounded(now.Sub(a.Since).Seconds()), until(now, a.Due)})
	}
	return r
}

func quotaOf(b quota.Bucket, now time.Time) quotaReport {
	r := quotaReport{
		Class: string(b.Class), Policy: b.Policy, Own: rounded(b.Own), Others: rounded(b.Others),
		Rejected: b.Rejected, AgeS: age(now, b.ObservedAt), ExhaustedInS: forecastOf(b.Exhausted),
		Spent: spansReport{spentOf(b.History), spentOf(b.Hour), spentOf(b.Day)},
	}
	if b.Limit > 0 {
		r.Limit, r.WindowS = &b.Limit, new(b.Window.Seconds())
	}
	if !b.Unreported {
		r.Remaining, r.ResetS = new(b.Left(now)), new(b.Reset.Seconds())
	}
	return r
}

// whole is the report with the histories of buckets and pulse, and the latency
// distribution.
func (r report) whole() report {
	r.Pulse.Hour, r.Pulse.Day = r.Pulse.pulse.Hour, r.Pulse.pulse.Day
	for i := range r.Latency {
		l := &r.Latency[i]
		for _, b := range l.latency.Buckets {
			l.Buckets = append(l.Buckets, latencyBucketReport{precise(b.UpTo), b.Recent, b.Past})
		}
	}
	for i := range r.Quota {
		r.Quota[i].History = coursesOf(r.buckets[i])
	}
	return r
}

// failure is an error if the snapshot shows nothing of the account.
func (r report) failure() error {
	switch {
	case r.API.State == "unauthorized":
		return errUnauthorized
	case r.Relay.State == "refused":
		return explainable(fmt.Errorf("the relay refuses this client: %s", r.Relay.Error))
	case r.API.State == "failing":
		return explainable(fmt.Errorf("the service does not answer properly: %s", r.API.Error))
	case !r.Settled && r.Reads.Total == 0:
		return fmt.Errorf("nothing could be read of the account: %s", r.missing())
	case r.Reads.Unreadable > 0 && r.Reads.Total == 0:
		return fmt.Errorf("nothing could be read of the account: %s", r.API.Error)
	}
	return nil
}
