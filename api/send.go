package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Request is a call that its caller composes, known to the contract or not.
type Request struct {
	Method  string      // GET, POST, PUT, PATCH or DELETE
	Path    string      // as in an address, from / on and without a query
	Query   url.Values  // nil: none
	Body    []byte      // sent as it is, as JSON; nil: none
	Header  http.Header // beside the client's own: see [Request.Check]
	StandIn bool        // for a stand-in alone: the service refuses the key that it carries

	Departure Departure // nil: nobody is asked
}

// Answer is the success that a [Request] got.
type Answer struct {
	Response
	body []byte
	keys []Secret // which nobody is shown
}

// Send sends a request: a read again after failures that pass, everything else once.
func (c *Client) Send(ctx context.Context, r Request) (answer Answer, err error) {
	request, err := r.compose()
	if err != nil {
		return answer, err
	}
	err = c.do(ctx, request, func(body []byte, of Response) error {
		answer = c.answer(body, of)
		return nil
	})
	return answer, c.standsIn(r, answer.Response, err)
}

// Pages reads a list page by page, as the client reads its own: it ends where the pages say so, and is
// [ErrIncomplete] where they run in a circle or have no end.
func (c *Client) Pages(ctx context.Context, r Request) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		request, err := r.compose()
		if err != nil {
			yield(Answer{}, err)
			return
		}
		for p, err := range walk(ctx, c, request) {
			if !yield(c.answer(p.body, p.of), c.standsIn(r, p.of, err)) {
				return
			}
		}
	}
}

func (c *Client) answer(body []byte, of Response) Answer {
	account := *c.key.Load()
	return Answer{of, body, []Secret{account, StandInKey(account)}}
}

// standsIn is the error of a request for a stand-in alone, if none answered it.
func (c *Client) standsIn(r Request, of Response, err error) error {
	var refused *Error
	answered := err == nil || errors.As(err, &refused)
	if refused != nil {
		of.From = refused.From
	}
	if r.StandIn && answered && !of.From.StandIn {
		return fmt.Errorf("%s: %w", Scrub(c.base.Host), ErrNotStandIn)
	}
	return err
}

// Check refuses a request whose parts would change where it goes, whose key it carries or where its body ends.
func (r Request) Check() error {
	plain, err := url.PathUnescape(r.Path)
	switch {
	case !slices.Contains(Methods(), r.Method):
		return fmt.Errorf("%.20q is not a method: give one of %s", r.Method, strings.Join(Methods(), ", "))
	case err != nil || strings.ContainsAny(r.Path, "?# \\") || string(Scrub(plain)) != plain:
		return errors.New("the path cannot be read")
	case !strings.HasPrefix(r.Path, "/") || path.Clean(plain) != plain:
		return errors.New("the path must begin with / and have no empty part, no . and no .., as in /api/v1/shipments")
	}
	for name, values := range r.Header {
		for _, value := range values {
			if err := checkHeader(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Request) compose() (call, error) {
	request := call{method: r.Method, path: r.Path, query: r.Query, body: r.Body, header: http.Header{}, standIn: r.StandIn, departure: r.Departure}
	if err := r.Check(); err != nil {
		return request, request.notSent(err)
	}
	for name, values := range r.Header {
		if strings.EqualFold(name, "Idempotency-Key") {
			request.once = strings.Join(values, ",")
		} else {
			request.header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if json.Valid(r.Body) {
		if payment := paymentOf(nil, r.Body); payment != nil {
			request.hidden = []Secret{payment.Token}
		}
	}
	return request, nil
}

// Methods are those of a [Request].
func Methods() []string {
	return []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}

// checkHeader refuses a header that the client sets itself. The error does not repeat the value.
func checkHeader(name, value string) error {
	own := []string{"Authorization", "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
		"Trailer", "Te", "Upgrade", "Expect", "Accept-Encoding", "X-Idempotency-Key", standInHeader}
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("%.40q is not a header name", name)
	case slices.Contains(own, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("%s cannot be set: the client sets it itself", name)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s has a character that headers must not have, such as a line break", name)
	}
	return nil
}

// Shown is the body on one line, empty if it is: as [Masked] renders it or, revealed, as it came but for the key and
// characters that must not reach a terminal.
func (a Answer) Shown(reveal bool) []byte {
	m := masker{}
	body := []byte(cutOut(a.keys, string(a.body)))
	for _, key := range a.keys {
		m.tokens = append(m.tokens, key.Reveal())
	}
	var plain, spelt bytes.Buffer
	var decoded any
	switch {
	case len(body) == 0:
		return nil
	case !reveal || json.Compact(&plain, body) != nil || json.Unmarshal(body, &decoded) != nil:
		return m.mask(body)
	}
	encoder := json.NewEncoder(&spelt)
	encoder.SetEscapeHTML(false)
	repeats := func(key Secret) bool {
		quoted := appendString(nil, key.Reveal())
		return bytes.Contains(spelt.Bytes(), quoted[1:len(quoted)-1])
	}
	if encoder.Encode(decoded) != nil || slices.ContainsFunc(a.keys, repeats) { // the key, in other characters
		return m.mask(body)
	}
	return escapeUnsafe(plain.Bytes())
}
