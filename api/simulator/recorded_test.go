package simulator

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// send makes a request as it stands and holds a success against the recorded bodies.
func (a *account) send(method, path, body, authorization string) response {
	a.Helper()
	r := a.wire(method, path, body, authorization)
	if kind := resourceOf(method, path); kind != "" && r.status/100 == 2 {
		recordedShapes()[kind].hold(a, kind, r.body)
	}
	return r
}

// wire sends a request that the contract does not show, or that no client would
// make.
func (a *account) wire(method, path, body, authorization string) response {
	a.Helper()
	r := httptest.NewRequest(method, "http://api.example"+path, strings.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	a.sim.Handler().ServeHTTP(w, r)
	return response{w.Code, w.Result().Header, w.Body.Bytes()}
}

// resourceOf names what a success of a request holds, "" outside the contract.
func resourceOf(method, path string) string {
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(u.Path, "/api/v1/") {
		return ""
	}
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/api/v1/"), "/")
	switch collection, length := parts[0], len(parts); {
	case collection == "events" && length == 2:
		return "Event"
	case collection == "products":
		return "Product"
	case parts[length-1] == "shipments":
		return "ShipmentsListResponse"
	case collection == "shipments":
		return "Shipment"
	case collection == "checkout-intents" && (length > 1 || method == "POST"):
		return "CheckoutIntent"
	}
	return ""
}

// shape is what recorded bodies of one kind have held: the kinds of JSON values
// by path, with [] for any item of an array.
type shape map[string][]string

func recorded(t testing.TB) []recording {
	t.Helper()
	all, err := readRecordings()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readRecordings() ([]recording, error) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no recorded bodies: %v", err)
	}
	var all []recording
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var set struct{ Cases []recording }
		if err := json.Unmarshal(content, &set); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, set.Cases...)
	}
	return all, nil
}

// recording is one recorded body.
type recording struct {
	Name, Schema string
	Status       int
	Body         json.RawMessage
}

// recordedShapes is the shape of each kind of resource.
var recordedShapes = sync.OnceValue(func() map[string]shape {
	shapes := map[string]shape{}
	learn := func(kind, path string, body []byte) {
		if shapes[kind] == nil {
			shapes[kind] = shape{}
		}
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			panic(err)
		}
		shapes[kind].learn(path, value)
	}
	all, err := readRecordings()
	if err != nil {
		panic(err)
	}
	for _, r := range all {
		switch r.Schema {
		case "Offer":
			learn("CheckoutIntent", ".offer", r.Body)
		case "Product":
			learn("Event", ".data", r.Body) // the snapshot of product.updated
		case "CheckoutIntentPostParams":
			learn("CheckoutIntent", "", r.Body) // what an order names comes back
		}
		learn(r.Schema, "", r.Body)
	}
	learn("CheckoutIntent", "", []byte(`{"offer":{"product":{"title":""}}}`)) // told of by a guide only
	for _, amount := range []string{".tax", ".shipping"} {                    // told of by the contract, without names
		learn("Product", amount, []byte(`{"currencyCode":"USD","amountSubunits":0}`))
	}
	return shapes
})

func decoded(t testing.TB, body []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func (s shape) learn(path string, value any) {
	if kind := kindOf(value); !slices.Contains(s[path], kind) {
		s[path] = append(s[path], kind)
	}
	eachWithin(value, func(step string, value any) { s.learn(path+step, value) })
}

// hold fails the test where a body has what no recorded one had.
func (s shape) hold(t testing.TB, what string, body []byte) {
	t.Helper()
	if len(s) == 0 {
		t.Fatalf("no %s was recorded", what)
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if kind := kindOf(value); !slices.Contains(s[path], kind) {
			t.Errorf("%s: %s is %s; recorded: %v", what, path, kind, s[path])
			return
		}
		eachWithin(value, func(step string, value any) { walk(path+step, value) })
	}
	walk("", decoded(t, body))
}

func eachWithin(value any, visit func(step string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for key, within := range value {
			visit("."+key, within)
		}
	case []any:
		for _, item := range value {
			visit("[]", item)
		}
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	}
	return "null"
}
