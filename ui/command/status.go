package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func newStatus() *cobra.Command {
	var (
		asJSON bool
		wait   time.Duration
	)
	command := &cobra.Command{
		Use:   "status",
		Short: "Print one snapshot of an account",
		Long: "Print one snapshot of an account: intents by state, shipments, quota, the health of relay and API.\n" +
			"It waits until the relay's history is here and the open intents are verified, or until --wait is over.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c.Flags())
			if err != nil {
				return err
			}
			if err := s.takeWatchList(c.InOrStdin()); err != nil {
				return err
			}
			s.AllowConfirm = false
			current, err := openKeptSession(s)
			if err != nil {
				return err
			}
			defer current.close()
			ctx, stop := context.WithCancel(c.Context())
			done := make(chan error, 1)
			go func() { done <- current.run(ctx) }()
			settled := current.settle(ctx, wait)
			snapshot := newReport(current.client.Environment(), current.store.Changes(0), time.Now()).whole(settled)
			stop()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			if err := snapshot.print(c.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return snapshot.failure()
		},
	}
	accountFlags(command.Flags())
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().DurationVar(&wait, "wait", 10*time.Second, "how long to wait for a settled picture")
	return command
}

// settle waits until the picture is settled, for limit at most, and reports
// whether it is.
func (s *session) settle(ctx context.Context, limit time.Duration) bool {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for version := uint64(0); !s.settled(); {
		if s.store.Wait(ctx, version) != nil {
			return false
		}
		version = s.store.Changes(version).Version
	}
	return true
}

// settled reports whether nothing more is to be expected without a new event:
// the feed has told its history, or never will, and this session has read each
// open intent.
func (s *session) settled() bool {
	picture := s.store.Changes(0)
	switch picture.Summary.Feed.State {
	case account.FeedLive, account.FeedRefused:
	case account.FeedOff:
		if s.settings.RelayURL != "" {
			return false
		}
	default:
		return false
	}
	if picture.Summary.API.State == account.APIUnauthorized {
		return true
	}
	if len(picture.Intents) == 0 && picture.Summary.API.State == account.APIUnknown {
		return false
	}
	for _, in := range picture.Intents {
		unread := in.Certainty != account.Verified || in.ReadAt.Before(s.opened)
		if !in.State.Terminal() && unread && !in.Missing {
			return false
		}
	}
	return true
}

// notRead counts shipments that are known by their events alone.
const notRead api.ShipmentStatus = "not_read"

// report is the object of `status --json`. Fields are added, never renamed.
type report struct {
	Environment string                     `json:"environment"`
	At          time.Time                  `json:"at"`
	Settled     *bool                      `json:"settled,omitempty"` // whether all was heard and read in time
	Intents     map[string]int             `json:"intents"`
	Shipments   map[api.ShipmentStatus]int `json:"shipments"`
	Quota       []quotaReport              `json:"quota"`
	Relay       relayReport                `json:"relay"`
	API         apiReport                  `json:"api"`
	Events      eventsReport               `json:"events"`
	Reads       readsReport                `json:"reads"`
	Today       dayReport                  `json:"today"`
	Agents      limitReport                `json:"agents"`
	Pace        map[string]paceReport      `json:"pace"`
	Alerts      []alertReport              `json:"alerts"`

	buckets []quota.Bucket
}

// paceReport is how long intents of this account stayed in a state of late.
type paceReport struct {
	Count int     `json:"count"`
	P50S  float64 `json:"p50_s"`
	P95S  float64 `json:"p95_s"`
}

type quotaReport struct {
	Class     string   `json:"class"`
	Policy    string   `json:"policy"`
	Limit     int64    `json:"limit"`
	WindowS   float64  `json:"window_s"`
	Remaining int64    `json:"remaining"`
	ResetS    float64  `json:"reset_s"`
	Own       float64  `json:"own_per_s"`
	Others    float64  `json:"others_per_s"`
	Rejected  int64    `json:"rejected"`
	AgeS      *float64 `json:"age_s"`

	ExhaustedInS *float64       `json:"exhausted_in_s"` // forecast; null when not in sight
	Spent        spansReport    `json:"spent"`
	History      *coursesReport `json:"history,omitempty"`
}

type relayReport struct {
	State         string   `json:"state"`
	Epoch         string   `json:"epoch"`
	Head          int64    `json:"head"`
	Cursor        int64    `json:"cursor"`
	LastEventAgeS *float64 `json:"last_event_age_s"`
	Gaps          int64    `json:"gaps"`
	SinceS        *float64 `json:"since_s"`
	RetryInS      *float64 `json:"retry_in_s,omitempty"`
	Error         string   `json:"error,omitempty"`
}

type apiReport struct {
	State        string   `json:"state"`
	LatencyMS    float64  `json:"latency_ms"`
	LastReadAgeS *float64 `json:"last_read_age_s"`
	SinceS       *float64 `json:"since_s"`
	Error        string   `json:"error,omitempty"`
}

type eventsReport struct {
	Received   int `json:"received"`
	Duplicate  int `json:"duplicate"`
	Late       int `json:"late"`
	Missed     int `json:"missed"`
	Backfilled int `json:"backfilled"`
}

type readsReport struct {
	Total          int      `json:"total"`
	Failed         int      `json:"failed"`
	Behind         int      `json:"behind"` // what an event had told already
	StateChanges   int      `json:"state_changes"`
	PerStateChange *float64 `json:"per_state_change"`
}

// limitReport is a count from below against a limit, null while that is unknown.
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
		return fmt.Sprintf("at least %d %s, limit unknown", l.AtLeast, what)
	}
	return fmt.Sprintf("at least %d of %d %s", l.AtLeast, *l.Limit, what)
}

type alertReport struct {
	Kind   account.AlertKind `json:"kind"`
	Text   string            `json:"text"`
	Intent api.ID            `json:"intent,omitempty"`
	AgeS   float64           `json:"age_s"`
	DueInS *float64          `json:"due_in_s,omitempty"`
}

func newReport(environment string, picture account.Changes, now time.Time) report {
	s := picture.Summary
	r := report{
		Environment: environment, At: now.UTC(), Intents: map[string]int{"other": 0}, Shipments: map[api.ShipmentStatus]int{},
		Relay: relayReport{State: s.Feed.State.String(), Epoch: s.Feed.Epoch, Head: s.Feed.Head, Cursor: s.Feed.Cursor,
			LastEventAgeS: age(now, s.LastEvent), Gaps: lost(s.Feed), Error: words(s.Feed.Err),
			SinceS: age(now, s.Feed.Since), RetryInS: forecastOf(s.Feed.RetryIn)},
		API: apiReport{State: s.API.State.String(), LatencyMS: float64(s.API.Latency.Microseconds()) / 1000,
			LastReadAgeS: age(now, s.LastRead), SinceS: age(now, s.API.Since), Error: words(s.API.Err)},
		Events: eventsReport(s.Events),
		Reads:  readsReport{Total: s.Reads.Total, Failed: s.Reads.Failed, Behind: s.Reads.Behind, StateChanges: s.Reads.StateChanges},
		Today:  dayOf(s.Day, now),
		Agents: limitOf(s.Agents.Placing, s.Agents.Limit),
		Quota:  []quotaReport{}, Alerts: []alertReport{}, Pace: map[string]paceReport{}, buckets: s.Quota,
	}
	if s.Reads.StateChanges > 0 {
		share := rounded(float64(s.Reads.Total) / float64(s.Reads.StateChanges))
		r.Reads.PerStateChange = &share
	}
	for _, state := range api.IntentStates() {
		r.Intents[string(state)] = 0
	}
	for state, count := range s.Intents {
		if state.Known() {
			r.Intents[string(state)] = count
		} else {
			r.Intents["other"] += count
		}
	}
	for _, status := range api.ShipmentStatuses() {
		r.Shipments[status] = 0
	}
	for status, count := range s.Shipments {
		if status == "" {
			status = notRead
		}
		r.Shipments[status] = count
	}
	for _, b := range s.Quota {
		r.Quota = append(r.Quota, quotaReport{
			Class: string(b.Class), Policy: b.Policy, Limit: b.Limit, WindowS: b.Window.Seconds(),
			Remaining: b.Left(now), ResetS: b.Reset.Seconds(), Own: rounded(b.Own), Others: rounded(b.Others),
			Rejected: b.Rejected, AgeS: age(now, b.ObservedAt), ExhaustedInS: forecastOf(b.Exhausted),
			Spent: spansReport{spentOf(b.History), spentOf(b.Hour), spentOf(b.Day)},
		})
	}
	for state, p := range s.Pace {
		r.Pace[string(api.Scrub(string(state)))] = paceReport{p.Count, rounded(p.P50.Seconds()), rounded(p.P95.Seconds())}
	}
	for _, a := range s.Alerts {
		r.Alerts = append(r.Alerts, alertReport{a.Kind, string(api.Scrub(a.Text)), a.Intent, rounded(now.Sub(a.Since).Seconds()), until(now, a.Due)})
	}
	return r
}

// whole is the report with the course of each bucket, and with whether the
// picture had settled.
func (r report) whole(settled bool) report {
	r.Settled = &settled
	for i := range r.Quota {
		r.Quota[i].History = coursesOf(r.buckets[i])
	}
	return r
}

// failure tells a script that the snapshot shows nothing of the account.
func (r report) failure() error {
	switch {
	case r.API.State == "unauthorized":
		return errUnauthorized
	case r.Relay.State == "refused":
		return fmt.Errorf("the relay refuses this client: %s", r.Relay.Error)
	case r.API.State == "failing":
		return fmt.Errorf("the service does not answer: %s", r.API.Error)
	}
	return nil
}

func (r report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := io.WriteString(w, r.String())
	return err
}
