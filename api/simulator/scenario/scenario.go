// Package scenario plays a TOML file of steps against a stand-in for the service: orders
// are created, confirmed and fail; events are lost, doubled, delayed or overtaken. It
// refuses anything but a stand-in.
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

// Scenario is the content of a file.
type Scenario struct {
	file    string            // the name of the file in errors
	Name    string            `toml:"-"`
	About   string            `toml:"about"`   // what it shows, in a sentence
	Seed    uint64            `toml:"seed"`    // decides what the steps leave open; 0 means 1
	Reasons []api.FailureCode `toml:"reasons"` // the steps are played once for each, which replaces {reason} in texts; empty: once
	Steps   []Step            `toml:"step"`
}

// Step does one thing: exactly one of the fields in the first group is set. The others
// are its options.
type Step struct {
	Line int `toml:"-"` // of its first key, from 1

	Create  string        `toml:"create"`  // an intent, under a name of this scenario
	Wait    string        `toml:"wait"`    // for a state or an event of an intent
	Confirm string        `toml:"confirm"` // an intent, through the API
	Fail    string        `toml:"fail"`    // an intent: now, or once it is confirmed
	Expire  string        `toml:"expire"`  // an intent
	Trigger api.EventType `toml:"trigger"` // make happen what an event of this type reports
	Lose    string        `toml:"lose"`    // the next event of a type, such as shipment.*: never deliver it
	Double  string        `toml:"double"`  // the same: deliver it twice
	Delay   string        `toml:"delay"`   // the same: deliver it later
	Reorder string        `toml:"reorder"` // the same: hold it back until a later one was taken
	Pause   span          `toml:"pause"`

	Product      string           `toml:"product"` // its URL; "": the seed picks one
	Quantity     int              `toml:"quantity"`
	Reference    string           `toml:"reference"` // "": from the names of the scenario and the intent
	OfferAfter   span             `toml:"offer_after"`
	PlacingAfter span             `toml:"placing_after"`
	ConfirmAfter span             `toml:"confirm_after"` // after the offer it confirms itself; 0: it does not
	Purchase     bool             `toml:"purchase"`      // in one step
	Reason       string           `toml:"reason"`        // a failure code
	State        api.IntentState  `toml:"state"`
	Event        api.EventType    `toml:"event"`
	Orders       *int             `toml:"orders"` // the expected number of orders placed; nil: any
	Within       span             `toml:"within"` // default a minute
	Times        int              `toml:"times"`  // default 1
	Of           string           `toml:"of"`     // an intent; "": a new one for trigger, any for a fault
	Price        *int64           `toml:"price"`  // cents
	Availability api.Availability `toml:"availability"`
	By           span             `toml:"by"`    // how much later; for reorder the longest delay, default 5 minutes
	Count        int              `toml:"count"` // number of events; default 1
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

// verbs maps what a step can do to the options that go with it.
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

// named returns the names of the intents that a step is about.
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
