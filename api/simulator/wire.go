package simulator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
)

// The bodies as they go over the wire, in the order of their keys. Nothing behind a pointer ever changes: a copied
// struct can be encoded without the lock.

type moneyWire struct {
	CurrencyCode   string `json:"currencyCode"`
	AmountSubunits int64  `json:"amountSubunits"`
}

func usd(cents int64) moneyWire { return moneyWire{"USD", cents} }

type buyerWire struct {
	FirstName  string `json:"firstName"`
	LastName   string `json:"lastName"`
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	Address1   string `json:"address1"`
	Address2   string `json:"address2,omitempty"`
	City       string `json:"city"`
	Province   string `json:"province"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

type variantSelectionWire struct {
	Label string          `json:"label"`
	Value json.RawMessage `json:"value"` // a string or a number
}

type constraintsWire struct {
	MaxTotalPrice        *int64 `json:"maxTotalPrice,omitempty"`
	MaxShippingPrice     *int64 `json:"maxShippingPrice,omitempty"`
	OfferRetrievalEffort string `json:"offerRetrievalEffort,omitempty"`
}

type paymentWire struct {
	Type       api.PaymentType `json:"type"`
	VaultToken string          `json:"vaultToken,omitempty"`
}

type failureWire struct {
	Code    api.FailureCode `json:"code"`
	Message string          `json:"message"`
}

type intentWire struct {
	ID                string                 `json:"id"`
	CreatedAt         string                 `json:"createdAt"`
	ProductURL        string                 `json:"productUrl"`
	Quantity          int                    `json:"quantity"`
	Buyer             *buyerWire             `json:"buyer"`
	ReferenceID       string                 `json:"referenceId,omitempty"`
	VariantSelections []variantSelectionWire `json:"variantSelections,omitempty"`
	Constraints       *constraintsWire       `json:"constraints,omitempty"`
	State             api.IntentState        `json:"state"`
	Offer             *offerWire             `json:"offer,omitempty"`
	PaymentMethod     *paymentWire           `json:"paymentMethod,omitempty"`
	OrderID           string                 `json:"orderId,omitempty"`
	FailureReason     *failureWire           `json:"failureReason,omitempty"`
}

type offerWire struct {
	Product  offerProductWire  `json:"product"`
	Cost     costWire          `json:"cost"`
	Shipping offerShippingWire `json:"shipping"`
}

type offerProductWire struct {
	Title string `json:"title"`
}

type costWire struct {
	Subtotal moneyWire `json:"subtotal"`
	Shipping moneyWire `json:"shipping"`
	Tax      moneyWire `json:"tax"`
	Total    moneyWire `json:"total"`
}

type offerShippingWire struct {
	AvailableOptions []shippingOptionWire `json:"availableOptions"`
	SelectedOptionID string               `json:"selectedOptionId,omitempty"`
}

type shippingOptionWire struct {
	ID               string        `json:"id"`
	Cost             moneyWire     `json:"cost"`
	DeliveryEstimate *estimateWire `json:"deliveryEstimate,omitempty"`
}

type estimateWire struct {
	Earliest string `json:"earliest,omitempty"`
	Latest   string `json:"latest,omitempty"`
}

type shipmentWire struct {
	ID                 string              `json:"id"`
	CheckoutIntentID   string              `json:"checkoutIntentId"`
	MarketplaceOrderID string              `json:"marketplaceOrderId"`
	Status             api.ShipmentStatus  `json:"status"`
	CreatedAt          string              `json:"createdAt"`
	UpdatedAt          string              `json:"updatedAt"`
	ExternalID         string              `json:"externalId,omitempty"`
	ShippedAt          string              `json:"shippedAt,omitempty"`
	DeliveredAt        string              `json:"deliveredAt,omitempty"`
	Tracking           *trackingWire       `json:"tracking,omitempty"`
	TrackingEvents     []trackingEventWire `json:"trackingEvents,omitempty"`
}

type trackingWire struct {
	CarrierName  string            `json:"carrierName"`
	Number       *string           `json:"number"`
	URL          *string           `json:"url"`
	DeliveryDate *deliveryDateWire `json:"deliveryDate"`
}

type deliveryDateWire struct {
	Estimated string `json:"estimated"`
}

type trackingEventWire struct {
	Status      api.ShipmentStatus `json:"status"`
	Description string             `json:"description"`
	Timestamp   trackingTimeWire   `json:"timestamp"`
	Location    locationWire       `json:"location"`
}

type trackingTimeWire struct {
	UTC   string `json:"utc"`
	Local string `json:"local"` // with the offset of the place from UTC
}

type locationWire struct {
	City     *string `json:"city"`
	Province *string `json:"province"`
	Country  *string `json:"country"`
}

type productWire struct {
	ID                string                 `json:"id"`
	Name              string                 `json:"name"`
	URL               string                 `json:"url"`
	Brand             *string                `json:"brand"`
	Retailer          *string                `json:"retailer"`
	SKU               *string                `json:"sku"`
	Description       *string                `json:"description"`
	Availability      api.Availability       `json:"availability"`
	IsPurchasable     bool                   `json:"isPurchasable"`
	Price             moneyWire              `json:"price"`
	Tax               *moneyWire             `json:"tax,omitempty"`      // of the lookup
	Shipping          *moneyWire             `json:"shipping,omitempty"` // of the lookup
	Images            []imageWire            `json:"images"`
	VariantDimensions []variantDimensionWire `json:"variantDimensions,omitempty"`
	Variants          []variantWire          `json:"variants,omitempty"`
}

type imageWire struct {
	URL        string `json:"url"`
	IsFeatured bool   `json:"isFeatured"`
}

type variantDimensionWire struct {
	Label  string   `json:"label"`
	Values []string `json:"values"`
}

type variantWire struct {
	ID           string                `json:"id"`
	Name         string                `json:"name"`
	SKU          *string               `json:"sku"`
	Availability api.Availability      `json:"availability"`
	Price        moneyWire             `json:"price"`
	Images       []imageWire           `json:"images"`
	Dimensions   []dimensionChoiceWire `json:"dimensions"`
}

type dimensionChoiceWire struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

type pageWire struct {
	PageInfo pageInfoWire `json:"pageInfo"`
	Data     any          `json:"data"`
}

type pageInfoWire struct {
	HasPreviousPage bool   `json:"hasPreviousPage"`
	HasNextPage     bool   `json:"hasNextPage"`
	StartCursor     string `json:"startCursor,omitempty"`
	EndCursor       string `json:"endCursor,omitempty"`
}

// The error bodies of the contract (Errors). They have no other keys than those listed there.

type errorWire struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

type stateErrorWire struct {
	Name    string          `json:"name"`
	Message string          `json:"message"`
	State   api.IntentState `json:"state"`
}

type validationWire struct {
	Name    string               `json:"name"`
	Message string               `json:"message"`
	Status  int                  `json:"status"`
	Fields  map[string]fieldWire `json:"fields"`
}

type fieldWire struct {
	Message string `json:"message"`
	Value   any    `json:"value,omitempty"`
}

type messageWire struct {
	Message string `json:"message"`
}

// stamp formats a time as the service does: UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// encode returns compact JSON in which <, > and & are not escaped.
func encode(body any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		panic("simulator: a body that cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// quoted returns a text as a JSON string.
func quoted(text string) json.RawMessage { return encode(text) }

// answer is the answer of an operation. Its body is encoded as JSON.
type answer struct {
	status     int
	body       any
	retryAfter int  // seconds; 0: no Retry-After
	repeated   bool // the answer to an earlier request with the same Idempotency-Key
}

func ok(body any) answer      { return answer{status: http.StatusOK, body: body} }
func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

// The refusals, with the bodies of the contract (contract, Errors).

func refused(status int, name, text string) answer {
	return answer{status: status, body: errorWire{name, text}}
}

func unauthorized(text string) answer {
	return refused(http.StatusUnauthorized, "AuthenticationError", text)
}

// wrongState refuses an operation that the state of an intent does not allow.
func wrongState(text string, state api.IntentState) answer {
	return answer{status: http.StatusConflict, body: stateErrorWire{"InvalidCheckoutIntentStateError", text, state}}
}

func notFound(text string) answer { return refused(http.StatusNotFound, "NotFoundError", text) }

// invalid is a validation error, with the empty message and the inner status 400 that the service's framework writes
// under HTTP 422.
func invalid(fields checker) answer {
	return answer{status: http.StatusUnprocessableEntity, body: validationWire{Name: "ValidateError", Status: http.StatusBadRequest, Fields: fields}}
}

func invalidField(name, text string) answer {
	return invalid(checker{name: {Message: text}})
}

// tooMany rejects a request that no retry soon helps: it carries no Retry-After.
func tooMany(text string) answer {
	return answer{status: http.StatusTooManyRequests, body: messageWire{text}}
}

// tooFast rejects a request that may be sent again after reset seconds.
func tooFast(reset int) answer {
	return answer{status: http.StatusTooManyRequests, body: messageWire{"Too many requests per second"}, retryAfter: reset}
}

// failed is the answer of an injected failure.
func failed(status int) answer {
	switch status {
	case http.StatusUnauthorized:
		return unauthorized("Invalid API key")
	case http.StatusNotFound:
		return notFound("Not found")
	case http.StatusUnprocessableEntity:
		return invalidField("body", "injected")
	case http.StatusTooManyRequests:
		return tooFast(1)
	case http.StatusInternalServerError:
		return refused(status, "RuntimeError", "Internal server error")
	}
	return refused(status, "RuntimeError", http.StatusText(status))
}

// listed lists names as people do.
func listed[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
