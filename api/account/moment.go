package account

import (
	"slices"
	"time"

	"tillwatch/api"
)

// Moment is one entry of an intent's timeline, as data; the user interface words it. A published timeline never
// changes.
type Moment struct {
	What    What               `json:"what"`
	From    api.IntentState    `json:"from,omitempty"`    // the state known before; "" if none, or if irrelevant
	To      api.IntentState    `json:"to,omitempty"`      // the state it shows; "" for none
	When    time.Time          `json:"when,omitzero"`     // when it happened, as far as known; for reads, when they were sent
	Learnt  time.Time          `json:"learnt,omitzero"`   // when it became known here; of an event, when the relay received it
	EventID api.ID             `json:"event,omitempty"`   // the event that reported it; "" for none
	Type    api.EventType      `json:"type,omitempty"`    // of that event
	Late    bool               `json:"late,omitempty"`    // it arrived after an event that was created later
	Total   *api.Money         `json:"total,omitempty"`   // the total that the read showed; nil for none
	Failure api.FailureCode    `json:"failure,omitempty"` // the failure that the read showed; "" for none
	Status  api.ShipmentStatus `json:"status,omitempty"`  // the shipment's status that no event reported
	Who     api.Text           `json:"who,omitempty"`     // whose request it was, if a proxy saw it
	Words   api.Text           `json:"words,omitempty"`   // with [ConfirmOpen] the answer that proves nothing, with [ConfirmEnded] the [ConfirmEnd]
	Count   int                `json:"count,omitempty"`   // how many reads ([Unchanged]) or dropped entries ([LetGo])
}

// What is the kind of a moment.
type What string

// The kinds of moments.
const (
	EventTold     What = "event"           // an event of the intent
	ShipmentTold  What = "shipment_event"  // an event of one of its shipments
	ReadShowed    What = "read"            // a read showed something new
	ConfirmTaken  What = "confirm"         // the service accepted a confirm
	ConfirmSent   What = "confirm_sent"    // Who sent a confirm
	ConfirmOpen   What = "confirm_open"    // its answer came, or was lost, and proves nothing
	ConfirmEnded  What = "confirm_ended"   // its outcome became known
	Unchanged     What = "unchanged"       // Count consecutive reads showed nothing new; When is the last one's
	NotFound      What = "not_found"       // a read was answered 404
	EventMissed   What = "event_missed"    // no event reported the state To
	ShipmentQuiet What = "shipment_missed" // no event reported a shipment's Status
	LetGo         What = "let_go"          // Count older entries are no longer kept

	// What a proxy saw of the requests of Who.
	MadeElsewhere      What = "made"      // the intent was created
	ConfirmedElsewhere What = "confirmed" // it was confirmed
	SeenElsewhere      What = "seen"      // a read showed it in To
)

// By returns how the moment became known.
func (m *Moment) By() Learnt {
	switch m.What {
	case EventTold, ShipmentTold:
		return ByEvent
	case ReadShowed, Unchanged, NotFound:
		return ByRead
	case ConfirmTaken, ConfirmSent, ConfirmOpen, ConfirmEnded:
		return ByConfirm
	case MadeElsewhere, ConfirmedElsewhere, SeenElsewhere:
		return ByProxy
	}
	return ByTimer
}

// State returns the state that the moment shows the intent in; "" for none.
func (m *Moment) State() api.IntentState {
	switch m.What {
	case EventTold, ReadShowed, ConfirmTaken, MadeElsewhere, ConfirmedElsewhere, SeenElsewhere:
		return m.To
	}
	return ""
}

// StateBy returns how the intent's state became known first; by an event if its timeline does not say.
func (i *IntentDetail) StateBy() Learnt {
	at := slices.IndexFunc(i.Timeline, func(m *Moment) bool { return m.State() == i.State })
	if at < 0 {
		return ByEvent
	}
	return i.Timeline[at].By()
}

// Already reports whether the intent was known to be as far or further when the event came.
func (m *Moment) Already() bool {
	return m.What == EventTold && m.From.Known() && m.To != "" && m.From != m.To && m.From.Rank() >= m.To.Rank()
}

// Learnt is how something became known.
type Learnt uint8

const (
	ByEvent Learnt = iota
	ByRead
	ByConfirm
	ByTimer
	ByProxy // a proxy saw another client's request
)

// String returns the name.
func (l Learnt) String() string { return wordOf(l, "event", "read", "confirm", "timer", "proxy") }

// Stays returns how long the intent stayed in each state that it has left, by its timeline.
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
