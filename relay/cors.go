package relay

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// origins lets pages of these origins send deliveries (contract, Delivery headers: a browser-facing receiver
// allows the four custom headers).
type origins struct {
	allowed map[string]bool
	headers string
}

func newOrigins(allowed []string, headerPrefix string) (origins, error) {
	o := origins{allowed: map[string]bool{}}
	for _, origin := range allowed {
		u, err := url.Parse(origin)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return o, fmt.Errorf("origin %.80q: give scheme and host alone, as in https://shop.example", origin)
		}
		o.allowed[strings.ToLower(origin)] = true
	}
	names := []string{"content-type"}
	for _, name := range []string{"signature", "event-id", "timestamp", "topic"} {
		names = append(names, strings.ToLower(headerPrefix)+name)
	}
	o.headers = strings.Join(names, ", ")
	return o, nil
}

// admit lets the requesting page read the answer, if its origin is allowed.
func (o origins) admit(w http.ResponseWriter, req *http.Request) bool {
	if len(o.allowed) == 0 {
		return false // no answer depends on the origin
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
