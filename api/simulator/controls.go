package simulator

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	deliveries "tillwatch/api/delivery"
)

// openAPI describes the control API, for people and programs. A test compares it with
// [controlAPI.controls].
//
//go:embed openapi.json
var openAPI []byte

// control is an endpoint of the control API.
type control struct {
	method, path string
	query        []string // names of its query parameters
	body         any      // the default body, of the type that it decodes; nil: it takes no body
	answers      any      // a value of the type of its answer
	run          operation
}

// controls returns the endpoints. openapi.json has their descriptions.
func (c controlAPI) controls() []control {
	faults, buckets := []EventFault{}, []BucketSummary{}
	return []control{
		bare("GET", "/control/openapi.json", json.RawMessage{}, func(*request) answer { return ok(json.RawMessage(openAPI)) }),
		bare("GET", "/control/state", Summary{}, c.state),
		with("POST", "/control/intents", newIntent{}, intentWire{}, c.createIntent),
		bare("GET", "/control/intents/{id}", intentFile{}, ofIntent(c.sim, c.intentFile)),
		with("POST", "/control/intents/{id}/advance", stateOrder{}, intentWire{}, toIntent(c.sim, c.advanceIntent)),
		with("POST", "/control/intents/{id}/fail", failureOrder{}, intentWire{}, toIntent(c.sim, c.failIntent)),
		bare("POST", "/control/shipments/{id}/advance", shipmentWire{}, ofShipment(c.sim, c.advance)),
		with("POST", "/control/events", happening{}, eventWire{}, c.happen),
		bare("GET", "/control/products", []soldProduct{}, c.products),
		bare("GET", "/control/webhook-endpoints", []EndpointSummary{}, c.webhookEndpoints),
		with("POST", "/control/webhook-endpoints", newEndpoint{}, EndpointSummary{}, c.registerEndpoint),
		bare("DELETE", "/control/webhook-endpoints/{id}", EndpointSummary{}, c.removeEndpoint),
		bare("GET", "/control/deliveries", []deliveries.Delivery{}, c.deliveries, "endpoint", "event", "limit"),
		bare("POST", "/control/deliveries/{id}/again", deliveries.Delivery{}, c.deliverAgain),
		with("POST", "/control/failures", faultOrder{Count: 1}, faultOrder{}, c.fail),
		bare("GET", "/control/failures", []faultOrder{}, c.failures),
		bare("POST", "/control/failures/end", struct{}{}, c.letGo),
		with("POST", "/control/event-faults", EventFault{LateBy: 10, Count: 1}, EventFault{}, c.faultEvents),
		bare("GET", "/control/event-faults", faults, c.eventFaults),
		bare("DELETE", "/control/event-faults", faults, c.forgetEventFaults),
		with("PUT", "/control/buckets/{name}", bucketOrder{}, buckets, c.setBucket),
		bare("GET", "/control/snapshot", json.RawMessage{}, c.snapshot),
		bare("GET", "/control/balance", balanceWire{}, c.readBalance),
		with("PUT", "/control/balance", balanceWire{}, balanceWire{}, c.setBalance),
		bare("GET", "/control/clock", clockWire{}, c.readClock),
		with("PUT", "/control/clock", clockChange{}, clockWire{}, c.setClock),
	}
}

// bare returns an endpoint without a body.
func bare(method, path string, answers any, run operation, query ...string) control {
	return control{method, path, query, nil, answers, run}
}

// with returns an endpoint with a body; fields that a request omits keep the defaults of
// body.
func with[B any](method, path string, body B, answers any, run func(*request, B) answer) control {
	return control{method, path, nil, body, answers, func(r *request) answer {
		o := body
		if refusal := readControl(r, &o); refusal != nil {
			return *refusal
		}
		return run(r, o)
	}}
}

// toIntent adapts an operation with a body on the intent that the path names.
func toIntent[B any](s *Simulator, run func(*intent, B) answer) func(*request, B) answer {
	return func(r *request, o B) answer {
		return ofIntent(s, func(_ *request, in *intent) answer { return run(in, o) })(r)
	}
}

// operation runs the endpoint, and refuses unknown query parameters.
func (c control) operation(r *request) answer {
	for name := range r.URL.Query() {
		if !slices.Contains(c.query, name) {
			return invalidField(name, "there is no such parameter")
		}
	}
	return c.run(r)
}

// Control is an endpoint of the control API, as openapi.json describes it.
type Control struct {
	Method, Path string
	Does         string   // its summary, in words
	Fields       []string // of its JSON body
}

// Controls lists the endpoints of the control API.
func Controls() []Control {
	doc := gjson.ParseBytes(openAPI)
	var all []Control
	for _, c := range (controlAPI{new(Simulator)}).controls() {
		described := doc.Get("paths").Map()[c.path].Get(strings.ToLower(c.method))
		of := Control{Method: c.method, Path: c.path, Does: described.Get("summary").String()}
		_, schema, _ := strings.Cut(described.Get("requestBody.content.application/json.schema.$ref").String(), "#/components/schemas/")
		doc.Get("components.schemas." + schema + ".properties").ForEach(func(name, _ gjson.Result) bool {
			of.Fields = append(of.Fields, name.String())
			return true
		})
		all = append(all, of)
	}
	return all
}
