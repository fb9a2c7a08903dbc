package account

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Feed is a source of events: a relay's stream.
type Feed interface {
	// Follow delivers events and the feed's own state to sink, in order and
	// from one goroutine, until ctx ends. It reconnects by itself.
	Follow(ctx context.Context, sink Sink) error
}

// Observer takes what was seen of the account's requests: in any order, late, or
// twice. A [Watcher] is one.
type Observer interface {
	Observe(batch []quota.Observation)
}

// Sink takes what a feed delivers.
type Sink interface {
	Observer
	// Deliver takes events that this process has got at a moment.
	Deliver(batch []Delivery, arrived time.Time)
	FeedChanged(status FeedStatus)
}

// Delivery is one event with the position that the feed gave it.
type Delivery struct {
	Seq        int64 // in the relay's journal, from 1; 0 when no journal gave it
	Event      api.Event
	Received   time.Time // by the relay; zero when it did not say
	Origin     string    // webhook, backfill or replay
	Duplicates int       // how often the relay got it again
}

// FeedState is the state of a feed.
type FeedState uint8

// The states of a feed.
const (
	FeedOff        FeedState = iota // no relay is configured
	FeedConnecting                  // dialling for the first time
	FeedReplaying                   // connected, behind the head
	FeedLive                        // connected, at the head
	FeedLost                        // was connected, trying again
	FeedRefused                     // the relay refuses this client for good
)

// String is the state in a word.
func (s FeedState) String() string {
	return wordOf(s, "off", "connecting", "replaying", "live", "lost", "refused")
}

// FeedStatus is the state of a feed and of the journal behind it.
type FeedStatus struct {
	State    FeedState `json:"state"`
	Since    time.Time `json:"since,omitzero"`     // when the state began; zero while there is no feed
	Epoch    string    `json:"epoch,omitempty"`    // the journal's identity; "" before the first answer
	Head     int64     `json:"head"`               // the newest seq of the journal; 0 for none
	Cursor   int64     `json:"cursor"`             // the newest seq that was delivered; 0 for none
	LostFrom int64     `json:"lostFrom,omitempty"` // the first seq that the journal no longer had when asked; 0 for none
	LostTo   int64     `json:"lostTo,omitempty"`   // the last of them; 0 for none
	Reset    bool      `json:"reset,omitempty"`    // the journal is another one than before
	Err      error     `json:"-"`                  // why the feed is lost or refused; nil while it is neither
	RetryAt  time.Time `json:"retryAt,omitzero"`   // when a lost feed tries again; zero while it does
	Wrong    api.Text  `json:"wrong,omitempty"`    // what the relay tells of deliveries with a wrong signature; "" when there is nothing to tell
}

// MarshalText makes the state the word that it has in JSON.
func (s FeedState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a word that is not known for the first state.
func (s *FeedState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, FeedRefused)
	return nil
}
