package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

const (
	// answerTimeout is for how long the service waits for an answer (contract, Webhook
	// receiver contract).
	answerTimeout = 5 * time.Second
	// maxAnswer is how many bytes of an answer are read: enough to mask it as a whole.
	maxAnswer = 64 << 10
	// minSecret is the least length, in bytes, of a value of the request that is hidden in an answer: shorter ones,
	// such as a version, occur in any text.
	minSecret = 8
)

// Sender sends events as the service does: the exact bytes with its four headers. An
// event is delivered if the target answers with 200 within 5 seconds.
type Sender struct {
	Prefix    string                   // of the four headers
	Sign      func(body []byte) string // the value of the signature header; nil: nothing is signed
	Fresh     bool                     // the timestamp is the time of the attempt, not of the delivery to the relay
	Header    http.Header              // added to each request; its values are secrets
	Transport http.RoundTripper        // such as [NewTransport]
}

// NewTransport returns a transport that keeps as many idle connections to a target as
// there are concurrent attempts. It offers HTTP/1.1 only, see [api.TransportTo].
func NewTransport() http.RoundTripper {
	t := api.TransportTo("")
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}}
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 100, atOnce
	t.DisableCompression = true // answers are shown as they arrived
	return t
}

// CheckTarget returns an error that says what is wrong with the address of a target.
func CheckTarget(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.User != nil {
		return errors.New("leave out the user and the password: a header can hold them, as in --header-file 'Authorization=token.txt'")
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("give the whole address of an endpoint, such as http://127.0.0.1:3000/webhooks")
	}
	return nil
}

// Shown returns the address of a target for display, without its query, which may be a
// secret.
func Shown(address string) api.Text {
	plain, query, _ := strings.Cut(address, "?")
	if query != "" {
		plain += "?…"
	}
	return api.Scrub(plain)
}

// Send makes one attempt and returns d with its outcome: delivered or waiting.
func (s *Sender) Send(ctx context.Context, target string, item relay.Item, d delivery.Delivery) delivery.Delivery {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	d.Sent, d.Attempts = time.Now(), d.Attempts+1
	d.State, d.Status, d.Error, d.Answer, d.Next, d.Unreached = delivery.Waiting, 0, "", delivery.Message{}, time.Time{}, false
	secrets := s.secrets(target)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(item.Event.Raw))
	if err == nil {
		d.Request = delivery.Message{Header: s.setHeaders(request, item), Body: delivery.Body(item.Event.Raw)}
		err = s.exchange(request, secrets, &d)
	}
	d.Took = time.Since(d.Sent)
	var network *net.OpError
	switch {
	case err != nil:
		d.Unreached = errors.As(err, &network) && network.Op == "dial"
		d.Error = api.Scrub(secrets.Replace(reason(err)))
	case d.Status == http.StatusOK:
		d.State = delivery.Delivered
	}
	return d
}

// setHeaders sets the headers of a request and returns a copy for display.
func (s *Sender) setHeaders(request *http.Request, item relay.Item) http.Header {
	at := item.Received
	if s.Fresh || at.IsZero() {
		at = time.Now()
	}
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "tillwatch")
	// Assigned, not Set: the names go out in lower case, as the service writes them.
	h[s.Prefix+"event-id"] = []string{string(item.Event.ID)}
	h[s.Prefix+"timestamp"] = []string{strconv.FormatInt(at.Unix(), 10)}
	h[s.Prefix+"topic"] = []string{string(item.Event.Type)}
	if s.Sign != nil {
		h[s.Prefix+"signature"] = []string{s.Sign(item.Event.Raw)}
	}
	shown := h.Clone()
	for name, values := range s.Header {
		h[name], shown[name] = values, []string{delivery.Hidden}
		if name == "Host" {
			request.Host = values[0]
		}
	}
	return shown
}

// sent returns the time in the timestamp header of an earlier attempt; zero if there is
// none.
func (s *Sender) sent(d delivery.Delivery) time.Time {
	for _, text := range d.Request.Header[s.Prefix+"timestamp"] {
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
			return time.Unix(seconds, 0)
		}
	}
	return time.Time{}
}

// exchange sends a request and stores the answer in d. It follows no redirects.
func (s *Sender) exchange(request *http.Request, secrets *strings.Replacer, d *delivery.Delivery) error {
	client := http.Client{Transport: s.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	d.Status = response.StatusCode
	header := response.Header.Clone()
	for name, values := range header {
		for i, value := range values {
			if values[i] = secrets.Replace(value); name == "Set-Cookie" || name == "Authorization" {
				values[i] = delivery.Hidden
			}
		}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	d.Answer = delivery.Message{Header: header, Body: kept(body, secrets)}
	return err
}

// secrets hides the added headers and the query of the target in an answer, and in an error that quotes one, as some
// targets repeat the request. It hides them as they are, and as they are written in JSON.
func (s *Sender) secrets(target string) *strings.Replacer {
	_, query, _ := strings.Cut(target, "?")
	query, _, _ = strings.Cut(query, "#")
	all := []string{query}
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, found := strings.Cut(pair, "=")
		if !found {
			value = pair
		}
		decoded, _ := url.QueryUnescape(value) // empty if it cannot be decoded
		all = append(all, value, decoded, url.QueryEscape(decoded))
	}
	for _, values := range s.Header {
		for _, value := range values {
			_, credential, _ := strings.Cut(value, " ")
			all = append(all, value, credential)
		}
	}
	for _, secret := range all {
		quoted, _ := json.Marshal(secret) // a string always has a form in JSON
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	var pairs []string
	for _, secret := range all {
		if len(secret) >= minSecret {
			pairs = append(pairs, secret, delivery.Hidden)
		}
	}
	return strings.NewReplacer(pairs...)
}

// kept returns the part of an answer's body that the log keeps, without secrets. JSON is masked before it
// is cut. A body that only begins like JSON may hold personal data and is not kept.
func kept(body []byte, secrets *strings.Replacer) []byte {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		body = api.Masked(body)
	}
	body = []byte(secrets.Replace(string(body)))
	return body[:min(len(body), delivery.KeptAnswer)]
}

// reason says in one line why there is no complete answer.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no whole answer within " + api.Span(answerTimeout)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ended the connection before the answer was whole"
	}
	var outer *url.Error
	if errors.As(err, &outer) { // its text repeats the address
		err = outer.Err
	}
	return err.Error()
}
