package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"tillwatch/api/listener"
)

const (
	// maxSmall is how many bytes of a body are read before the request is sent.
	maxSmall = 8 << 10
	// maxUnread is how many bytes of an unread body are read to keep the connection.
	maxUnread = 256 << 10
	// restTimeout bounds the wait for what a client still sends after its answer.
	restTimeout = 500 * time.Millisecond
)

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "":
		refuse(w, http.StatusBadRequest, "BadRequestError",
			"this is a reverse proxy: use its address as the service's base URL, not as an HTTP proxy")
		return
	case httpguts.HeaderValuesContainsToken(r.Header["Connection"], "upgrade") &&
		httpguts.HeaderValuesContainsToken(r.Header["Upgrade"], "websocket"):
		refuse(w, http.StatusNotImplemented, "NotImplementedError",
			"this proxy passes on requests and their answers, and no websockets")
		return
	}
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // the service may answer before it has read the request
	a := &answer{ResponseWriter: w, proxy: p, request: r}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }}
	passed := r.WithContext(httptrace.WithClientTrace(r.Context(), trace)) // a copy: the server looks at r again
	body := &clientBody{ReadCloser: r.Body}
	passed.Body = body
	p.pass(a, passed, control)
	_ = control.Flush() // or the server would add a length to an empty answer
	if r.ContentLength == 0 || body.ended.Load() {
		return
	}
	_ = control.SetReadDeadline(time.Now().Add(restTimeout))
	if r.Header.Get("Expect") == "" { // else the client may leave the rest out
		_, _ = io.CopyN(io.Discard, body, maxUnread) // what is left closes the connection
	}
}

// pass passes a request on. What has come of an answer that breaks off goes to the client before its connection ends: a
// client that gets nothing may send the request again by itself.
func (p *Proxy) pass(a *answer, r *http.Request, control *http.ResponseController) {
	defer func() {
		if broken := recover(); broken != nil {
			if a.begun {
				_ = control.Flush()
			}
			panic(broken)
		}
	}()
	p.passing.ServeHTTP(a, r)
}

// rewrite points a request at the service. Of what ReverseProxy changes, only the hop-by-hop headers stay changed.
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
}

// once sends each request once. What may change something gets a connection of its own: the service may close an idle
// one just as a request is written to it, and then nobody knows whether it has read it. Only reads share connections.
//
// Both speak HTTP/1.1. Over HTTP/2, net/http by itself repeats a request after a stream reset with PROTOCOL_ERROR,
// where the service may have acted.
type once struct{ fresh, shared *http.Transport }

func newOnce(transport *http.Transport) once {
	o := once{fresh: transport, shared: transport.Clone()}
	o.fresh.MaxIdleConnsPerHost = -1 // none
	o.shared.MaxIdleConns, o.shared.MaxIdleConnsPerHost = keptIdle, keptIdle
	return o
}

// RoundTrip implements [http.RoundTripper].
func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(r.Context()) // a copy, which may be changed
	switch {
	case r.Method == http.MethodGet && r.Body == nil:
		// net/http repeats a read by itself when a shared connection breaks, and each is charged: only a body that
		// cannot be read again prevents that. This one goes without a length and without chunks.
		r.Body, r.TransferEncoding = io.NopCloser(strings.NewReader("")), []string{"identity"}
		return o.shared.RoundTrip(r)
	case r.ContentLength > 0 && r.ContentLength <= maxSmall && r.Header.Get("Expect") == "":
		// It goes together with the header: a service that refuses a request by its header, and closes, would get the
		// rest on a closed connection, and its answer would be lost.
		whole := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, whole); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(whole))
	}
	return o.fresh.RoundTrip(r)
}

// clientBody is the body of a request. Its errors are marked, to distinguish a client that breaks off from a service
// that does.
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

// answer keeps net/http from adding to an answer, and closes connections where that is safer.
type answer struct {
	http.ResponseWriter
	proxy   *Proxy
	request *http.Request
	sent    atomic.Bool // the request may have been sent: there is a connection to the service
	begun   bool        // its header was written
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	h := a.Header()
	if status < http.StatusOK {
		if a.request.ProtoAtLeast(1, 1) { // HTTP/1.0 knows no interim answers
			removeHopByHop(h)
			a.ResponseWriter.WriteHeader(status)
		}
		return
	}
	for _, name := range [...]string{"Content-Type", "Date"} {
		if _, said := h[name]; !said {
			h[name] = nil
		}
	}
	if listener.LengthInDoubt(a.request) || a.proxy.leaving.Load() {
		h.Set("Connection", "close")
	}
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] find the underlying writer.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// removeHopByHop removes what an interim answer says of one connection only, as ReverseProxy does of other answers.
func removeHopByHop(h http.Header) {
	for name := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		h.Del(strings.TrimSpace(name))
	}
	h.Del("Connection")
}
