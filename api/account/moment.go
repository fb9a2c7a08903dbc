package account

import (
	"time"

	"tillwatch/api"
)

// Moment is one entry of an intent's timeline, as data: sentences are made where
// it is shown. A timeline that was published never changes.
type Moment struct {
	What    What               `json:"what"`
	From    api.IntentState    `json:"from,omitempty"`    // the state that was known before; "" when none, or when it does not matter
	To      api.IntentState    `json:"to,omitempty"`      // the state that it shows; "" when none
	When    time.Time          `json:"when,omitzero"`     // when it happened, as far as known; of reads, when they were sent
	Learnt  time.Time          `json:"learnt,omitzero"`   // when it became known here
	EventID api.ID             `json:"event,omitempty"`   // of the event that reported it; "" when none
	Type    api.EventType      `json:"type,omitempty"`    // of that event
	Late    bool               `json:"late,omitempty"`    // an event that was created later was here before it
	Total   *api.Money         `json:"total,omitempty"`   // that the read showed; nil when none
	Failure api.FailureCode    `json:"failure,omitempty"` // that the read showed; "" when none
	Status  api.ShipmentStatus `json:"status,omitempty"`  // of the shipment that no event reported
	Who     api.Text           `json:"who,omitempty"`     // whose request showed it, of what a proxy saw
	Count   int                `json:"count,omitempty"`   // of reads ([Unchanged]) or of entries ([LetGo])
}

// What says what happened at a moment.
type What string

// The kinds of moments.
const (
	EventTold     What = "event"           // an event of the intent
	ShipmentTold  What = "shipment_event"  // an event of one of its shipments
	ReadShowed    What = "read"            // a read showed something new
	ConfirmTaken  What = "confirm"         // a confirm was accepted
	Unchanged     What = "unchanged"       // Count reads in a row showed nothing new; When is that of the last
	NotFound      What = "not_found"       // a read was answered 404
	EventMissed   What = "event_missed"    // no event reported that the intent is in To
	ShipmentQuiet What = "shipment_missed" // no event reported that a shipment is in Status
	LetGo         What = "let_go"          // Count older entries are no longer kept

	// What a proxy saw of the requests of Who.
	MadeElsewhere      What = "made"      // the intent was created
	ConfirmedElsewhere What = "confirmed" // it was confirmed
	SeenElsewhere      What = "seen"      // a read showed it in To
)

// By is the way by which the moment became known.
func (m *Moment) By() Learnt {
	switch m.What {
	case EventTold, ShipmentTold:
		return ByEvent
	case ReadShowed, Unchanged, NotFound:
		return ByRead
	case ConfirmTaken:
		return ByConfirm
	case MadeElsewhere, ConfirmedElsewhere, SeenElsewhere:
		return ByProxy
	}
	return ByTimer
}

// State is the state in which the moment shows the intent; "" when it says nothing
// of that.
func (m *Moment) State() api.IntentState {
	switch m.What {
	case EventTold, ReadShowed, ConfirmTaken, MadeElsewhere, ConfirmedElsewhere, SeenElsewhere:
		return m.To
	}
	return ""
}

// Already reports whether the intent was known to be as far or further when the
// event came.
func (m *Moment) Already() bool {
	return m.What == EventTold && m.From.Known() && m.To != "" && m.From != m.To && m.From.Rank() >= m.To.Rank()
}

// Learnt is the way by which something became known.
type Learnt uint8

// The ways.
const (
	ByEvent Learnt = iota
	ByRead
	ByConfirm
	ByTimer
	ByProxy // a proxy saw somebody else's request
)

// String is the way in a word.
func (l Learnt) String() string { return wordOf(l, "event", "read", "confirm", "timer", "proxy") }

// Stays is how long the intent was in each state that its timeline shows and that it
// has left.
func (i *IntentDetail) Stays() map[api.IntentState]time.Duration {
	stays := map[api.IntentState]time.Duration{}
	var state api.IntentState
	since := i.CreatedAt
	if !since.IsZero() {
		state = api.RetrievingOffer
	}
	for _, m := range i.Timeline {
		next := m.State()
		if next == "" || next == state || (next.Known() && next.Rank() < state.Rank()) {
			continue
		}
		if state != "" {
			stays[state] += max(0, m.When.Sub(since))
		}
		state, since = next, m.When
	}
	return stays
}
