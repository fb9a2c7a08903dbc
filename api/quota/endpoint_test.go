package quota

import "testing"

func TestAnEndpointHasATemplateAndAClass(t *testing.T) {
	tests := []struct {
		method, path string
		template     string
		class        Class
	}{
		{"POST", "/api/v1/checkout-intents", "/api/v1/checkout-intents", Mutations},
		{"GET", "/api/v1/checkout-intents", "/api/v1/checkout-intents", Reads},
		{"POST", "/api/v1/checkout-intents/purchase", "/api/v1/checkout-intents/purchase", Mutations},
		{"GET", "/api/v1/checkout-intents/ci_1", "/api/v1/checkout-intents/{id}", Reads},
		{"HEAD", "/api/v1/checkout-intents/ci_1", "/api/v1/checkout-intents/{id}", Reads},
		{"POST", "/api/v1/checkout-intents/ci_1/confirm", "/api/v1/checkout-intents/{id}/confirm", Mutations},
		{"GET", "/api/v1/checkout-intents/ci_1/shipments", "/api/v1/checkout-intents/{id}/shipments", Reads},
		{"GET", "/api/v1/events/evt_a%2Fb", "/api/v1/events/{id}", Reads},
		{"GET", "/api/v1/shipments", "/api/v1/shipments", Reads},
		{"GET", "/api/v1/shipments/", "/api/v1/{other}", Reads},
		{"GET", "/api/v1/shipments/shp_1", "/api/v1/shipments/{id}", Reads},
		{"GET", "/api/v1/products/lookup", "/api/v1/products/lookup", Lookup},
		{"GET", "/api/v1/brands/one-key", "/api/v1/{other}", Reads},
		{"DELETE", "/api/v1/webhook-endpoints/we_1", "/api/v1/{other}", Mutations},
		{"OPTIONS", "/api/v1/checkout-intents", "/api/v1/checkout-intents", ""},
		{"GET", "/api/v1/checkout-intents/ci_1/a/b", "/api/v1/{other}", Reads},
		{"GET", "/somebody/one-key", "{other}", ""},
		{"GET", "/api/v2/events", "{other}", ""},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			if template, class := EndpointOf(test.method, test.path, DefaultLookupPath); template != test.template || class != test.class {
				t.Errorf("got %s of %q; want %s of %q", template, class, test.template, test.class)
			}
		})
	}
	if template, class := EndpointOf("POST", "/catalogue", "/catalogue"); template != "/catalogue" || class != Lookup {
		t.Errorf("a lookup elsewhere: %s of %q", template, class)
	}
}
