package simulator

import (
	"reflect"
	"time"

	"tillwatch/api"
)

// checkValue writes a value that the client decoded back as the service writes
// it, and holds it against the body that it was decoded from.
func checkValue(a *account, value any, body []byte) {
	a.Helper()
	var wire any
	var unread []string // what the client keeps in the raw body only
	raw := body
	switch v := value.(type) {
	case api.Intent:
		wire, raw, unread = wireOfIntent(v), v.Raw, []string{"discoverPromoCodes"}
	case api.Event:
		wire, raw = wireOfEvent(v), v.Raw
	case api.Shipment:
		wire, raw, unread = wireOfShipment(v), v.Raw, []string{"local"}
	case api.Product:
		wire, raw, unread = wireOfProduct(v), v.Raw, []string{"images"}
	default:
		a.Fatalf("a value of type %T", value)
	}
	if string(raw) != string(body) {
		a.Errorf("the client kept %s of %s", raw, body)
	}
	got, want := decoded(a, encode(wire)), decoded(a, body)
	for _, key := range unread {
		without(got, key)
		without(want, key)
	}
	if !reflect.DeepEqual(got, want) {
		a.Errorf("the client read %v\nof %v", got, want)
	}
}

// without removes a key wherever it is.
func without(value any, key string) {
	if o, ok := value.(map[string]any); ok {
		delete(o, key)
	}
	eachWithin(value, func(_ string, value any) { without(value, key) })
}

func wireOfIntent(v api.Intent) intentWire {
	w := intentWire{
		ID: string(v.ID), CreatedAt: stamp(v.CreatedAt), ProductURL: string(v.ProductURL), Quantity: v.Quantity,
		ReferenceID: string(v.ReferenceID), State: v.State,
	}
	if b := v.Buyer; b != nil {
		w.Buyer = &buyerWire{
			string(b.FirstName), string(b.LastName), string(b.Email), string(b.Phone), string(b.Address1), string(b.Address2),
			string(b.City), string(b.Province), string(b.PostalCode), string(b.Country),
		}
	}
	for _, code := range v.PromoCodes {
		w.PromoCodes = append(w.PromoCodes, string(code))
	}
	for _, s := range v.Variants {
		w.VariantSelections = append(w.VariantSelections, variantSelectionWire{string(s.Label), quoted(string(s.Value))})
	}
	if c := v.Constraints; c != nil {
		w.Constraints = &constraintsWire{c.MaxTotalPrice, c.MaxShippingPrice, string(c.OfferRetrievalEffort)}
	}
	if v.Offer != nil {
		w.Offer = wireOfOffer(v.Offer)
	}
	if p := v.Payment; p != nil {
		w.PaymentMethod = &paymentWire{p.Type, p.Token.Reveal()}
	}
	if len(v.OrderIDs) > 0 {
		w.OrderID = string(v.OrderIDs[0])
	}
	if f := v.Failure; f != nil {
		w.FailureReason = &failureWire{f.Code, string(f.Message)}
	}
	return w
}

func wireOfOffer(v *api.Offer) *offerWire {
	money := func(m *api.Money) moneyWire {
		if m == nil {
			return moneyWire{}
		}
		return moneyWire{m.Currency, m.Subunits}
	}
	w := &offerWire{
		Product:  offerProductWire{string(v.ProductTitle)},
		Cost:     costWire{Subtotal: money(v.Cost.Subtotal), Shipping: money(v.Cost.Shipping), Tax: money(v.Cost.Tax), Total: money(v.Cost.Total)},
		Shipping: offerShippingWire{[]shippingOptionWire{}, string(v.SelectedOptionID)},
	}
	w.Cost.Discount = moneyOrNone(v.Cost.Discount)
	for _, code := range v.AppliedPromoCodes {
		w.AppliedPromoCodes = append(w.AppliedPromoCodes, string(code))
	}
	date := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	for _, o := range v.ShippingOptions {
		w.Shipping.AvailableOptions = append(w.Shipping.AvailableOptions, shippingOptionWire{
			string(o.ID), money(o.Cost), &estimateWire{date(o.EarliestDelivery), date(o.LatestDelivery)},
		})
	}
	return w
}

func wireOfEvent(v api.Event) eventWire {
	return eventWire{
		ID: string(v.ID), Object: "event", Type: v.Type, CreatedAt: stamp(v.CreatedAt),
		Source: sourceWire{v.Source.Type, string(v.Source.ID)}, Data: v.Data,
	}
}

func wireOfShipment(v api.Shipment) shipmentWire {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return stamp(t)
	}
	w := shipmentWire{
		ID: string(v.ID), CheckoutIntentID: string(v.IntentID), MarketplaceOrderID: string(v.MarketplaceOrderID), Status: v.Status,
		CreatedAt: at(v.CreatedAt), UpdatedAt: at(v.UpdatedAt), ExternalID: string(v.ExternalID),
		ShippedAt: at(v.ShippedAt), DeliveredAt: at(v.DeliveredAt),
	}
	if t := v.Tracking; t != nil {
		w.Tracking = &trackingWire{CarrierName: string(t.Carrier), Number: orNull(t.Number), URL: orNull(t.URL)}
		if !t.Estimated.IsZero() {
			w.Tracking.DeliveryDate = &deliveryDateWire{t.Estimated.Format(time.RFC3339)}
		}
	}
	for _, e := range v.TrackingEvents {
		w.TrackingEvents = append(w.TrackingEvents, scan(e.Status, string(e.Description),
			locationWire{orNull(e.City), orNull(e.Province), orNull(e.Country)}, 0, e.At))
	}
	return w
}

func wireOfProduct(v api.Product) productWire {
	w := productWire{
		ID: string(v.ID), Name: string(v.Name), URL: string(v.URL), Brand: orNull(v.Brand), Retailer: orNull(v.Retailer),
		SKU: orNull(v.SKU), Description: orNull(v.Description), Availability: v.Availability, IsPurchasable: *v.Purchasable,
		Price: moneyWire{v.Price.Currency, v.Price.Subunits}, Tax: moneyOrNone(v.Tax), Shipping: moneyOrNone(v.Shipping),
	}
	for _, d := range v.Dimensions {
		dimension := variantDimensionWire{Label: string(d.Label)}
		for _, value := range d.Values {
			dimension.Values = append(dimension.Values, string(value))
		}
		w.VariantDimensions = append(w.VariantDimensions, dimension)
	}
	for _, variant := range v.Variants {
		choice := variantWire{
			ID: string(variant.ID), Name: string(variant.Name), SKU: orNull(variant.SKU), Availability: variant.Availability,
			Price: moneyWire{variant.Price.Currency, variant.Price.Subunits},
		}
		for _, d := range variant.Dimensions {
			choice.Dimensions = append(choice.Dimensions, dimensionChoiceWire{string(d.Label), string(d.Value)})
		}
		w.Variants = append(w.Variants, choice)
	}
	return w
}

func moneyOrNone(m *api.Money) *moneyWire {
	if m == nil {
		return nil
	}
	return &moneyWire{m.Currency, m.Subunits}
}

func orNull(text api.Text) *string {
	if text == "" {
		return nil
	}
	s := string(text)
	return &s
}
