package account

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Feed is a source of events, such as a relay's stream.
type Feed interface {
	// Follow passes events and the feed's own state to sink, in order and from one goroutine, until ctx ends. It
	// reconnects by itself.
	Follow(ctx context.Context, sink Sink) error
}

// Observer takes observed requests of the account, in any order, late or repeated. A [Watcher] is one.
type Observer interface {
	Observe(batch []quota.Observation)
}

// Sink takes what a feed delivers.
type Sink interface {
	Observer
	// Deliver takes events that arrived at this process at arrived.
	Deliver(batch []Delivery, arrived time.Time)
	FeedChanged(status FeedStatus)
}

// Delivery is one event with its position in the feed.
type Delivery struct {
	Seq        int64 // in the relay's journal, from 1; 0 if it comes from none
	Event      api.Event
	Received   time.Time // by the relay; zero if it did not say
	Origin     string    // webhook or backfill
	Duplicates int       // how often the relay received it again
	ID         api.ID    // the event's, as the relay has it; "" if it comes from none
}

// FeedState is the state of a feed.
type FeedState uint8

// The states of a feed.
const (
	FeedOff        FeedState = iota // no relay is configured
	FeedConnecting                  // connecting for the first time
	FeedReplaying                   // connected, behind the head
	FeedLive                        // connected, at the head
	FeedLost                        // was connected, trying again
	FeedRefused                     // the relay refuses this client for good
)

// String returns the state's name.
func (s FeedState) String() string {
	return wordOf(s, "off", "connecting", "replaying", "live", "lost", "refused")
}

// FeedStatus is the state of a feed and of the journal behind it.
type FeedStatus struct {
	State    FeedState `json:"state"`
	Since    time.Time `json:"since,omitzero"`     // when the state began; zero while there is no feed
	Epoch    string    `json:"epoch,omitempty"`    // the journal's identity; "" before the first answer
	Head     int64     `json:"head"`               // the journal's newest seq; 0 for none
	Cursor   int64     `json:"cursor"`             // the newest seq delivered; 0 for none
	Last     api.ID    `json:"last,omitempty"`     // the id of that event; "" if it is not known
	LostFrom int64     `json:"lostFrom,omitempty"` // the first seq that could not be read when requested; 0 for none
	LostTo   int64     `json:"lostTo,omitempty"`   // the last of them; 0 for none
	Reset    bool      `json:"reset,omitempty"`    // the journal is not the one followed before, or lost its newest events
	Err      error     `json:"-"`                  // why the feed is lost or refused; nil while it is neither
	RetryAt  time.Time `json:"retryAt,omitzero"`   // when a lost feed tries again; zero while it is trying

	// ObservedSince is when the observations begin that the feed still had when it last connected; zero: an hour before.
	ObservedSince time.Time `json:"observedSince,omitzero"`

	Wrong api.Text `json:"wrong,omitempty"` // the relay's diagnosis of wrongly signed deliveries; "" for none
}

// MarshalText returns the state's name.
func (s FeedState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes an unknown name for the first state.
func (s *FeedState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, FeedRefused)
	return nil
}
