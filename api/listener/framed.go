// Package listener holds what the program's HTTP listeners have in common.
package listener

import "net/http"

// Framed ends the connection after a request whose length is in doubt.
func Framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if LengthInDoubt(req) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}

// LengthInDoubt reports whether what follows a request on its connection may have
// been smuggled in. That is so after one with both Content-Length and
// Transfer-Encoding (RFC 9112, 6.1). The server drops the one of them that does
// not count before a handler sees it, so that the other alone counts as well.
func LengthInDoubt(req *http.Request) bool {
	return len(req.TransferEncoding) > 0 || !req.ProtoAtLeast(1, 1)
}
