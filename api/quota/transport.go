package quota

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Bounds of an observation.
const (
	maxSpender = 64 // bytes of a spender's name
	maxMethod  = 16 // bytes of a method
	maxReports = 8  // the contract has five buckets
)

// Transport is an [http.RoundTripper] that passes requests on to another one and reports what they and their
// answers show of the account's quota. It neither changes nor delays them. Every field but Observe may be zero. Do
// not change the fields once it is in use.
type Transport struct {
	// Observe is called once per request, when it has failed or the body of its answer is closed, as net/http demands
	// of every caller. It runs on the goroutine that closes the body, so it must not block.
	Observe func(Observation)

	Base          http.RoundTripper // sends the requests; nil: [http.DefaultTransport]
	BasePath      string            // the path of the service's base URL; "" for none
	LookupPath    string            // of the product lookup, below BasePath; "": [DefaultLookupPath]
	SpenderHeader string            // the header that names the caller; "": User-Agent
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	seen := t.observation(r)
	answer, err := t.base().RoundTrip(r)
	seen.Latency = time.Since(seen.Sent)
	if err != nil {
		t.report(r, seen)
		return answer, err
	}
	t.answered(&seen, answer)
	if answer.StatusCode == http.StatusSwitchingProtocols || answer.Body == nil || answer.Body == http.NoBody {
		t.report(r, seen)
		return answer, nil
	}
	body := &observedBody{ReadCloser: answer.Body, transport: t, request: r, seen: seen}
	if showsIntent(r.Method, seen.Endpoint) && answer.StatusCode/100 == 2 && answer.ContentLength <= maxIntent &&
		strings.Contains(answer.Header.Get("Content-Type"), "json") {
		body.copying, body.encoding = true, answer.Header.Get("Content-Encoding")
	}
	answer.Body = body
	return answer, nil
}

// CloseIdleConnections implements what [http.Client.CloseIdleConnections] looks for.
func (t *Transport) CloseIdleConnections() {
	if closer, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// observation returns what a request is for.
func (t *Transport) observation(r *http.Request) Observation {
	seen := Observation{Sent: time.Now(), Method: strings.Clone(r.Method[:min(len(r.Method), maxMethod)])}
	path := strings.TrimPrefix(r.URL.EscapedPath(), strings.TrimSuffix(t.BasePath, "/"))
	seen.Endpoint, seen.Class = EndpointOf(r.Method, path, cmp.Or(t.LookupPath, DefaultLookupPath))
	return seen
}

// report adds who sent the request, and reports it.
func (t *Transport) report(r *http.Request, seen Observation) {
	seen.ID = rand.Text()
	key := bearer(r.Header.Get("Authorization"))
	if key != "" {
		seen.Key = fingerprint(key, r.URL.Host)
	}
	name := r.Header.Get(cmp.Or(t.SpenderHeader, "User-Agent"))
	if key == "" || !strings.Contains(name, key) { // do not use a name that contains the key
		name = printable(name)
		seen.Spender = strings.Clone(name[:min(len(name), maxSpender)])
	}
	t.Observe(seen)
}

// answered adds what the answer's header shows.
func (t *Transport) answered(seen *Observation, answer *http.Response) {
	seen.Status = answer.StatusCode
	reports := ParseFields(answer.Header).Reports
	seen.Reports = reports[:min(len(reports), maxReports)]
	for i := range seen.Reports {
		seen.Reports[i].Policy = strings.Clone(seen.Reports[i].Policy) // it would keep the whole field
	}
	seen.RetryAfter, _ = RetryAfter(answer.Header, time.Now())
}

// bearer returns the key in an Authorization field (contract, Authentication).
func bearer(field string) string {
	scheme, key, ok := strings.Cut(field, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return field
	}
	return strings.TrimSpace(key)
}

// fingerprint names a key of the service at host without revealing anything of it.
func fingerprint(key, host string) string {
	sum := sha256.Sum256([]byte("tillwatch spender\x00" + host + "\x00" + key))
	return hex.EncodeToString(sum[:8])
}
