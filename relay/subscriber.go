package relay

import (
	"context"
	"time"

	"tillwatch/api"
)

// SubscriberConfig says which stream to follow and from where.
type SubscriberConfig struct {
	URL    string     // of the relay: http, https, ws or wss; the path defaults to /v1/stream
	Token  api.Secret // bearer token
	Cursor string     // "<epoch>:<seq>" to resume after, "" for none
	From   string     // where to begin without a cursor: "earliest" (default) or "latest"
	Types  []string   // event types wanted, "shipment.*"; empty for all
	Client string     // names this client in the relay's logs
}

// Subscriber follows a relay's stream for as long as it is told to: it
// reconnects by itself and delivers each sequence number once, in order.
type Subscriber struct{}

// Handler takes what a subscriber receives, in order, from one goroutine. After
// Events returns nil the cursor has moved behind the batch.
type Handler interface {
	Events(ctx context.Context, batch []Item) error
	Status(Status)
}

// Item is one event of the stream.
type Item struct {
	Seq        int64
	Event      api.Event
	Received   time.Time
	Origin     string // webhook, backfill or replay
	Duplicates int
}

// StreamState is where a subscriber stands.
type StreamState string

// The states of a subscriber.
const (
	Dialling  StreamState = "dialling"
	Replaying StreamState = "replaying"
	Live      StreamState = "live"
	Lost      StreamState = "lost"    // will try again
	Refused   StreamState = "refused" // will not
)

// Status is the state of a subscriber and of the journal behind it.
type Status struct {
	State    StreamState
	Since    time.Time
	Epoch    string
	Head     int64
	Cursor   int64
	Resume   string // ok, fresh, gap or reset, as the relay said
	LostFrom int64  // with gap: the range that the journal no longer has
	LostTo   int64
	Err      error // with lost and refused
	RetryIn  time.Duration
}

// NewSubscriber checks cfg.
func NewSubscriber(cfg SubscriberConfig) (*Subscriber, error) { panic("unwritten") }

// Run follows the stream until ctx ends or the relay refuses this client for
// good. It returns nil in the first case.
func (s *Subscriber) Run(ctx context.Context, h Handler) error { panic("unwritten") }

// Cursor is where to resume: "<epoch>:<seq>", "" before the first welcome.
func (s *Subscriber) Cursor() string { panic("unwritten") }
