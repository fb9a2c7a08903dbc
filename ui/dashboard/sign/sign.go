// Package sign says how states look: each has a glyph of one cell, a word and a style.
// Colour alone never carries a meaning.
package sign

import (
	"strconv"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
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

// Intent is the sign of an intent's state. A state that the contract does not list
// is shown under its own name.
func Intent(s api.IntentState) Sign { return listed(intents, s) }

var intents = map[api.IntentState]Sign{
	api.RetrievingOffer:      {"◌", "retrieving", paint.Retrieving},
	api.AwaitingConfirmation: {"◆", "awaiting", paint.Awaiting},
	api.PlacingOrder:         {"▸", "placing", paint.Placing},
	api.Completed:            {"✓", "completed", paint.Completed},
	api.Failed:               {"✕", "failed", paint.Failed},
	"":                       {"·", "unknown", paint.Muted},
}

// Shipment is the sign of a shipment's status.
func Shipment(s api.ShipmentStatus) Sign { return listed(shipments, s) }

var shipments = map[api.ShipmentStatus]Sign{
	api.Ordered:        {"○", "ordered", paint.Muted},
	api.Shipped:        {"→", "shipped", paint.Retrieving},
	api.Delayed:        {"!", "delayed", paint.Warning},
	api.OutForDelivery: {"◔", "out for delivery", paint.Placing},
	api.Delivered:      {"✓", "delivered", paint.Completed},
	api.Canceled:       {"✕", "canceled", paint.Failed},
	"":                 {"·", "unknown", paint.Muted},
}

// Event is the sign of an event's type: that of the state it leads to.
func Event(t api.EventType) Sign {
	if known, ok := events[t]; ok {
		return known
	}
	_, name, ok := strings.Cut(string(t), ".")
	if !ok {
		name = string(t)
	}
	return unlisted(name)
}

var events = map[api.EventType]Sign{
	api.OfferRetrieved:        {"◆", "offer retrieved", paint.Awaiting},
	api.OfferFailed:           {"✕", "offer failed", paint.Failed},
	api.IntentCompleted:       {"✓", "completed", paint.Completed},
	api.OrderFailed:           {"✕", "order failed", paint.Failed},
	api.ShipmentCreated:       {"○", "shipment created", paint.Retrieving},
	api.ShipmentUpdated:       {"→", "shipment updated", paint.Retrieving},
	api.ProductUpdated:        {"∙", "product updated", paint.Muted},
	api.ProductRemoved:        {"∙", "product removed", paint.Muted},
	api.VerificationChallenge: {"∙", "endpoint challenge", paint.Muted},
}

// Outcome is the sign of an event by the status that it led to, or by its type if that
// is unknown.
func Outcome(e *account.Event) Sign {
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

// Feed is the sign of the connection to the relay.
func Feed(s account.FeedState) Sign { return feeds[s] }

var feeds = map[account.FeedState]Sign{
	account.FeedOff:        {"○", "none", paint.Muted},
	account.FeedConnecting: {"◌", "connecting", paint.Muted},
	account.FeedReplaying:  {"◔", "catching up", paint.Warning},
	account.FeedLive:       {"●", "live", paint.Good},
	account.FeedLost:       {"✕", "lost", paint.Bad},
	account.FeedRefused:    {"✕", "refused", paint.Bad},
}

// Marked is the sign of an intent that is marked to be confirmed together with others.
func Marked() Sign { return Sign{"■", "marked", paint.Accent} }

// Unseen is the sign of an intent that changed while nobody looked.
func Unseen() Sign { return Sign{"•", "changed while away", paint.Accent} }

func listed[S ~string](known map[S]Sign, s S) Sign {
	if sign, ok := known[s]; ok {
		return sign
	}
	return unlisted(string(s))
}

func unlisted(name string) Sign { return Sign{"?", wording.Name(name), paint.Unlisted} }
