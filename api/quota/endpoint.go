package quota

import (
	"net/http"
	"path"
	"strings"
)

// DefaultLookupPath is where the product lookup is looked for: the contract names
// that endpoint and does not show its path.
const DefaultLookupPath = "/api/v1/products/lookup"

const (
	intentsPath  = "/api/v1/checkout-intents"
	purchasePath = intentsPath + "/purchase"
	intentPath   = intentsPath + "/{id}"
	confirmPath  = intentPath + "/confirm"
)

// EndpointOf says which endpoint of the contract a request is for, as a template
// of its path that holds no id, and which class of calls it belongs to (contract,
// Limits). The path is the escaped one, without the path of a base URL. What the
// contract does not show is "/api/v1/{other}", or "{other}" outside the API, so
// that nothing of such a path is told.
func EndpointOf(method, escapedPath, lookupPath string) (template string, class Class) {
	if escapedPath == lookupPath {
		return lookupPath, Lookup
	}
	if !strings.HasPrefix(escapedPath, "/api/v1/") {
		return "{other}", ""
	}
	switch method {
	case http.MethodGet, http.MethodHead:
		class = Reads
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		class = Mutations
	}
	for _, template := range [...]string{
		intentsPath, purchasePath, intentPath, confirmPath, intentPath + "/shipments",
		"/api/v1/shipments", "/api/v1/shipments/{id}", "/api/v1/events", "/api/v1/events/{id}",
	} {
		if ok, _ := path.Match(strings.Replace(template, "{id}", "*", 1), escapedPath); ok {
			return template, class
		}
	}
	return "/api/v1/{other}", class
}

// showsIntent reports whether the answer of an endpoint is one intent.
func showsIntent(method, template string) bool {
	switch template {
	case intentsPath, purchasePath, confirmPath:
		return method == http.MethodPost
	case intentPath:
		return method == http.MethodGet
	}
	return false
}
