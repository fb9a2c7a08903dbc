// Package timeline puts the moments of an intent's timeline into sentences.
package timeline

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Sentence says what happened, without the time and the source.
func Sentence(m *account.Moment) string {
	return Marked(m, func(remote string) string { return remote })
}

// Marked is [Sentence] with each part that came from outside written by mark.
func Marked(m *account.Moment, mark func(string) string) string {
	return words{mark}.sentence(m)
}

// words writes sentences.
type words struct{ mark func(string) string }

func (w words) sentence(m *account.Moment) string {
	switch m.What {
	case account.EventTold:
		return w.event(m.Type) + w.already(m)
	case account.ShipmentTold:
		return "shipment " + w.shipment(m.Type)
	case account.ReadShowed:
		return "read: " + w.answered(m)
	case account.ConfirmTaken:
		return "confirm accepted: " + w.answered(m)
	case account.ConfirmSent:
		if m.Who == "" {
			return "confirm sent"
		}
		return "confirm sent by " + w.mark(string(m.Who))
	case account.ConfirmOpen:
		return "the confirm's outcome is unknown: " + w.mark(string(m.Words))
	case account.ConfirmEnded:
		return "the confirm is settled: " + wording.ConfirmEnd(account.ConfirmEnd(m.Words))
	case account.MadeElsewhere:
		return "made by " + w.mark(string(m.Who)) + ", seen by the proxy: " + w.state(m.To)
	case account.ConfirmedElsewhere:
		return "confirmed by " + w.mark(string(m.Who)) + ", seen by the proxy: " + w.state(m.To)
	case account.SeenElsewhere:
		return "read by " + w.mark(string(m.Who)) + ", seen by the proxy: " + w.state(m.To)
	case account.Unchanged:
		if m.Count == 0 { // an earlier version has kept no number
			return "unchanged"
		}
		return "unchanged (" + wording.Counted(m.Count, "read", "reads") + ")"
	case account.NotFound:
		return "read: not found in this environment"
	case account.EventMissed:
		return "no event reported the state " + w.state(m.To)
	case account.ShipmentQuiet:
		if m.Status == "" {
			return "no event reported the shipment"
		}
		return "no event reported that a shipment is " + w.mark(wording.Name(string(m.Status)))
	case account.LetGo:
		return "… " + wording.Counted(m.Count, "older entry is", "older entries are") + " no longer kept"
	}
	return "unknown kind of entry: " + w.mark(wording.Name(string(m.What)))
}

// answered says what the service's answer showed.
func (w words) answered(m *account.Moment) string {
	text := w.state(m.To)
	switch {
	case m.Failure != "":
		text += ", " + w.mark(m.Failure.Words())
	case m.Total != nil:
		text += ", " + w.mark(m.Total.String())
	}
	return text
}

func (w words) event(t api.EventType) string {
	switch t {
	case api.OfferRetrieved:
		return "offer retrieved"
	case api.OfferFailed:
		return "offer failed"
	case api.IntentCompleted:
		return "completed"
	case api.OrderFailed:
		return "order failed"
	case "": // an earlier version has not kept it
		return "event"
	}
	return "event of an unknown type: " + w.mark(string(api.Scrub(string(t))))
}

func (w words) already(m *account.Moment) string {
	switch {
	case !m.Already():
		return ""
	case m.Late:
		return ", late: already " + w.state(m.From)
	}
	return ", already " + w.state(m.From)
}

func (w words) shipment(t api.EventType) string {
	switch t {
	case api.ShipmentCreated:
		return "created"
	case api.ShipmentUpdated:
		return "updated"
	}
	return w.event(t)
}

func (w words) state(state api.IntentState) string {
	if state == "" {
		return "no state"
	}
	return w.mark(wording.Name(string(state)))
}
