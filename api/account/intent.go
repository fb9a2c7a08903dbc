package account

import (
	"time"

	"tillwatch/api"
)

// Certainty says how a state was learnt.
type Certainty uint8

// From least to most certain.
const (
	Hinted   Certainty = iota // something named the object; its state is unknown
	Reported                  // an event, or an answer to another client, proves the state; no read has confirmed it
	Verified                  // a read showed the state
)

// String returns the certainty's name.
func (c Certainty) String() string { return wordOf(c, "hinted", "reported", "verified") }

// MarshalText returns the certainty's name.
func (c Certainty) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText takes an unknown name for the least certain.
func (c *Certainty) UnmarshalText(word []byte) error {
	*c = stateOfWord(word, Verified)
	return nil
}

// Intent is one checkout intent as a list shows it. It is the head of an [IntentDetail] and immutable: a change
// makes a new one.
type Intent struct {
	ID          api.ID             `json:"id"`
	State       api.IntentState    `json:"state,omitempty"` // "" while unknown
	Product     api.Text           `json:"product,omitempty"`
	Merchant    api.Text           `json:"merchant,omitempty"`
	ReferenceID api.Text           `json:"referenceId,omitempty"`
	Since       time.Time          `json:"since,omitzero"`       // when it entered State, as well as known
	CreatedAt   time.Time          `json:"createdAt,omitzero"`   // zero while unknown
	ReadAt      time.Time          `json:"readAt,omitzero"`      // when the newest read was sent; zero if never read
	ExpiresAt   time.Time          `json:"expiresAt,omitzero"`   // end of the confirm window; zero while unknown
	OfferedAt   time.Time          `json:"offeredAt,omitzero"`   // when its offer came; zero if nobody saw it
	ConfirmedAt time.Time          `json:"confirmedAt,omitzero"` // when it was confirmed; zero if nobody saw it
	EndedAt     time.Time          `json:"endedAt,omitzero"`     // when it completed or failed; zero if nobody saw it
	Total       *api.Money         `json:"total,omitempty"`
	Failure     *api.FailureReason `json:"failureReason,omitempty"` // why it failed; nil while unknown
	Quantity    int                `json:"quantity,omitempty"`      // 0 while unknown
	Reads       int                `json:"reads,omitempty"`         // answered reads of this intent
	Version     uint64             `json:"-"`                       // of the store, when this last changed
	Certainty   Certainty          `json:"certainty"`
	Missing     bool               `json:"missing,omitempty"`    // the service answered 404 to the last read
	Found       bool               `json:"found,omitempty"`      // a read found it in this state, which is not its end: entered at Since or long before
	FoundEnded  bool               `json:"foundEnded,omitempty"` // a read found it ended: at Since or long before
}

// IntentDetail is all that is known of one checkout intent. It is immutable.
type IntentDetail struct {
	Intent
	Latest    *api.Intent `json:"latest,omitempty"`    // the newest read; nil if never read. Only recent ones keep their body
	Shipments []api.ID    `json:"shipments,omitempty"` // in the order in which they became known
	Timeline  []*Moment   `json:"timeline,omitempty"`  // oldest first
	basis     basis
}

// basis is what the store needs to merge what it learns of an intent, and the watcher to decide when to read it.
type basis struct {
	newest    time.Time // when the newest read was sent, whatever its outcome
	lastEvent time.Time // the newest createdAt of an event
	known     time.Time // the earliest time at which it is known to have existed, for the day's count
	seen      eventSet  // events seen
	floor     int       // the highest state rank proven so far; -1 for none
	readRank  int       // the state rank of the newest read kept; -1 for none
	reads     int       // answered reads since it entered its state
	behind    int       // consecutive reads that were behind what an event proved
	missing   int       // consecutive reads that were answered 404
	listed    bool      // its shipments have been listed
	observed  bool      // it became known by an observation
	ordered   bool      // the newest read named merchant orders
}

// over reports whether the intent may be dropped once there are many: it has ended, as far as known, or does not
// exist.
func (i *Intent) over() bool { return i.State.Terminal() || i.Missing }

// Entered returns when it entered its state; zero while unknown: if a read found it ended, that may have been long
// before.
func (i *Intent) Entered() time.Time {
	if i.FoundEnded && i.EndedAt.IsZero() {
		return time.Time{}
	}
	return i.Since
}

// Open reports whether something can still happen to the intent, or its end is only reported.
func (i *Intent) Open() bool { return !i.State.Terminal() || i.Certainty != Verified }
