// Package sign says how states look: each a glyph of one cell, a word and a
// style. Colour never stands alone.
package sign

import (
	"strconv"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/delivery"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// Sign is how a state looks.
type Sign struct {
	Glyph string // of one cell
	Word  string // beside it
	Style paint.Style
}

// String is the glyph with its word.
func (s Sign) String() string { return s.Glyph + " " + s.Word }

// Intent is the sign of an intent's state. One that the contract does not list
// is shown as it is called.
func Intent(s api.IntentState) Sign {
	switch s {
	case api.RetrievingOffer:
		return Sign{"◌", "retrieving", paint.Retrieving}
	case api.AwaitingConfirmation:
		return Sign{"◆", "awaiting", paint.Awaiting}
	case api.PlacingOrder:
		return Sign{"▸", "placing", paint.Placing}
	case api.Completed:
		return Sign{"✓", "completed", paint.Completed}
	case api.Failed:
		return Sign{"✕", "failed", paint.Failed}
	case "":
		return unknown()
	}
	return unlisted(string(s))
}

// Shipment is the sign of a shipment's status.
func Shipment(s api.ShipmentStatus) Sign {
	switch s {
	case api.Ordered:
		return Sign{"○", "ordered", paint.Muted}
	case api.Shipped:
		return Sign{"→", "shipped", paint.Retrieving}
	case api.Delayed:
		return Sign{"!", "delayed", paint.Warning}
	case api.OutForDelivery:
		return Sign{"◔", "out for delivery", paint.Placing}
	case api.Delivered:
		return Sign{"✓", "delivered", paint.Completed}
	case api.Canceled:
		return Sign{"✕", "canceled", paint.Failed}
	case "":
		return unknown()
	}
	return unlisted(string(s))
}

// Event is the sign of an event's type: that of the state it leads to.
func Event(t api.EventType) Sign {
	switch t {
	case api.OfferRetrieved:
		return Sign{Intent(api.AwaitingConfirmation).Glyph, "offer retrieved", paint.Awaiting}
	case api.OfferFailed:
		return Sign{Intent(api.Failed).Glyph, "offer failed", paint.Failed}
	case api.IntentCompleted:
		return Intent(api.Completed)
	case api.OrderFailed:
		return Sign{Intent(api.Failed).Glyph, "order failed", paint.Failed}
	case api.ShipmentCreated:
		return Sign{Shipment(api.Ordered).Glyph, "shipment created", paint.Retrieving}
	case api.ShipmentUpdated:
		return Sign{Shipment(api.Shipped).Glyph, "shipment updated", paint.Retrieving}
	case api.ProductUpdated:
		return Sign{"∙", "product updated", paint.Muted}
	case api.ProductRemoved:
		return Sign{"∙", "product removed", paint.Muted}
	case api.VerificationChallenge:
		return Sign{"∙", "endpoint challenge", paint.Muted}
	}
	_, name, ok := strings.Cut(string(t), ".")
	if !ok {
		name = string(t)
	}
	return unlisted(name)
}

// Told is the sign of an event by what it has led to, where that is known, else by
// its type.
func Told(e *account.Event) Sign {
	if e.Status == "" {
		return Event(e.Type)
	}
	m := Shipment(e.Status)
	if m.Word = "shipment " + m.Word; len(m.Word) > longestWord {
		m.Word = Shipment(e.Status).Word
	}
	return m
}

// longestWord is how many cells a list of events has for what happened.
const longestWord = 18

// Answer is the sign of an answer by its HTTP status; 0 stands for none.
func Answer(status int) Sign {
	switch {
	case status == 0:
		return Sign{"✕", "no answer", paint.Bad}
	case status == 429:
		return Sign{"!", "429", paint.Warning}
	case status >= 400:
		return Sign{"✕", strconv.Itoa(status), paint.Bad}
	}
	return Sign{"✓", strconv.Itoa(status), paint.Good}
}

// Delivery is the sign of a delivery by its state.
func Delivery(s delivery.State) Sign {
	switch s {
	case delivery.Waiting:
		return Sign{"◔", "waiting", paint.Warning}
	case delivery.Sending:
		return Sign{"▸", "sending", paint.Placing}
	case delivery.Delivered:
		return Sign{"✓", "delivered", paint.Good}
	case delivery.Dead:
		return Sign{"✕", "dead", paint.Bad}
	case delivery.Lost:
		return Sign{"○", "lost", paint.Warning}
	}
	return unlisted(string(s))
}

// Feed is the sign of the way to the relay.
func Feed(s account.FeedState) Sign {
	switch s {
	case account.FeedConnecting:
		return Sign{"◌", "connecting", paint.Muted}
	case account.FeedReplaying:
		return Sign{"◔", "catching up", paint.Warning}
	case account.FeedLive:
		return Sign{"●", "live", paint.Good}
	case account.FeedLost:
		return Sign{"✕", "lost", paint.Bad}
	case account.FeedRefused:
		return Sign{"✕", "refused", paint.Bad}
	}
	return Sign{"○", "none", paint.Muted}
}

// Marked is the sign of an intent that is to be confirmed with others.
func Marked() Sign { return Sign{"■", "marked", paint.Accent} }

// Unseen is the sign of an intent that changed while nobody looked.
func Unseen() Sign { return Sign{"•", "changed while away", paint.Accent} }

func unknown() Sign { return Sign{"·", "unknown", paint.Muted} }

func unlisted(name string) Sign { return Sign{"?", wording.Name(name), paint.Unlisted} }
