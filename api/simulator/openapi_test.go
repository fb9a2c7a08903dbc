package simulator

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// described is openapi.json as the tests read it.
type described struct {
	*testing.T
	doc     gjson.Result
	reached map[string]reflect.Type // the schemas that were held against a type
}

// schema follows references.
func (d *described) schema(s gjson.Result) (of gjson.Result, name string) {
	if ref := s.Get("$ref").String(); ref != "" {
		name = strings.TrimPrefix(ref, "#/components/schemas/")
		if of = d.doc.Get("components.schemas." + name); !of.Exists() {
			d.Errorf("%s is not described", ref)
		}
		return of, name
	}
	return s, ""
}

func (d *described) told(c control) gjson.Result {
	return d.doc.Get("paths").Map()[c.path].Get(strings.ToLower(c.method))
}

const (
	jsonBody    = "requestBody.content.application/json.schema"
	jsonExample = "requestBody.content.application/json.examples"
)

// answered is the one success of an operation.
func (d *described) answered(operation gjson.Result) (status string, schema gjson.Result) {
	for code, response := range operation.Get("responses").Map() {
		if code != "default" {
			status, schema = code, response.Get("content.application/json.schema")
		}
	}
	return status, schema
}

// fields are those of a struct by their names in JSON.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && name != "" && name != "-" {
			all[name] = f.Type
		}
	}
	return all
}

// jsonKind is the JSON type of a value of a Go type; "" when it may be any.
func jsonKind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return ""
	case t == reflect.TypeFor[time.Time](), t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "string"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return "integer"
}

// hold fails the test unless a schema describes a type: each field of either is
// one of the other, and of its kind.
func (d *described) hold(where string, s gjson.Result, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if choice := s.Get("oneOf.0"); choice.Exists() {
		s = choice
	}
	s, name := d.schema(s)
	if name != "" {
		if d.reached[name] == t {
			return
		}
		if other := d.reached[name]; other != nil {
			d.Errorf("%s: the schema %s describes %v and %v", where, name, other, t)
		}
		d.reached[name] = t
	}
	kind := s.Get("type").String()
	if s.Get("type").IsArray() {
		kind = s.Get("type.0").String()
	}
	if want := jsonKind(t); kind != want {
		d.Errorf("%s is described as %q and is %q, a %v", where, kind, want, t)
		return
	}
	switch {
	case kind == "array":
		d.hold(where+"[]", s.Get("items"), t.Elem())
	case kind == "object" && t.Kind() == reflect.Map:
		d.hold(where+"{}", s.Get("additionalProperties"), t.Elem())
	case kind == "object":
		real, told := fields(t), s.Get("properties").Map()
		for field, of := range real {
			if !told[field].Exists() {
				d.Errorf("%s.%s is not described", where, field)
				continue
			}
			d.hold(where+"."+field, told[field], of)
		}
		for field := range told {
			if real[field] == nil {
				d.Errorf("%s.%s is described and does not exist", where, field)
			}
		}
	}
}

// valid fails the test unless a value is one of a schema.
func (d *described) valid(where string, s gjson.Result, value gjson.Result) {
	if choice := s.Get("oneOf.0"); choice.Exists() {
		if value.Type == gjson.Null {
			return
		}
		s = choice
	}
	s, _ = d.schema(s)
	kinds := []string{s.Get("type").String()}
	if s.Get("type").IsArray() {
		kinds = nil
		for _, k := range s.Get("type").Array() {
			kinds = append(kinds, k.String())
		}
	}
	kind := map[gjson.Type]string{gjson.Null: "null", gjson.False: "boolean", gjson.True: "boolean", gjson.Number: "number", gjson.String: "string", gjson.JSON: "object"}[value.Type]
	switch {
	case value.IsArray():
		kind = "array"
	case kind == "number" && !strings.ContainsAny(value.Raw, ".e") && slices.Contains(kinds, "integer"):
		kind = "integer"
	}
	allowed := s.Get("enum").Array()
	switch {
	case kinds[0] != "" && !slices.Contains(kinds, kind):
		d.Errorf("%s is %s, not %v", where, value.Raw, kinds)
	case len(allowed) > 0 && !slices.ContainsFunc(allowed, func(one gjson.Result) bool { return one.Raw == value.Raw }):
		d.Errorf("%s is %s, which is none of %s", where, value.Raw, s.Get("enum").Raw)
	case kind == "array":
		for i, item := range value.Array() {
			d.valid(fmt.Sprintf("%s[%d]", where, i), s.Get("items"), item)
		}
	case kind == "object" && s.Get("additionalProperties").Exists():
		for name, field := range value.Map() {
			d.valid(where+"."+name, s.Get("additionalProperties"), field)
		}
	case kind == "object" && kinds[0] != "":
		told := s.Get("properties").Map()
		for name, field := range value.Map() {
			if !told[name].Exists() {
				d.Errorf("%s.%s is not described", where, name)
				continue
			}
			d.valid(where+"."+name, told[name], field)
		}
		for _, name := range s.Get("required").Array() {
			if !value.Get(name.String()).Exists() {
				d.Errorf("%s lacks %s", where, name)
			}
		}
	}
}

func TestTheDescriptionOfTheControlAPIIsTheControlAPI(t *testing.T) {
	d := &described{t, gjson.ParseBytes(openAPI), map[string]reflect.Type{}}
	if !json.Valid(openAPI) || d.doc.Get("openapi").String() != "3.1.0" {
		t.Fatal("openapi.json is no OpenAPI 3.1")
	}
	known := map[string]bool{}
	for _, c := range (controlAPI{new(Simulator)}).controls() {
		where := c.method + " " + c.path
		known[where] = true
		told := d.told(c)
		if told.Get("summary").String() == "" {
			t.Errorf("%s is not described", where)
			continue
		}
		var query, path []string
		for _, p := range told.Get("parameters").Array() {
			if name := p.Get("name").String(); p.Get("in").String() == "query" {
				query = append(query, name)
			} else {
				path = append(path, name)
			}
		}
		if !slices.Equal(query, c.query) {
			t.Errorf("%s takes the parameters %v and is described with %v", where, c.query, query)
		}
		if strings.Count(c.path, "{") != len(path) || len(path) == 1 && !strings.Contains(c.path, "{"+path[0]+"}") {
			t.Errorf("%s is described with %v in its path", where, path)
		}
		if (c.body != nil) != told.Get(jsonBody).Exists() || c.body != nil && len(told.Get(jsonExample).Map()) == 0 {
			t.Errorf("%s: a body, or an example of it, is missing or too many", where)
		} else if c.body != nil {
			if body, _ := d.schema(told.Get(jsonBody)); told.Get("requestBody.required").Bool() != body.Get("required").Exists() {
				t.Errorf("%s: whether a body is required is not as whether it has required fields", where)
			}
			d.hold(where+": body", told.Get(jsonBody), reflect.TypeOf(c.body))
		}
		_, schema := d.answered(told)
		d.hold(where+": answer", schema, reflect.TypeOf(c.answers))
	}
	for path, methods := range d.doc.Get("paths").Map() {
		for method := range methods.Map() {
			if where := strings.ToUpper(method) + " " + path; !known[where] {
				t.Errorf("%s is described and does not exist", where)
			}
		}
	}
	if told := slices.Sorted(maps.Keys(d.doc.Get("components.schemas").Map())); len(told) != len(d.reached) {
		t.Errorf("described are %v; used %v", told, slices.Sorted(maps.Keys(d.reached)))
	}
}

func TestTheExamplesOfTheDescriptionAreTakenAndAnsweredAsDescribed(t *testing.T) {
	for _, c := range (controlAPI{new(Simulator)}).controls() {
		examples := gjson.ParseBytes(openAPI).Get("paths").Map()[c.path].Get(strings.ToLower(c.method)).Get(jsonExample).Map()
		if c.body == nil {
			examples = map[string]gjson.Result{"no body": {}}
		}
		for name, example := range examples {
			t.Run(c.method+c.path+"/"+name, func(t *testing.T) {
				inBubble(t, func(cfg *Config) { cfg.History, cfg.At = 25, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }, func(a *account) {
					d := &described{t, gjson.ParseBytes(openAPI), nil}
					told := d.told(c)
					status, answers := d.answered(told)
					body := example.Get("value")
					if body.Exists() {
						d.valid("the example", told.Get(jsonBody), body)
					}
					r := a.burst(c.method, a.somePath(c.path), body.Raw)
					if fmt.Sprint(r.status) != status {
						t.Fatalf("status %d, described is %s: %s", r.status, status, r.body)
					}
					d.valid("the answer", answers, gjson.ParseBytes(r.body))
				})
			})
		}
	}
}

// somePath fills in something that there is.
func (a *account) somePath(path string) string {
	collection, _, named := strings.Cut(path, "/{")
	if !named {
		return path
	}
	value := "reads"
	switch collection {
	case "/control/intents":
		value = a.want(http.StatusCreated, a.burst("POST", collection, `{"state":"placing_order"}`))["id"].(string)
	case "/control/shipments":
		value = a.list("/api/v1/shipments")[0]["id"].(string)
	case "/control/webhook-endpoints":
		value = a.sim.Summary().Endpoints[0].ID
	case "/control/deliveries":
		later(time.Minute)
		value = gjson.GetBytes(a.burst("GET", collection, "").body, "0.id").String()
	}
	return path[:strings.Index(path, "{")] + value + path[strings.Index(path, "}")+1:]
}

func TestTheDescriptionOfARefusalHasEveryFieldOfOne(t *testing.T) {
	told := gjson.GetBytes(openAPI, "components.responses.Refused.content.application/json.schema.properties").Map()
	for _, refusal := range []any{errorWire{}, stateErrorWire{}, validationWire{}} {
		for field := range fields(reflect.TypeOf(refusal)) {
			if !told[field].Exists() {
				t.Errorf("%T.%s is not described", refusal, field)
			}
		}
	}
}

func TestAParameterThatIsNoneIsRefused(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		for _, path := range []string{"/control/deliveries?evnt=evt_1", "/control/deliveries?limit=0", "/control/deliveries?limit=all", "/control/state?x"} {
			if r := a.burst("GET", path, ""); r.status != 422 {
				a.Errorf("%s: %d %s", path, r.status, r.body)
			}
		}
	})
}
