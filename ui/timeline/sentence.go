// Package timeline puts the moments of an intent's timeline into sentences.
package timeline

import (
	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/wording"
)

// Sentence says what happened, without the time and the source.
func Sentence(m *account.Moment) string {
	switch m.What {
	case account.EventTold:
		return eventWords(m.Type) + alreadyWords(m)
	case account.ShipmentTold:
		return "shipment " + shipmentWords(m.Type)
	case account.ReadShowed:
		return "read: " + answered(m)
	case account.ConfirmTaken:
		return "confirm accepted: " + answered(m)
	case account.MadeElsewhere:
		return "made by " + string(m.Who) + ", seen by the proxy: " + stateWords(m.To)
	case account.ConfirmedElsewhere:
		return "confirmed by " + string(m.Who) + ", seen by the proxy: " + stateWords(m.To)
	case account.SeenElsewhere:
		return "read by " + string(m.Who) + ", seen by the proxy: " + stateWords(m.To)
	case account.Unchanged:
		if m.Count == 0 { // an earlier version has kept no number
			return "unchanged"
		}
		return "unchanged (" + wording.Counted(m.Count, "read", "reads") + ")"
	case account.NotFound:
		return "read: not found in this environment"
	case account.EventMissed:
		return "no event reported the state " + stateWords(m.To)
	case account.ShipmentQuiet:
		if m.Status == "" {
			return "no event reported the shipment"
		}
		return "no event reported that a shipment is " + wording.Name(string(m.Status))
	case account.LetGo:
		return "… " + wording.Counted(m.Count, "older entry is", "older entries are") + " no longer kept"
	}
	return "unknown kind of entry: " + wording.Name(string(m.What))
}

// answered says what the service's answer showed.
func answered(m *account.Moment) string {
	text := stateWords(m.To)
	switch {
	case m.Failure != "":
		text += ", " + wording.Name(string(m.Failure))
	case m.Total != nil:
		text += ", " + m.Total.String()
	}
	return text
}

func eventWords(t api.EventType) string {
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
	return "event of an unknown type: " + string(api.Scrub(string(t)))
}

func alreadyWords(m *account.Moment) string {
	switch {
	case !m.Already():
		return ""
	case m.Late:
		return ", late: already " + stateWords(m.From)
	}
	return ", already " + stateWords(m.From)
}

func shipmentWords(t api.EventType) string {
	switch t {
	case api.ShipmentCreated:
		return "created"
	case api.ShipmentUpdated:
		return "updated"
	}
	return eventWords(t)
}

func stateWords(state api.IntentState) string {
	if state == "" {
		return "no state"
	}
	return wording.Name(string(state))
}
