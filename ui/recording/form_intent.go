package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

var (
	certainties = words{"hinted", "reported", "verified"}
	ways        = words{"event", "read", "confirm", "timer"}
)

type intentForm struct {
	ID        string          `json:"id"`
	State     string          `json:"state,omitempty"`
	Certainty string          `json:"certainty"`
	Since     instant         `json:"since,omitzero"`
	CreatedAt instant         `json:"createdAt,omitzero"`
	ReadAt    instant         `json:"readAt,omitzero"`
	ExpiresAt instant         `json:"expiresAt,omitzero"`
	Missing   bool            `json:"missing,omitempty"`
	Product   string          `json:"product,omitempty"`
	Merchant  string          `json:"merchant,omitempty"`
	Total     *moneyForm      `json:"total,omitempty"`
	Reference string          `json:"referenceId,omitempty"`
	Quantity  int             `json:"quantity,omitempty"`
	Failure   *failureBody    `json:"failureReason,omitempty"`
	Shipments []string        `json:"shipments,omitempty"`
	Reads     int             `json:"reads,omitempty"`
	Timeline  []momentForm    `json:"timeline,omitempty"`
	Read      json.RawMessage `json:"read,omitempty"` // the newest, in the contract's form
}

// againForm is an intent of which only that it was read again has changed since
// the file told of it.
type againForm struct {
	ID     string  `json:"id"`
	ReadAt instant `json:"readAt,omitzero"`
	Reads  int     `json:"reads"`
}

type momentForm struct {
	At      instant    `json:"at,omitzero"`
	Learnt  instant    `json:"learnt,omitzero"`
	What    string     `json:"what,omitempty"`
	From    string     `json:"from,omitempty"`
	To      string     `json:"to,omitempty"`
	EventID string     `json:"event,omitempty"`
	Type    string     `json:"type,omitempty"`
	Late    bool       `json:"late,omitempty"`
	Total   *moneyForm `json:"total,omitempty"`
	Failure string     `json:"failure,omitempty"`
	Status  string     `json:"status,omitempty"`
	Count   int        `json:"count,omitempty"`
	How     string     `json:"how,omitempty"`   // instead of what, in recordings of earlier versions
	State   string     `json:"state,omitempty"` // instead of to, likewise
}

func momentFormOf(m *account.Moment) momentForm {
	return momentForm{
		At: instant(m.When), Learnt: instant(m.Learnt), What: string(m.What), From: string(m.From), To: string(m.To),
		EventID: string(m.EventID), Type: string(m.Type), Late: m.Late, Total: moneyFormOf(m.Total), Failure: string(m.Failure),
		Status: string(m.Status), Count: m.Count,
	}
}

func (f *momentForm) moment() account.Moment {
	m := account.Moment{
		What: account.What(api.Scrub(f.What)), From: api.IntentState(api.Scrub(f.From)), To: api.IntentState(api.Scrub(f.To)),
		Type: api.EventType(api.Scrub(f.Type)), Late: f.Late, Total: f.Total.money(), Failure: api.FailureCode(api.Scrub(f.Failure)),
		Status: api.ShipmentStatus(api.Scrub(f.Status)), Count: f.Count,
	}
	if f.What == "" {
		m = earlier(account.Learnt(ways.place(f.How)), api.IntentState(api.Scrub(f.State)))
	}
	m.When, m.Learnt, m.EventID = time.Time(f.At), time.Time(f.Learnt), api.ScrubID(f.EventID)
	return m
}

type moneyForm struct {
	Currency string `json:"currencyCode"`
	Subunits int64  `json:"amountSubunits"`
}

func moneyFormOf(m *api.Money) *moneyForm {
	if m == nil {
		return nil
	}
	return &moneyForm{m.Currency, m.Subunits}
}

func (m *moneyForm) money() *api.Money {
	if m == nil {
		return nil
	}
	return &api.Money{Currency: string(api.Scrub(m.Currency)), Subunits: m.Subunits}
}

func encodeIntent(in *account.IntentDetail) (json.RawMessage, error) {
	form, err := intentFormOf(in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

func intentFormOf(in *account.IntentDetail) (*intentForm, error) {
	form := intentForm{
		ID: string(in.ID), State: string(in.State), Certainty: certainties.of(int(in.Certainty)),
		Since: instant(in.Since), CreatedAt: instant(in.CreatedAt), ReadAt: instant(in.ReadAt), ExpiresAt: instant(in.ExpiresAt),
		Missing: in.Missing, Product: maskText(string(in.Product)), Merchant: string(in.Merchant), Total: moneyFormOf(in.Total),
		Shipments: stringsOf(in.Shipments), Reads: in.Reads, Quantity: in.Quantity,
	}
	var buyer *api.Buyer
	if in.Latest != nil {
		buyer = in.Latest.Buyer
		read, err := json.Marshal(intentBodyOf(in.Latest))
		if err != nil {
			return nil, fmt.Errorf("encoding an intent: %w", err)
		}
		form.Read = read
	}
	form.Reference, form.Failure = maskQuoted(string(in.ReferenceID), buyer), failureBodyOf(in.Failure, buyer)
	for _, m := range in.Timeline {
		form.Timeline = append(form.Timeline, momentFormOf(&m))
	}
	return &form, nil
}

func decodeIntent(raw json.RawMessage) (*account.IntentDetail, error) {
	var form intentForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, fmt.Errorf("decoding an intent: %w", err)
	}
	in := &account.IntentDetail{Intent: account.Intent{
		ID: api.ScrubID(form.ID), State: api.IntentState(api.Scrub(form.State)), Certainty: account.Certainty(certainties.place(form.Certainty)),
		Since: time.Time(form.Since), CreatedAt: time.Time(form.CreatedAt), ReadAt: time.Time(form.ReadAt), ExpiresAt: time.Time(form.ExpiresAt),
		Missing: form.Missing, Product: api.Scrub(form.Product), Merchant: api.Scrub(form.Merchant), Total: form.Total.money(),
		Reads: form.Reads, ReferenceID: api.Scrub(form.Reference), Quantity: form.Quantity, Failure: form.Failure.reason(),
	}}
	if in.ID == "" {
		return nil, errors.New("an intent without id")
	}
	for _, id := range form.Shipments {
		in.Shipments = append(in.Shipments, api.ScrubID(id))
	}
	for _, m := range form.Timeline {
		in.Timeline = append(in.Timeline, m.moment())
	}
	if len(form.Read) > 0 {
		read, err := api.DecodeIntent(form.Read)
		if err != nil {
			return nil, err
		}
		in.Latest = &read
	}
	return in, nil
}

// intentBody is a checkout intent in the contract's form, as far as it is kept.
type intentBody struct {
	ID          string            `json:"id"`
	State       string            `json:"state,omitempty"`
	CreatedAt   instant           `json:"createdAt,omitzero"`
	ProductURL  string            `json:"productUrl,omitempty"`
	Quantity    int               `json:"quantity,omitempty"`
	Buyer       map[string]string `json:"buyer,omitempty"`
	Variants    []variantBody     `json:"variantSelections,omitempty"`
	ReferenceID string            `json:"referenceId,omitempty"`
	PromoCodes  []string          `json:"promoCodes,omitempty"`
	Constraints *constraintsBody  `json:"constraints,omitempty"`
	Offer       *offerBody        `json:"offer,omitempty"`
	Payment     map[string]string `json:"paymentMethod,omitempty"`
	Failure     *failureBody      `json:"failureReason,omitempty"`
	OrderIDs    []string          `json:"orderIds,omitempty"`
}

type variantBody struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

type constraintsBody struct {
	MaxTotalPrice    *int64 `json:"maxTotalPrice,omitempty"`
	MaxShippingPrice *int64 `json:"maxShippingPrice,omitempty"`
	Effort           string `json:"offerRetrievalEffort,omitempty"`
}

type failureBody struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

type offerBody struct {
	Product    *titleBody      `json:"product,omitempty"`
	Cost       costBody        `json:"cost"`
	Shipping   *shippingBody   `json:"shipping,omitempty"`
	PromoCodes []string        `json:"appliedPromoCodes,omitempty"`
	Commission *commissionBody `json:"commission,omitempty"`
}

type titleBody struct {
	Title string `json:"title"`
}

type costBody struct {
	Subtotal  *moneyForm `json:"subtotal,omitempty"`
	Shipping  *moneyForm `json:"shipping,omitempty"`
	Tax       *moneyForm `json:"tax,omitempty"`
	Discount  *moneyForm `json:"discount,omitempty"`
	Surcharge *moneyForm `json:"surcharge,omitempty"`
	Total     *moneyForm `json:"total,omitempty"`
}

type shippingBody struct {
	Selected string       `json:"selectedOptionId,omitempty"`
	Options  []optionBody `json:"availableOptions,omitempty"`
}

type optionBody struct {
	ID       string        `json:"id,omitempty"`
	Cost     *moneyForm    `json:"cost,omitempty"`
	Discount *moneyForm    `json:"discount,omitempty"`
	Delivery *deliveryBody `json:"deliveryEstimate,omitempty"`
}

type deliveryBody struct {
	Earliest instant `json:"earliest,omitzero"`
	Latest   instant `json:"latest,omitzero"`
}

type commissionBody struct {
	Amount   *moneyForm `json:"amount"`
	Estimate bool       `json:"estimate"`
}

func intentBodyOf(in *api.Intent) intentBody {
	body := intentBody{
		ID: string(in.ID), State: string(in.State), CreatedAt: instant(in.CreatedAt), ProductURL: maskAddress(string(in.ProductURL)),
		Quantity: in.Quantity, Buyer: maskBuyer(in.Buyer), ReferenceID: maskQuoted(string(in.ReferenceID), in.Buyer),
		PromoCodes: stringsOf(in.PromoCodes), Offer: offerBodyOf(in.Offer), OrderIDs: stringsOf(in.OrderIDs),
	}
	for _, v := range in.Variants {
		body.Variants = append(body.Variants, variantBody{maskQuoted(string(v.Label), in.Buyer), maskQuoted(string(v.Value), in.Buyer)})
	}
	if c := in.Constraints; c != nil {
		body.Constraints = &constraintsBody{c.MaxTotalPrice, c.MaxShippingPrice, string(c.OfferRetrievalEffort)}
	}
	if p := in.Payment; p != nil {
		body.Payment = map[string]string{"type": string(p.Type)}
		if !p.Token.IsZero() {
			body.Payment["token"] = "[masked token]" // not as elsewhere: what repeats a token is hidden again
		}
	}
	body.Failure = failureBodyOf(in.Failure, in.Buyer)
	return body
}

func failureBodyOf(f *api.FailureReason, b *api.Buyer) *failureBody {
	if f == nil {
		return nil
	}
	return &failureBody{string(f.Code), maskQuoted(string(f.Message), b)}
}

func (f *failureBody) reason() *api.FailureReason {
	if f == nil {
		return nil
	}
	return &api.FailureReason{Code: api.FailureCode(api.Scrub(f.Code)), Message: api.Scrub(f.Message)}
}

func offerBodyOf(o *api.Offer) *offerBody {
	if o == nil {
		return nil
	}
	c := o.Cost
	body := &offerBody{
		Cost: costBody{moneyFormOf(c.Subtotal), moneyFormOf(c.Shipping), moneyFormOf(c.Tax),
			moneyFormOf(c.Discount), moneyFormOf(c.Surcharge), moneyFormOf(c.Total)},
		PromoCodes: stringsOf(o.AppliedPromoCodes),
	}
	if o.ProductTitle != "" {
		body.Product = &titleBody{maskText(string(o.ProductTitle))}
	}
	if o.SelectedOptionID != "" || len(o.ShippingOptions) > 0 {
		body.Shipping = &shippingBody{Selected: string(o.SelectedOptionID)}
	}
	for _, s := range o.ShippingOptions {
		option := optionBody{ID: string(s.ID), Cost: moneyFormOf(s.Cost), Discount: moneyFormOf(s.Discount)}
		if !s.EarliestDelivery.IsZero() || !s.LatestDelivery.IsZero() {
			option.Delivery = &deliveryBody{instant(s.EarliestDelivery), instant(s.LatestDelivery)}
		}
		body.Shipping.Options = append(body.Shipping.Options, option)
	}
	if o.Commission != nil {
		body.Commission = &commissionBody{moneyFormOf(&o.Commission.Amount), o.Commission.Estimate}
	}
	return body
}

func stringsOf[T ~string](list []T) []string {
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return texts
}

// earlier is a moment of which an earlier version kept a sentence: only the way and
// the state are known of it.
func earlier(how account.Learnt, state api.IntentState) account.Moment {
	m := account.Moment{What: account.EventMissed, To: state}
	switch {
	case how == account.ByEvent:
		m.What = account.EventTold
		for _, t := range []api.EventType{api.OfferRetrieved, api.IntentCompleted, api.OrderFailed} {
			if proven, _ := t.ProvenState(); proven == state {
				m.Type = t
			}
		}
	case how == account.ByConfirm:
		m.What = account.ConfirmTaken
	case how == account.ByRead && state != "":
		m.What = account.ReadShowed
	case how == account.ByRead:
		m.What = account.Unchanged
	}
	return m
}
