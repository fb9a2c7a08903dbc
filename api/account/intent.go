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

// MarshalText makes the certainty the word that it has in JSON.
func (c Certainty) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText takes a word that is not known for the least.
func (c *Certainty) UnmarshalText(word []byte) error {
	*c = stateOfWord(word, Verified)
	return nil
}

// Intent is what a list shows of one checkout intent. It is the head of an
// [IntentDetail] and immutable: a change makes a new one.
type Intent struct {
	ID          api.ID             `json:"id"`
	State       api.IntentState    `json:"state,omitempty"` // "" while not known
	Product     api.Text           `json:"product,omitempty"`
	Merchant    api.Text           `json:"merchant,omitempty"`
	ReferenceID api.Text           `json:"referenceId,omitempty"`
	Since       time.Time          `json:"since,omitzero"`     // best known moment of entering State
	CreatedAt   time.Time          `json:"createdAt,omitzero"` // zero while not known
	ReadAt      time.Time          `json:"readAt,omitzero"`    // when the newest read was sent; zero when never read
	ExpiresAt   time.Time          `json:"expiresAt,omitzero"` // end of the confirm window; zero while not known
	Total       *api.Money         `json:"total,omitempty"`
	Failure     *api.FailureReason `json:"failureReason,omitempty"` // why it failed; nil while not known
	Quantity    int                `json:"quantity,omitempty"`      // 0 while not known
	Reads       int                `json:"reads,omitempty"`         // answered reads of this intent
	Version     uint64             `json:"-"`                       // of the store, when this last changed
	Certainty   Certainty          `json:"certainty"`
	Missing     bool               `json:"missing,omitempty"` // the service answered 404 to the last read
}

// IntentDetail is all that is known of one checkout intent. It is immutable.
type IntentDetail struct {
	Intent
	Latest    *api.Intent `json:"latest,omitempty"`    // the newest read; nil when never read. Its body is kept of the newest only
	Shipments []api.ID    `json:"shipments,omitempty"` // of this intent, in the order in which they became known
	Timeline  []Moment    `json:"timeline,omitempty"`  // oldest first
	basis     basis
}

// basis is what the store goes by when it merges what it learns of an intent, and
// the watcher when it decides when to read it.
type basis struct {
	newest    time.Time // when the newest read was sent, whatever came of it
	lastEvent time.Time // the newest createdAt of an event
	known     time.Time // the earliest moment known of it, for the day's count
	seen      eventSet  // events that were seen
	floor     int       // the highest rank that anything has proven; -1 for none
	readRank  int       // of the newest read that is kept; -1 for none
	reads     int       // answered reads since it entered its state
	behind    int       // reads in a row that were behind what an event proved
	missing   int       // reads in a row that were answered 404
	listed    bool      // its shipments were listed
	ordered   bool      // the newest read told of orders
}

// over reports whether the intent is one of those that are let go once there are
// many: it has ended, as far as is known, or is not there.
func (i *Intent) over() bool { return i.State.Terminal() || i.Missing }

// eventSet says which of the contract's intent events were seen.
type eventSet uint8

const (
	sawOfferRetrieved eventSet = 1 << iota
	sawOfferFailed
	sawCompleted
	sawOrderFailed
)

func eventBit(t api.EventType) eventSet {
	switch t {
	case api.OfferRetrieved:
		return sawOfferRetrieved
	case api.OfferFailed:
		return sawOfferFailed
	case api.IntentCompleted:
		return sawCompleted
	case api.OrderFailed:
		return sawOrderFailed
	}
	return 0
}

// Open reports whether something can still happen to the intent, or whether its
// end has only been reported.
func (i *Intent) Open() bool { return !i.State.Terminal() || i.Certainty != Verified }

// Shipment is what is known of one shipment. It is immutable.
type Shipment struct {
	ID        api.ID        `json:"id"`
	IntentID  api.ID        `json:"intentId,omitempty"`
	Product   api.Text      `json:"product,omitempty"` // of its intent, when known
	Certainty Certainty     `json:"certainty"`
	ReadAt    time.Time     `json:"readAt,omitzero"`
	Latest    *api.Shipment `json:"latest,omitempty"`  // the newest read; nil when never read
	Missing   bool          `json:"missing,omitempty"` // the service answered 404 to the last read
	Version   uint64        `json:"-"`

	newest    time.Time // when the newest read was sent
	lastEvent time.Time
	told      int // events that came since the newest read
	missing   int // reads in a row that did not find it
}

// updated is the updatedAt of the newest read.
func (s *Shipment) updated() time.Time {
	if s.Latest == nil {
		return time.Time{}
	}
	return plausible(s.Latest.UpdatedAt)
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
	Seq        int64              `json:"seq,omitempty"` // of the relay's journal
	ID         api.ID             `json:"id"`
	Type       api.EventType      `json:"type"`
	SourceType api.SourceType     `json:"sourceType,omitempty"`
	SourceID   api.ID             `json:"sourceId,omitempty"`
	Product    api.Text           `json:"product,omitempty"` // of the intent that it speaks of, when known
	CreatedAt  time.Time          `json:"createdAt,omitzero"`
	Received   time.Time          `json:"received,omitzero"`    // by the relay
	Origin     string             `json:"origin,omitempty"`     // webhook, backfill or replay
	Duplicates int                `json:"duplicates,omitempty"` // how often the relay got it again
	Late       bool               `json:"late,omitempty"`       // an event created later was here before it
	Status     api.ShipmentStatus `json:"status,omitempty"`     // that an update of a shipment has led to; "" while no read proves it
	Raw        []byte             `json:"-"`                    // the exact body
	Version    uint64             `json:"-"`

	ordinal int  // how many events were known before it
	epoch   int  // of the journal that gave its sequence number
	lined   bool // it stands in a timeline
}
