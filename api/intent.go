package api

import (
	"encoding/json"
	"time"
)

// ConfirmWindow is how long after its creation an unconfirmed intent has been
// seen to expire. The contract does not show it, so it is a default, not a fact.
const ConfirmWindow = 45 * time.Minute

// IntentState is the state of a checkout intent (contract, States and
// transitions). It is an open set: a state that the contract does not list is
// kept as it came.
type IntentState string

// The states of the contract, in their only sequence.
const (
	RetrievingOffer      IntentState = "retrieving_offer"
	AwaitingConfirmation IntentState = "awaiting_confirmation"
	PlacingOrder         IntentState = "placing_order"
	Completed            IntentState = "completed"
	Failed               IntentState = "failed"
)

// IntentStates lists the states of the contract in sequence.
func IntentStates() []IntentState {
	return []IntentState{RetrievingOffer, AwaitingConfirmation, PlacingOrder, Completed, Failed}
}

// Terminal reports whether no further move can follow.
func (s IntentState) Terminal() bool { return s == Completed || s == Failed }

// Known reports whether the contract lists the state.
func (s IntentState) Known() bool { return s.Rank() >= 0 }

// Rank orders the states along the contract's sequence; both terminal states
// rank highest. A state that the contract does not list ranks -1.
func (s IntentState) Rank() int {
	switch s {
	case RetrievingOffer:
		return 0
	case AwaitingConfirmation:
		return 1
	case PlacingOrder:
		return 2
	case Completed, Failed:
		return 3
	}
	return -1
}

// Intent is a checkout intent: one product URL, one buyer, immutable but for its
// state. Only the state and the order ids are promised by the contract.
type Intent struct {
	ID          ID
	State       IntentState
	CreatedAt   time.Time // zero when absent
	ProductURL  Text
	Quantity    int
	Buyer       *Buyer
	Variants    []VariantSelection
	ReferenceID Text
	PromoCodes  []Text
	Constraints *Constraints
	Offer       *Offer
	Payment     *PaymentMethod
	Failure     *FailureReason
	OrderIDs    []Text          // merchant order ids, once completed
	Raw         json.RawMessage // the exact body, unknown fields included
}

// Merchant is the host of the product URL, without a leading "www.".
func (i *Intent) Merchant() Text { panic("unwritten") }

// ProductName is the title that the offer carries, or else one made of the last
// path segment of the product URL: "chili-crisp" becomes "Chili Crisp".
func (i *Intent) ProductName() Text { panic("unwritten") }

// Total is the offer's total, if there is one.
func (i *Intent) Total() (Money, bool) {
	if i.Offer == nil || i.Offer.Cost.Total == nil {
		return Money{}, false
	}
	return *i.Offer.Cost.Total, true
}

// Buyer is whom the order is for. It is personal data: print it only where a
// person asked to see it.
type Buyer struct {
	FirstName, LastName, Email, Phone                       Text
	Address1, Address2, City, Province, PostalCode, Country Text
}

// VariantSelection picks one value of a variant dimension. Value holds a number
// as its decimal text.
type VariantSelection struct{ Label, Value Text }

// Constraints are the buyer's limits, in plain subunits. A nil limit is absent.
type Constraints struct {
	MaxTotalPrice        *int64
	MaxShippingPrice     *int64
	OfferRetrievalEffort Text
}

// PaymentMethod names the kind of payment. Token is a live token: it is masked
// by its type and never drawn.
type PaymentMethod struct {
	Type  PaymentType
	Token Secret
}

// PaymentType is an open set; the contract names two.
type PaymentType string

// The payment kinds of the contract.
const (
	VaultToken PaymentType = "vault_token"
	Drawdown   PaymentType = "drawdown"
)

// FailureReason says why an intent failed. Codes are an open set.
type FailureReason struct {
	Code    FailureCode
	Message Text
}

// DecodeIntent reads a checkout intent leniently: a body that is a JSON object
// with an id never fails, whatever its optional fields hold.
func DecodeIntent(body []byte) (Intent, error) { panic("unwritten") }
