package proxy

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// pass passes a request on and writes the answer. It reports whether the client got the whole of one.
func (p *Proxy) pass(ctx context.Context, r *http.Request, body *clientBody, a *answer) (whole bool) {
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "":
		return a.refuse(http.StatusBadRequest, "BadRequestError", "this is a reverse proxy: use its address as the service's base URL, not as an HTTP proxy")
	case httpguts.HeaderValuesContainsToken(r.Header["Connection"], "upgrade") && httpguts.HeaderValuesContainsToken(r.Header["Upgrade"], "websocket"):
		return a.refuse(http.StatusNotImplemented, "NotImplementedError", "this proxy passes on requests and their answers, and no websockets")
	}
	answer, err := p.observed.RoundTrip(p.outgoing(ctx, r, body))
	if err != nil {
		return p.unanswered(ctx, a, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode < http.StatusOK {
		return p.unanswered(ctx, a, errors.New("it switched protocols, which nobody asked for, or has no such status"))
	}
	return a.pass(answer) == nil
}

// outgoing points a request at the service. It changes only the hop-by-hop headers, and takes over the others.
func (p *Proxy) outgoing(ctx context.Context, in *http.Request, body *clientBody) *http.Request {
	trailers := httpguts.HeaderValuesContainsToken(in.Header["Te"], "trailers")
	removeHopByHop(in.Header)
	if trailers {
		in.Header["Te"] = []string{"trailers"}
	}
	if _, named := in.Header["User-Agent"]; !named {
		in.Header["User-Agent"] = []string{""} // or net/http would add its own
	}
	out := in.WithContext(ctx)
	out.URL = &url.URL{Path: in.URL.Path, RawPath: in.URL.RawPath}
	(&httputil.ProxyRequest{In: in, Out: out}).SetURL(p.upstream)
	out.URL.RawQuery, out.URL.ForceQuery = in.URL.RawQuery, in.URL.ForceQuery
	path, _, _ := strings.Cut(in.RequestURI, "?")
	if path = p.upstream.EscapedPath() + path; path != out.URL.EscapedPath() && !strings.HasPrefix(path, "//") {
		out.URL.Opaque = path // net/url would escape it differently
	}
	out.RequestURI, out.Close, out.Body = "", false, body.forService()
	if in.ContentLength == 0 {
		out.Body = nil
	}
	return out
}

// removeHopByHop removes the headers that concern one connection only (RFC 9110, section 7.6.1).
func removeHopByHop(h http.Header) {
	for _, field := range h["Connection"] {
		for name := range strings.SplitSeq(field, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range [...]string{
		"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	} {
		delete(h, name)
	}
}
