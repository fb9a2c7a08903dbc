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
	Reported                  // an event or an answer to somebody else proves the state, no read has confirmed it
	Verified                  // a read said so
)

// String is the certainty in a word.
func (c Certainty) String() string { return wordOf(c, "hinted", "reported", "verified") }

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
	Since       time.Time          `json:"since,omitzero"`       // best known moment of entering State
	CreatedAt   time.Time          `json:"createdAt,omitzero"`   // zero while not known
	ReadAt      time.Time          `json:"readAt,omitzero"`      // when the newest read was sent; zero when never read
	ExpiresAt   time.Time          `json:"expiresAt,omitzero"`   // end of the confirm window; zero while not known
	OfferedAt   time.Time          `json:"offeredAt,omitzero"`   // when its offer came; zero where nobody saw that
	ConfirmedAt time.Time          `json:"confirmedAt,omitzero"` // when it was confirmed; likewise
	EndedAt     time.Time          `json:"endedAt,omitzero"`     // when it was completed or failed; likewise
	Total       *api.Money         `json:"total,omitempty"`
	Failure     *api.FailureReason `json:"failureReason,omitempty"` // why it failed; nil while not known
	Quantity    int                `json:"quantity,omitempty"`      // 0 while not known
	Reads       int                `json:"reads,omitempty"`         // answered reads of this intent
	Version     uint64             `json:"-"`                       // of the store, when this last changed
	Certainty   Certainty          `json:"certainty"`
	Missing     bool               `json:"missing,omitempty"`    // the service answered 404 to the last read
	FoundEnded  bool               `json:"foundEnded,omitempty"` // a read found that it had ended, at Since or long before
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
	known     time.Time // the earliest moment at which it is known to have existed, for the day's count
	seen      eventSet  // events that were seen
	floor     int       // the highest rank that anything has proven; -1 for none
	readRank  int       // of the newest read that is kept; -1 for none
	reads     int       // answered reads since it entered its state
	behind    int       // reads in a row that were behind what an event proved
	missing   int       // reads in a row that were answered 404
	listed    bool      // its shipments were listed
	observed  bool      // an observation was the first to tell of it
	ordered   bool      // the newest read named orders
}

// over reports whether the intent is one of those that are let go once there are
// many: it has ended, as far as is known, or is not there.
func (i *Intent) over() bool { return i.State.Terminal() || i.Missing }

// Entered is when it entered its state; zero while that is not known: an end that a
// read found is as old as the read or any older.
func (i *Intent) Entered() time.Time {
	if i.FoundEnded && i.EndedAt.IsZero() {
		return time.Time{}
	}
	return i.Since
}

// Open reports whether something can still happen to the intent, or whether its
// end has only been reported.
func (i *Intent) Open() bool { return !i.State.Terminal() || i.Certainty != Verified }
