package account

import (
	"time"

	"tillwatch/api"
)

// Certainty says how a state was learnt.
type Certainty uint8

// From least to most certain.
const (
	Hinted   Certainty = iota // an event named the object, its state is not known
	Reported                  // an event proves the state, no read has confirmed it
	Verified                  // a read said so
)

// String is the certainty in a word.
func (c Certainty) String() string {
	switch c {
	case Verified:
		return "verified"
	case Reported:
		return "reported"
	}
	return "hinted"
}

// Intent is what a list shows of one checkout intent. It is immutable: a change
// makes a new one. The rest is an [IntentDetail], made when somebody asks
// [Store.Intent] for it: a screen may hold a hundred thousand of these.
type Intent struct {
	ID          api.ID
	State       api.IntentState // "" while not known
	Product     api.Text
	Merchant    api.Text
	ReferenceID api.Text
	Since       time.Time // best known moment of entering State
	CreatedAt   time.Time // zero while not known
	ReadAt      time.Time // when the newest read was sent; zero when never read
	ExpiresAt   time.Time // end of the confirm window; zero while not known
	Total       *api.Money
	Failure     *api.FailureReason // why it failed; nil while not known
	Quantity    int                // 0 while not known
	Reads       int                // answered reads of this intent
	Version     uint64             // of the store, when this last changed
	Certainty   Certainty
	Missing     bool // the service answered 404 to the last read
}

// IntentDetail is all that is known of one checkout intent. It is immutable.
type IntentDetail struct {
	Intent
	Latest    *api.Intent // the newest read; nil when never read
	Shipments []api.ID    // of this intent, in the order in which they became known
	Timeline  []Moment    // oldest first
}

// Open reports whether something can still happen to the intent, or whether its
// end has only been reported.
func (i *Intent) Open() bool { return !i.State.Terminal() || i.Certainty != Verified }

// Moment is one entry of a timeline: what was learnt, when it happened and how
// it became known.
type Moment struct {
	At      time.Time // when it happened, as far as known
	Learnt  time.Time // when it became known here
	How     Learnt
	State   api.IntentState // "" when it says nothing of the state
	EventID api.ID          // when How is an event, of the intent or of one of its shipments
	Reads   int             // so many reads that changed nothing; 0 for anything else
	Text    string          // what happened, in words
}

// Learnt is the way by which something became known.
type Learnt uint8

// The ways.
const (
	ByEvent Learnt = iota
	ByRead
	ByConfirm
	ByTimer
)

// String is the way in a word.
func (l Learnt) String() string {
	switch l {
	case ByEvent:
		return "event"
	case ByRead:
		return "read"
	case ByConfirm:
		return "confirm"
	}
	return "timer"
}

// Shipment is what is known of one shipment. It is immutable.
type Shipment struct {
	ID        api.ID
	IntentID  api.ID
	Product   api.Text // of its intent, when known
	Certainty Certainty
	ReadAt    time.Time
	Latest    *api.Shipment // the newest read; nil when never read
	Missing   bool          // the service answered 404 to the last read
	Version   uint64
}

// Status is the newest read status; "" when never read.
func (s *Shipment) Status() api.ShipmentStatus {
	if s.Latest == nil {
		return ""
	}
	return s.Latest.Status
}

// Event is one delivered event as the picture keeps it.
type Event struct {
	Seq        int64 // of the relay's journal
	ID         api.ID
	Type       api.EventType
	SourceType api.SourceType
	SourceID   api.ID
	Product    api.Text // of the intent that it speaks of, when known
	CreatedAt  time.Time
	Received   time.Time          // by the relay
	Origin     string             // webhook, backfill or replay
	Duplicates int                // how often the relay got it again
	Late       bool               // an event created later was here before it
	Status     api.ShipmentStatus // that an update of a shipment has led to; "" while no read proves it
	Raw        []byte             // the exact body
	Version    uint64
}
