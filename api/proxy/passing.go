package proxy

import (
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"

	"tillwatch/api/listener"
)

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "":
		refuse(w, http.StatusBadRequest, "BadRequestError", "this is a reverse proxy: use its address as the service's base URL, not as an HTTP proxy")
		return
	case websocket.IsWebSocketUpgrade(r):
		refuse(w, http.StatusNotImplemented, "NotImplementedError", "this proxy passes on requests and their answers, and no websockets")
		return
	}
	answer := http.NewResponseController(w)
	_ = answer.EnableFullDuplex() // the service may answer before it has read the request
	body := &clientBody{ReadCloser: r.Body}
	passed := r.WithContext(r.Context()) // a copy: the server looks at r again
	passed.Body = body
	p.passing.ServeHTTP(answerWriter{w, listener.LengthInDoubt(r)}, passed)
	_ = answer.Flush() // or the server would add a length to an empty answer
	if r.ContentLength > 0 && !body.ended.Load() && r.Header.Get("Expect") == "" {
		// With full duplex, net/http closes the connection if it has to read the rest
		// of the body itself.
		_, _ = io.CopyN(io.Discard, body, maxUnread)
	}
}

// maxUnread is how many bytes of an unread body are read to keep the connection, as
// net/http does.
const maxUnread = 256 << 10

// rewrite points a request at the service. Of what ReverseProxy changes, it leaves only
// the hop-by-hop headers changed.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	in, out := r.In, r.Out
	r.SetURL(p.upstream)
	out.URL.RawQuery, out.URL.ForceQuery = in.URL.RawQuery, in.URL.ForceQuery
	path, _, _ := strings.Cut(in.RequestURI, "?")
	if path = p.upstream.EscapedPath() + path; path != out.URL.EscapedPath() && !strings.HasPrefix(path, "//") {
		out.URL.Opaque = path // net/url would escape it differently
	}
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := in.Header[name]; ok {
			out.Header[name] = values
		}
	}
	out.Trailer = in.Trailer // filled once the body has been read
	out.Header.Del("Connection")
	out.Header.Del("Upgrade")
	sendOnce(out)
}

// sendOnce keeps net/http from sending a request again by itself when a connection
// breaks: a request must not be sent twice, and each is charged. It does not change
// what goes over the wire.
func sendOnce(out *http.Request) {
	// net/http retries requests with these headers, but knows only the canonical names.
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := out.Header[name]; ok {
			delete(out.Header, name)
			out.Header[strings.ToLower(name)] = values
		}
	}
	if out.Body != nil {
		return // it cannot be read again
	}
	switch out.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		out.Body = io.NopCloser(strings.NewReader(""))
		out.TransferEncoding = []string{"identity"} // sends neither a length nor chunks
	}
}

// clientBody marks errors of reading the client's body, to distinguish a client that
// breaks off from a service that does.
type clientBody struct {
	io.ReadCloser
	ended atomic.Bool
}

type clientError struct{ error }

// Read implements [io.Reader].
func (b *clientBody) Read(part []byte) (int, error) {
	n, err := b.ReadCloser.Read(part)
	switch {
	case err == io.EOF:
		b.ended.Store(true)
	case err != nil:
		err = clientError{err}
	}
	return n, err
}

// answerWriter keeps net/http from adding headers to an answer, and closes connections
// where that is safer.
type answerWriter struct {
	http.ResponseWriter
	last bool // the answer is the last on its connection
}

// WriteHeader implements [http.ResponseWriter].
func (w answerWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		h := w.Header()
		for _, name := range [...]string{"Content-Type", "Date"} {
			if _, said := h[name]; !said {
				h[name] = nil
			}
		}
		if w.last {
			h.Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] find the underlying writer.
func (w answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// buffers lends buffers to answers while they pass: idle connections hold none.
type buffers struct{ pool sync.Pool }

// Get implements [httputil.BufferPool].
func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferSize)
}

// Put implements [httputil.BufferPool].
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferSize]byte)(buffer)) }

const bufferSize = 32 << 10
