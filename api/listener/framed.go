// Package listener holds what the program's HTTP listeners have in common.
package listener

import "net/http"

// Framed ends the connection after a request whose length is in doubt: what
// follows may have been smuggled in. That is one with both Content-Length and
// Transfer-Encoding (RFC 9112, 6.1). The server drops the one of them that does
// not count before a handler sees it, so that the other alone ends it as well.
func Framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if len(req.TransferEncoding) > 0 || !req.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}
