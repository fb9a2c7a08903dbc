// Package scenario plays what a file in TOML tells against a stand-in for the
// service: orders that are created, confirmed and fail, and events that are lost,
// doubled, late or overtaken. It asks nothing but a stand-in.
//
//	err := scenario.Run(ctx, file, client)
package scenario

import (
	"context"
	"fmt"
	"io"
	"time"

	"tillwatch/api"
)

// Scenario is what a file tells.
type Scenario struct {
	file    string            // as errors name it
	Name    string            `toml:"-"`
	About   string            `toml:"about"`   // what it shows, in a sentence
	Seed    uint64            `toml:"seed"`    // decides what the steps leave open; 0: 1
	Reasons []api.FailureCode `toml:"reasons"` // the steps are played once for each, with {reason} in their texts; none: once
	Steps   []Step            `toml:"step"`
}

// Step is one thing that is done, named by exactly one of the first fields, and the
// options of it.
type Step struct {
	Line int `toml:"-"` // of its first key, from 1

	Create  string        `toml:"create"`  // an intent, under a name of this scenario
	Wait    string        `toml:"wait"`    // for an intent
	Confirm string        `toml:"confirm"` // an intent, as a client of the service does
	Fail    string        `toml:"fail"`    // an intent: now, or once it is confirmed
	Expire  string        `toml:"expire"`  // an intent
	Trigger api.EventType `toml:"trigger"` // what an event tells of
	Lose    string        `toml:"lose"`    // the delivery of the next event of a type, such as shipment.*
	Double  string        `toml:"double"`  // it is delivered twice
	Delay   string        `toml:"delay"`   // it is delivered later
	Reorder string        `toml:"reorder"` // it is held back until a later one was taken
	Pause   span          `toml:"pause"`

	Product      string           `toml:"product"` // its URL; "": one that the seed picks
	Quantity     int              `toml:"quantity"`
	Reference    string           `toml:"reference"` // "": the names of scenario and intent
	OfferAfter   span             `toml:"offer_after"`
	PlacingAfter span             `toml:"placing_after"`
	ConfirmAfter span             `toml:"confirm_after"` // it confirms itself; 0: it does not
	Purchase     bool             `toml:"purchase"`      // in one step
	Reason       string           `toml:"reason"`        // a failure code
	State        api.IntentState  `toml:"state"`
	Event        api.EventType    `toml:"event"`
	Orders       *int             `toml:"orders"` // that were placed
	Within       span             `toml:"within"` // default a minute
	Times        int              `toml:"times"`  // default 1
	Of           string           `toml:"of"`     // an intent; "": something new or any
	Price        *int64           `toml:"price"`  // cents
	Availability api.Availability `toml:"availability"`
	By           span             `toml:"by"`    // how much later; of reorder at most, default 5 minutes
	Count        int              `toml:"count"` // events; default 1
}

// span is a time with its unit.
type span time.Duration

func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 || d > 24*time.Hour {
		return fmt.Errorf("%q is not a time: write one with its unit, such as \"90s\" or \"45m\", of a day at most", text)
	}
	*s = span(d)
	return nil
}

func (s span) seconds() float64 { return time.Duration(s).Seconds() }

// verbs are what a step can do, each with the options that go with it.
func verbs() map[string][]string {
	fault := []string{"of", "count"}
	return map[string][]string{
		"create":  {"product", "quantity", "reference", "offer_after", "placing_after", "confirm_after", "purchase", "reason"},
		"wait":    {"state", "event", "reason", "orders", "within"},
		"confirm": {"times"},
		"fail":    {"reason"},
		"expire":  {},
		"trigger": {"of", "product", "reason", "price", "availability"},
		"lose":    fault,
		"double":  fault,
		"delay":   append([]string{"by"}, fault...),
		"reorder": append([]string{"by"}, fault...),
		"pause":   {},
	}
}

// named are the intents that a step is about.
func (s *Step) named() []string {
	var names []string
	for _, name := range []string{s.Wait, s.Confirm, s.Fail, s.Expire, s.Of} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Run reads a scenario and plays it against the stand-in of a client.
func Run(ctx context.Context, file io.Reader, client *api.Client) error {
	s, err := Read("scenario", file)
	if err != nil {
		return err
	}
	return s.Play(ctx, client, nil)
}
