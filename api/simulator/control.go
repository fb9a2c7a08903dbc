package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// controlAPI implements the control API, which is not part of the contract. It needs a
// key of the account, charges nothing and sends no RateLimit fields. [Controls] lists
// its endpoints.
type controlAPI struct{ sim *Simulator }

func (c controlAPI) state(*request) answer { return ok(c.sim.summary()) }

// readControl decodes a body and refuses unknown keys.
func readControl(r *request, into any) *answer {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		if _, behind := d.Token(); behind == io.EOF {
			return nil
		}
		err = errors.New("there is more after the JSON value")
	}
	a := invalidField("body", err.Error())
	var mistyped *json.UnmarshalTypeError
	var timeless *time.ParseError
	switch {
	case errors.As(err, &mistyped):
		field := mistyped.Field[strings.LastIndexByte(mistyped.Field, '.')+1:] // bodies are flat: before it stands an embedded struct
		a = invalidField(strings.TrimSuffix("body."+field, "."), "invalid value of type "+mistyped.Value)
	case errors.As(err, &timeless):
		a = invalidField("body", fmt.Sprintf("%q is not a time such as 2026-03-01T12:00:00Z", timeless.Value))
	}
	return &a
}

// newIntent describes an intent to create. Durations are in seconds at speed 1.
type newIntent struct {
	ProductURL   string          `json:"productUrl"`
	Quantity     int             `json:"quantity"`
	ReferenceID  string          `json:"referenceId"`
	State        api.IntentState `json:"state"`
	Failure      api.FailureCode `json:"failure"`
	WhilePlacing *bool           `json:"whilePlacing"` // nil: at the usual step for this failure
	Purchase     bool            `json:"purchase"`
	OfferAfter   float64         `json:"offerAfter"`
	PlacingAfter float64         `json:"placingAfter"`
	ConfirmAfter float64         `json:"confirmAfter"`
	Seed         uint64          `json:"seed"`
}

func (c controlAPI) createIntent(_ *request, o newIntent) answer {
	placing := failureKinds()[o.Failure].placing
	if o.WhilePlacing != nil {
		placing = *o.WhilePlacing
	}
	in, err := c.sim.shop.createOrder(Order{
		ProductURL: o.ProductURL, Quantity: o.Quantity, ReferenceID: o.ReferenceID, State: o.State, Seed: o.Seed,
		Fate: Fate{Failure: o.Failure, WhilePlacing: placing, Purchase: o.Purchase,
			OfferAfter: seconds(o.OfferAfter), PlacingAfter: seconds(o.PlacingAfter), ConfirmAfter: seconds(o.ConfirmAfter)},
	})
	if err != nil {
		return invalidField("body", err.Error())
	}
	return created(in.intentWire)
}

// stateOrder asks for a state of an intent.
type stateOrder struct {
	To api.IntentState `json:"to"` // "": the next one
}

// advanceIntent moves an intent on, as far as its fate allows.
func (c controlAPI) advanceIntent(in *intent, o stateOrder) answer {
	states := []api.IntentState{api.AwaitingConfirmation, api.PlacingOrder, api.Completed}
	switch {
	case in.State.Terminal():
		return wrongState("Checkout intent has ended", in.State)
	case o.To == "":
		o.To = states[in.State.Rank()]
	case !slices.Contains(states, o.To):
		return invalidField("body.to", "must be "+List(states, "or")+"; …/fail makes it fail")
	}
	c.sim.fulfilment.bring(in, o.To, c.sim.agenda.now())
	return ok(in.intentWire)
}

// advance performs the next scan of a shipment now.
func (c controlAPI) advance(sh *shipment) answer {
	c.sim.fulfilment.advance(sh, c.sim.agenda.now())
	return ok(sh.shipmentWire)
}

// fail makes the next requests fail.
func (c controlAPI) fail(_ *request, o faultOrder) answer {
	if o.Status == 0 && !o.Drop && !o.Twice && o.LateBy == 0 {
		o.Status = http.StatusInternalServerError
	}
	switch {
	case o.Status != 0 && (o.Status < 400 || o.Status > 599) || o.Count < 1:
		return invalidField("body", "status must be from 400 to 599 and count at least 1")
	case !(o.LateBy >= 0 && o.LateBy <= 3600):
		return invalidField("body.lateBy", "must be from 0 to 3600")
	case o.Path != "" && !strings.HasPrefix(o.Path, "/"):
		return invalidField("body.path", "must begin with a slash, such as /api/v1/shipments")
	case o.Method != strings.ToUpper(o.Method):
		return invalidField("body.method", "must be in capitals, such as POST")
	}
	c.sim.server.faults.orders = append(c.sim.server.faults.orders, o)
	return ok(o)
}

// failures lists the failures that are still to come.
func (c controlAPI) failures(*request) answer {
	return ok(append([]faultOrder{}, c.sim.server.faults.orders...))
}

// letGo forgets what has not failed yet and ends the wait of what is held back.
func (c controlAPI) letGo(*request) answer {
	c.sim.server.faults.orders = nil
	c.sim.server.faults.letGo()
	return ok(struct{}{})
}
