package quota

import (
	"net/http"
	"strings"
)

// DefaultLookupPath is the assumed path of the product lookup: the contract names that endpoint but not its path.
const DefaultLookupPath = "/api/v1/products/lookup"

const (
	intentsPath  = "/api/v1/checkout-intents"
	purchasePath = intentsPath + "/purchase"
	intentPath   = intentsPath + "/{id}"
	confirmPath  = intentPath + "/confirm"
)

// EndpointOf returns which endpoint of the contract a request is for, as a path template without ids, and its
// class (contract, Limits). The path is the escaped one, without the path of a base URL. Paths that the contract
// does not show yield "/api/v1/{other}", or "{other}" outside the API, so that nothing of them leaks.
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
		before, after, withID := strings.Cut(template, "{id}")
		rest, begins := strings.CutPrefix(escapedPath, before)
		id, ends := strings.CutSuffix(rest, after)
		if begins && ends && withID == (id != "") && !strings.Contains(id, "/") {
			return template, class
		}
	}
	return "/api/v1/{other}", class
}

// showsIntent reports whether the endpoint's answer is one intent.
func showsIntent(method, template string) bool {
	switch template {
	case intentsPath, purchasePath, confirmPath:
		return method == http.MethodPost
	case intentPath:
		return method == http.MethodGet
	}
	return false
}
