package command

import (
	"encoding/json"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/timeline"
)

// intentReport is a line of `intent --json`: an intent as it is now. Fields are
// added, never renamed. Personal data is masked unless --reveal is given; payment
// tokens always are.
type intentReport struct {
	Intent      api.ID                      `json:"intent"`
	Environment string                      `json:"environment"`
	Live        bool                        `json:"live"`
	State       api.IntentState             `json:"state"`
	Certainty   string                      `json:"certainty"` // hinted, reported, verified
	Missing     bool                        `json:"missing"`
	Ended       bool                        `json:"ended"`
	Since       *time.Time                  `json:"since"`
	CreatedAt   *time.Time                  `json:"created_at"`
	ExpiresAt   *time.Time                  `json:"expires_at"`
	ReadAt      *time.Time                  `json:"read_at"`
	AgeS        *float64                    `json:"age_s"` // in its state
	Slow        bool                        `json:"slow"`  // in it for longer than 95 % of this account's intents
	Product     api.Text                    `json:"product"`
	Merchant    api.Text                    `json:"merchant"`
	ProductURL  api.Text                    `json:"product_url"`
	Quantity    int                         `json:"quantity"`
	Variants    []variantReport             `json:"variants"`
	ReferenceID api.Text                    `json:"reference_id"`
	Total       *moneyReport                `json:"total"`
	Offer       *offerReport                `json:"offer"`
	OrderIDs    []api.Text                  `json:"order_ids"`
	Payment     api.PaymentType             `json:"payment"`
	Buyer       any                         `json:"buyer"`
	Failure     *intentFailure              `json:"failure"`
	StaysS      map[api.IntentState]float64 `json:"stays_s"` // in each past state
	Shipments   []shipmentReport            `json:"shipments"`
	Timeline    []momentReport              `json:"timeline"`
	EventsTold  bool                        `json:"events_told"`         // whether the relay's history is in the timeline
	Requests    []requestReport             `json:"requests"`            // sent by this run about it, as far as they are kept
	Personal    bool                        `json:"personal_data_shown"` // the buyer's; payment tokens never are
	Program     string                      `json:"program"`             // the version of tillwatch
	MadeAt      time.Time                   `json:"made_at"`
	Body        json.RawMessage             `json:"body,omitempty"`
}

type variantReport struct {
	Label api.Text `json:"label"`
	Value api.Text `json:"value"`
}

type offerReport struct {
	Subtotal   *moneyReport `json:"subtotal"`
	Shipping   *moneyReport `json:"shipping"`
	Tax        *moneyReport `json:"tax"`
	Discount   *moneyReport `json:"discount"`
	Surcharge  *moneyReport `json:"surcharge"`
	Total      *moneyReport `json:"total"`
	Earliest   *time.Time   `json:"earliest_delivery"`
	Latest     *time.Time   `json:"latest_delivery"`
	PromoCodes []api.Text   `json:"promo_codes"`

	parts []api.CostPart
}

type intentFailure struct {
	failureReport
	Group  api.FailureGroup `json:"group"`
	Advice string           `json:"advice"`
}

type shipmentReport struct {
	Shipment    api.ID             `json:"shipment"`
	Status      api.ShipmentStatus `json:"status"`
	Carrier     api.Text           `json:"carrier"`
	Number      api.Text           `json:"tracking_number"`
	URL         api.Text           `json:"tracking_url"`
	UpdatedAt   *time.Time         `json:"updated_at"`
	ShippedAt   *time.Time         `json:"shipped_at"`
	Estimated   *time.Time         `json:"estimated_delivery"`
	DaysLate    int                `json:"days_late"`
	DeliveredAt *time.Time         `json:"delivered_at"`
}

type momentReport struct {
	At     time.Time       `json:"at"`
	Learnt time.Time       `json:"learnt"`
	How    string          `json:"how"` // event, read, confirm, timer
	State  api.IntentState `json:"state,omitempty"`
	Event  api.ID          `json:"event,omitempty"`
	Text   string          `json:"text"`
}

type requestReport struct {
	At        time.Time `json:"at"`
	By        api.Text  `json:"by,omitempty"` // the sender; missing: tillwatch
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Status    int       `json:"status"`     // 0: no answer
	RequestID api.Text  `json:"request_id"` // for the service's support
}

// buyerReport is an unmasked buyer.
type buyerReport struct {
	FirstName  api.Text `json:"first_name"`
	LastName   api.Text `json:"last_name"`
	Email      api.Text `json:"email"`
	Phone      api.Text `json:"phone"`
	Address1   api.Text `json:"address1"`
	Address2   api.Text `json:"address2"`
	City       api.Text `json:"city"`
	Province   api.Text `json:"province"`
	PostalCode api.Text `json:"postal_code"`
	Country    api.Text `json:"country"`
}

func newIntentReport(in *account.IntentDetail, reveal bool, now time.Time) intentReport {
	r := intentReport{
		Intent: in.ID, State: in.State, Certainty: in.Certainty.String(), Missing: in.Missing, Ended: !in.Open(),
		Since: moment(in.Entered()), CreatedAt: moment(in.CreatedAt), ExpiresAt: moment(in.ExpiresAt), ReadAt: moment(in.ReadAt),
		AgeS: age(now, in.Entered()), Product: in.Product, Merchant: in.Merchant, Quantity: in.Quantity, ReferenceID: in.ReferenceID,
		Total: moneyOf(in.Total), Variants: []variantReport{}, OrderIDs: []api.Text{},
		StaysS: map[api.IntentState]float64{}, Shipments: []shipmentReport{}, Timeline: []momentReport{}, Requests: []requestReport{},
		Personal: reveal, Program: version(), MadeAt: now.UTC(),
	}
	for state, stay := range in.Stays() {
		r.StaysS[state] = rounded(stay.Seconds())
	}
	for _, m := range in.Timeline {
		r.Timeline = append(r.Timeline, momentReport{m.When, m.Learnt, m.By().String(), m.State(), m.EventID, timeline.Sentence(m)})
	}
	if in.Latest != nil {
		r.read(in.Latest, reveal)
	}
	return r
}

// read fills in what only the newest read has.
func (r *intentReport) read(in *api.Intent, reveal bool) {
	r.ProductURL, r.OrderIDs = in.ProductURL, append(r.OrderIDs, in.OrderIDs...)
	if !reveal {
		r.ProductURL = api.MaskAddress(in.ProductURL)
	}
	for _, v := range in.Variants {
		r.Variants = append(r.Variants, variantReport{v.Label, v.Value})
	}
	if in.Offer != nil {
		r.Offer = offerOf(in.Offer)
	}
	if in.Payment != nil {
		r.Payment = in.Payment.Type
	}
	quoting := false // the body quotes what api.Masked cannot know
	if f := in.Failure; f != nil {
		message := f.Message
		if !reveal {
			if quoting = in.Buyer.QuotedIn(message); quoting {
				message = "[masked]"
			}
			message = api.MaskAddress(message)
		}
		r.Failure = &intentFailure{failureReport{f.Code, message}, f.Code.Group(), f.Code.Advice()}
	}
	if len(in.Raw) > 0 && !quoting {
		r.Body = api.Masked(in.Raw)
	}
	switch {
	case in.Buyer != nil && reveal:
		b := buyerReport(*in.Buyer)
		r.Buyer = b
	case in.Buyer != nil:
		r.Buyer = "[masked]"
	}
}

func offerOf(o *api.Offer) *offerReport {
	r := &offerReport{
		Subtotal: moneyOf(o.Cost.Subtotal), Shipping: moneyOf(o.Cost.Shipping), Tax: moneyOf(o.Cost.Tax),
		Discount: moneyOf(o.Cost.Discount), Surcharge: moneyOf(o.Cost.Surcharge), Total: moneyOf(o.Cost.Total),
		PromoCodes: append([]api.Text{}, o.AppliedPromoCodes...), parts: o.Cost.Parts(),
	}
	if option := o.Selected(); option != nil {
		r.Earliest, r.Latest = moment(option.EarliestDelivery), moment(option.LatestDelivery)
	}
	return r
}

func shipmentOf(sh *account.Shipment, reveal bool, now time.Time) shipmentReport {
	r := shipmentReport{Shipment: sh.ID, Status: sh.Status(), DaysLate: sh.Late(now)}
	if in := sh.Latest; in != nil {
		r.UpdatedAt, r.ShippedAt, r.DeliveredAt = moment(in.UpdatedAt), moment(in.ShippedAt), moment(in.DeliveredAt)
		if t := in.Tracking; t != nil {
			r.Carrier, r.Number, r.URL, r.Estimated = t.Carrier, t.Number, t.URL, moment(t.Estimated)
			if !reveal {
				r.URL = api.MaskAddress(t.URL)
			}
		}
	}
	return r
}

func moneyOf(m *api.Money) *moneyReport {
	if m == nil {
		return nil
	}
	return &moneyReport{m.Amount(), m.Currency, m.Subunits}
}

func (m *moneyReport) String() string {
	return strings.TrimSpace(m.Amount + " " + m.Currency)
}

// moment is t in UTC; nil if it is not known.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
