package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
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
	ID          ID                 `json:"id"`
	State       IntentState        `json:"state,omitzero"`
	CreatedAt   time.Time          `json:"createdAt,omitzero"` // zero when absent
	ProductURL  Text               `json:"productUrl,omitempty"`
	Quantity    int                `json:"quantity,omitempty"`          // 0 when absent
	Buyer       *Buyer             `json:"buyer,omitempty"`             // nil when absent, as all pointers here
	Variants    []VariantSelection `json:"variantSelections,omitempty"` // that were selected
	ReferenceID Text               `json:"referenceId,omitempty"`       // the caller's own id
	PromoCodes  []Text             `json:"promoCodes,omitempty"`
	Constraints *Constraints       `json:"constraints,omitempty"`
	Offer       *Offer             `json:"offer,omitempty"`         // from awaiting_confirmation on
	Payment     *PaymentMethod     `json:"paymentMethod,omitempty"` // how it is paid for
	Failure     *FailureReason     `json:"failureReason,omitempty"` // why it failed
	OrderIDs    []Text             `json:"orderIds,omitempty"`      // merchant order ids, once completed
	Raw         json.RawMessage    `json:"-"`                       // the exact body, unknown fields included; draw it through [Masked]
	Response    Response           `json:"-"`                       // the answer it was read from
}

// Total is the offer's total, if there is one.
func (i *Intent) Total() (Money, bool) {
	if i.Offer == nil || i.Offer.Cost.Total == nil {
		return Money{}, false
	}
	return *i.Offer.Cost.Total, true
}

// VariantSelection picks one value of a variant dimension. Value holds a number
// as its decimal text.
type VariantSelection struct {
	Label Text `json:"label"`
	Value Text `json:"value"`
}

// Constraints are the buyer's limits, in plain subunits. A nil limit is absent.
type Constraints struct {
	MaxTotalPrice        *int64 `json:"maxTotalPrice,omitempty"`
	MaxShippingPrice     *int64 `json:"maxShippingPrice,omitempty"`
	OfferRetrievalEffort Text   `json:"offerRetrievalEffort,omitempty"` // "max" or "low", as public clients have seen; "" when absent
}

// DecodeIntent reads a checkout intent leniently: a body that is a JSON object
// with an id never fails, whatever its optional fields hold.
func DecodeIntent(body []byte) (Intent, error) { return decodeIntent(body, Response{}) }

func decodeIntent(body []byte, of Response) (Intent, error) {
	object, err := parseObject("intent", body)
	if err != nil {
		return Intent{}, err
	}
	f := fieldsOf(object)
	intent := Intent{
		ID: idOf(f["id"]), State: IntentState(wordOf(f["state"])), CreatedAt: timeOf(f["createdAt"]),
		ProductURL:  textOf(f["productUrl"]),
		Quantity:    quantityOf(f["quantity"]),
		Buyer:       decodeBuyer(f["buyer"]),
		Variants:    decodeSelections(f["variantSelections"]),
		ReferenceID: textOrNumber(f["referenceId"]),
		PromoCodes:  textsOf(f["promoCodes"]),
		Constraints: decodeConstraints(f["constraints"]),
		Offer:       decodeOffer(f["offer"]),
		Payment:     decodePayment(f["paymentMethod"]),
		Failure:     decodeFailure(f["failureReason"]),
		OrderIDs:    decodeOrderIDs(object),
		Raw:         bytes.Clone(body),
		Response:    of,
	}
	if intent.ID == "" {
		return Intent{}, errors.New("decode intent: id is missing or empty")
	}
	intent.hideToken()
	return intent, nil
}

// hideToken takes the payment token out of the failure's message: processors
// like to quote it.
func (i *Intent) hideToken() {
	if i.Failure == nil || i.Payment == nil || i.Payment.Token.IsZero() {
		return
	}
	message := string(i.Failure.Message)
	i.Failure.Message = Text(strings.ReplaceAll(message, i.Payment.Token.Reveal(), redacted))
}

// decodeOrderIDs gathers the merchant order ids, which the contract promises
// without naming the field: one or a list, each once.
func decodeOrderIDs(intent gjson.Result) []Text {
	var ids []Text
	eachField(intent, func(key string, v gjson.Result) {
		switch key {
		case "orderId", "orderIds", "merchantOrderId", "merchantOrderIds", "marketplaceOrderId", "marketplaceOrderIds":
			for _, id := range append(textsOf(v), textOrNumber(v)) {
				if id != "" && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	})
	return ids
}

// quantityOf reads a whole number, also one that a client sent as a string.
func quantityOf(v gjson.Result) int {
	n, ok := integer(v)
	if v.Type == gjson.String {
		parsed, err := strconv.ParseInt(v.Str, 10, 64)
		n, ok = parsed, err == nil
	}
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

func decodeSelections(v gjson.Result) []VariantSelection {
	selections := listOf(v, func(v gjson.Result) VariantSelection {
		f := fieldsOf(v)
		return VariantSelection{Label: textOrNumber(f["label"]), Value: textOrNumber(f["value"])}
	})
	return slices.DeleteFunc(selections, func(s VariantSelection) bool { return s == VariantSelection{} })
}

func decodeConstraints(v gjson.Result) *Constraints {
	if !v.IsObject() {
		return nil
	}
	f := fieldsOf(v)
	return &Constraints{
		MaxTotalPrice: limitOf(f["maxTotalPrice"]), MaxShippingPrice: limitOf(f["maxShippingPrice"]), OfferRetrievalEffort: textOf(f["offerRetrievalEffort"]),
	}
}

func limitOf(v gjson.Result) *int64 {
	n, ok := integer(v)
	if !ok {
		return nil
	}
	return &n
}
