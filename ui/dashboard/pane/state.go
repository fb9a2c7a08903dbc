package pane

import (
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
)

// mark is how a state looks: a glyph of one cell, a word and a colour.
type mark struct {
	glyph string
	word  string
	style paint.Style
}

func intentMark(s api.IntentState) mark {
	switch s {
	case api.RetrievingOffer:
		return mark{"◌", "retrieving", paint.Retrieving}
	case api.AwaitingConfirmation:
		return mark{"◆", "awaiting", paint.Awaiting}
	case api.PlacingOrder:
		return mark{"▸", "placing", paint.Placing}
	case api.Completed:
		return mark{"✓", "completed", paint.Completed}
	case api.Failed:
		return mark{"✕", "failed", paint.Failed}
	case "":
		return mark{"·", "not read yet", paint.Muted}
	}
	return mark{"?", words(string(s)), paint.Unlisted}
}

func shipmentMark(s api.ShipmentStatus) mark {
	switch s {
	case api.Ordered:
		return mark{"○", "ordered", paint.Muted}
	case api.Shipped:
		return mark{"→", "shipped", paint.Retrieving}
	case api.Delayed:
		return mark{"!", "delayed", paint.Warning}
	case api.OutForDelivery:
		return mark{"◔", "out for delivery", paint.Placing}
	case api.Delivered:
		return mark{"✓", "delivered", paint.Completed}
	case api.Canceled:
		return mark{"✕", "canceled", paint.Failed}
	case "":
		return mark{"·", "not read yet", paint.Muted}
	}
	return mark{"?", words(string(s)), paint.Unlisted}
}

func eventMark(t api.EventType) mark {
	switch t {
	case api.OfferRetrieved:
		return mark{"◆", "offer retrieved", paint.Awaiting}
	case api.OfferFailed:
		return mark{"✕", "offer failed", paint.Failed}
	case api.IntentCompleted:
		return mark{"✓", "completed", paint.Completed}
	case api.OrderFailed:
		return mark{"✕", "order failed", paint.Failed}
	case api.ShipmentCreated:
		return mark{"○", "shipment created", paint.Retrieving}
	case api.ShipmentUpdated:
		return mark{"→", "shipment updated", paint.Retrieving}
	case api.ProductUpdated:
		return mark{"∙", "product updated", paint.Muted}
	case api.ProductRemoved:
		return mark{"∙", "product removed", paint.Muted}
	case api.VerificationChallenge:
		return mark{"∙", "endpoint challenge", paint.Muted}
	}
	_, name, ok := strings.Cut(string(t), ".")
	if !ok {
		name = string(t)
	}
	return mark{"?", words(name), paint.Unlisted}
}

// words makes a name of the wire readable: "out_of_stock" becomes "out of stock".
func words(s string) string {
	return strings.ReplaceAll(string(api.Scrub(s)), "_", " ")
}

// failureWords says why an intent failed, in a few words.
func failureWords(f *api.FailureReason) string {
	if f == nil {
		return "reason not known"
	}
	code := strings.TrimPrefix(strings.TrimPrefix(string(f.Code), "checkout_intent_"), "product_")
	if code == "" {
		return string(f.Message)
	}
	return words(code)
}
