// Package listener holds what the program's HTTP listeners have in common.
package listener

import "net/http"

// Framed closes the connection after a request whose length is in doubt.
func Framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if LengthInDoubt(req) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}

// LengthInDoubt reports whether the next request on the connection may be smuggled.
// That is possible after a request with both Content-Length and Transfer-Encoding (RFC
// 9112, section 6.1). net/http removes the header that does not count before a handler
// sees the request: any Transfer-Encoding is in doubt, and any request of HTTP/1.0.
func LengthInDoubt(req *http.Request) bool {
	return len(req.TransferEncoding) > 0 || !req.ProtoAtLeast(1, 1)
}
