package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// The contract promises few fields, so no field but those may matter to a
// decode: each one of every fixture in turn is absent, null and of every other
// type, on every level.
func TestNoOptionalFieldCanSpoilADecode(t *testing.T) {
	decoders := map[string]struct {
		decode   func([]byte) error
		required []string
	}{
		"01-checkout-intents.json":    {func(b []byte) error { _, err := DecodeIntent(b); return err }, []string{"id"}},
		"02-failure-reasons.json":     {func(b []byte) error { _, err := DecodeIntent(b); return err }, []string{"id"}},
		"04-shipments.json":           {func(b []byte) error { _, err := DecodeShipment(b); return err }, []string{"id"}},
		"05-products.json":            {func(b []byte) error { _, err := DecodeProduct(b); return err }, nil}, // an id or a url
		"06-events.json":              {func(b []byte) error { _, err := DecodeEvent(b); return err }, []string{"id", "type", "source", "source.id", "source.type"}},
		"08-pages.json":               {func(b []byte) error { _, err := decodePage(b); return err }, []string{"data"}},
		"03-offers-and-payments.json": {func(b []byte) error { _, err := DecodeIntent(asIntent(b)); return err }, nil},
	}
	for file, test := range decoders {
		t.Run(file, func(t *testing.T) {
			spoilt := 0
			for _, f := range fixtures(t, file) {
				var body any
				if err := json.Unmarshal(f.sent(), &body); err != nil {
					t.Fatal(err)
				}
				eachSpoilt(body, "", func(path, with string) {
					spoilt++
					encoded := []byte(jsonOf(t, body))
					if err := test.decode(encoded); err != nil && !slices.Contains(test.required, path) {
						t.Errorf("%s: %s as %s: %v", f.Name, path, with, err)
					}
				})
			}
			if spoilt < 50 {
				t.Errorf("only %d bodies were tried", spoilt)
			}
		})
	}
}

// asIntent puts an offer or a payment method where an intent has them.
func asIntent(body []byte) []byte {
	return fmt.Appendf(nil, `{"id":"ci_1","offer":%s,"paymentMethod":%s}`, body, body)
}

// eachSpoilt changes the fields below value one at a time, calls visit while each
// is changed, and puts it back.
func eachSpoilt(value any, path string, visit func(path, with string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			was, within := value[name], name
			if path != "" {
				within = path + "." + name
			}
			eachSpoilt(was, within, visit)
			for with, other := range map[string]any{
				"null": nil, "true": true, "a string": "x", "an empty string": "", "a fraction": -1.5, "a huge number": 1e300,
				"an array": []any{1, "x", nil, map[string]any{}}, "an object": map[string]any{"id": []any{}, "x": 1},
			} {
				value[name] = other
				visit(within, with)
			}
			delete(value, name)
			visit(within, "absent")
			value[name] = was
		}
	case []any:
		for _, item := range value {
			eachSpoilt(item, path+"[]", visit)
		}
	}
}
