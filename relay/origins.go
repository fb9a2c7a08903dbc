package relay

import (
	"net/http"
	"strings"
)

// origins lets pages of some origins deliver (contract, Delivery headers: a
// browser-facing receiver allows the four custom headers).
type origins struct {
	allowed map[string]bool
	headers string
}

func newOrigins(allowed []string, headerPrefix string) origins {
	o := origins{allowed: map[string]bool{}}
	for _, origin := range allowed {
		o.allowed[strings.ToLower(origin)] = true
	}
	names := []string{"content-type"}
	for _, name := range []string{"signature", "event-id", "timestamp", "topic"} {
		names = append(names, strings.ToLower(headerPrefix)+name)
	}
	o.headers = strings.Join(names, ", ")
	return o
}

// admit marks the answer as readable by the page that asks, where it may be.
func (o origins) admit(w http.ResponseWriter, req *http.Request) bool {
	if len(o.allowed) == 0 {
		return false // and no answer depends on the origin
	}
	w.Header().Add("Vary", "Origin")
	origin := req.Header.Get("Origin")
	if !o.allowed[strings.ToLower(origin)] {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// preflight answers what a browser asks before it delivers.
func (o origins) preflight(w http.ResponseWriter, req *http.Request) {
	if !o.admit(w, req) {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", o.headers)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
