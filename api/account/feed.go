package account

import (
	"context"
	"time"

	"tillwatch/api"
)

// Feed is a source of events: a relay's stream.
type Feed interface {
	// Follow delivers events and the feed's own state to sink, in order and
	// from one goroutine, until ctx ends. It reconnects by itself.
	Follow(ctx context.Context, sink Sink) error
}

// Sink takes what a feed delivers.
type Sink interface {
	// Deliver takes events that this process has got at a moment.
	Deliver(batch []Delivery, arrived time.Time)
	FeedChanged(status FeedStatus)
}

// Delivery is one event with the position that the feed gave it.
type Delivery struct {
	Seq        int64
	Event      api.Event
	Received   time.Time // by the relay
	Origin     string    // webhook, backfill or replay
	Duplicates int
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
	switch s {
	case FeedConnecting:
		return "connecting"
	case FeedReplaying:
		return "replaying"
	case FeedLive:
		return "live"
	case FeedLost:
		return "lost"
	case FeedRefused:
		return "refused"
	}
	return "off"
}

// FeedStatus is the state of a feed and of the journal behind it.
type FeedStatus struct {
	State    FeedState
	Since    time.Time
	Epoch    string
	Head     int64
	Cursor   int64
	LostFrom int64     // first and last sequence number that the journal no longer
	LostTo   int64     // had when asked; 0 when none
	Reset    bool      // the journal is another one than before
	Err      error     // why the feed is lost or refused
	RetryAt  time.Time // when a lost feed tries again; zero while it does
}
