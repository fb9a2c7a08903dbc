package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
	"tillwatch/relay/signature"
)

const (
	// answerTimeout is for how long the service waits for an answer (contract, Webhook
	// receiver contract).
	answerTimeout = 5 * time.Second
	// maxAnswer is how many bytes of an answer are read: enough to mask it as a whole.
	maxAnswer = 64 << 10
)

// Sender sends events as the service does: the exact bytes with its four headers.
type Sender struct {
	Prefix    string            // of the four headers
	Secret    api.Secret        // signs; zero: nothing is signed
	Header    http.Header       // added to each request; its values are secrets
	Transport http.RoundTripper // such as [NewTransport]
}

// NewTransport returns a transport for a [Sender]. It offers HTTP/1.1 only, see [api.TransportTo].
func NewTransport() http.RoundTripper {
	t := api.TransportTo("")
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}}
	t.DisableCompression = true // answers are shown as they arrived
	return t
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

// NewDelivery returns the delivery of an event to a target, before its first attempt.
func NewDelivery(target string, item relay.Item) delivery.Delivery {
	e := &item.Event
	return delivery.Delivery{
		Target: Shown(target), Event: e.ID, Type: e.Type, Source: e.Source.ID,
		State: delivery.Waiting, Since: item.Received,
	}
}

// Send makes one attempt and returns d with its outcome: delivered if the target answered
// 200 within 5 seconds, and a challenge as the contract wants it; otherwise waiting. The
// body of the answer is kept only if the target got no secret that it could repeat.
func (s *Sender) Send(ctx context.Context, target string, item relay.Item, d delivery.Delivery) delivery.Delivery {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	d.Sent, d.Attempts = time.Now(), d.Attempts+1
	d.State, d.Status, d.Error, d.Answer, d.Next = delivery.Waiting, 0, "", delivery.Message{}, time.Time{}
	answer, err := s.exchange(ctx, target, item, &d)
	d.Took = time.Since(d.Sent)
	event, secret := &item.Event, len(s.Header) > 0 || strings.Contains(target, "?")
	challenged := event.Type == api.VerificationChallenge
	switch {
	case err != nil:
		d.Error = api.Scrub(reason(err, secret))
	case d.Status != http.StatusOK:
	case challenged && !delivery.AnswersChallenge(answer, string(event.Source.ID)):
		d.Error = `the answer is not {"challenge": source.id}`
	default:
		d.State = delivery.Delivered
	}
	if !secret {
		d.Answer.Body = shownAnswer(answer)
	}
	return d
}

// exchange sends an event and stores the head of the answer in d. It follows no redirects.
func (s *Sender) exchange(
	ctx context.Context, target string, item relay.Item, d *delivery.Delivery,
) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(item.Event.Raw))
	if err != nil {
		return nil, err
	}
	s.setHeaders(request.Header, item)
	client := http.Client{
		Transport:     s.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	d.Status, d.Answer.Header = response.StatusCode, response.Header
	return io.ReadAll(io.LimitReader(response.Body, maxAnswer))
}

func (s *Sender) setHeaders(h http.Header, item relay.Item) {
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "tillwatch")
	// Assigned, not Set: the names go out in lower case, as the service writes them.
	h[s.Prefix+"event-id"] = []string{string(item.Event.ID)}
	h[s.Prefix+"timestamp"] = []string{strconv.FormatInt(time.Now().Unix(), 10)}
	h[s.Prefix+"topic"] = []string{string(item.Event.Type)}
	if !s.Secret.IsZero() {
		h[s.Prefix+"signature"] = []string{signature.Of(s.Secret, item.Event.Raw).String()}
	}
	for name, values := range s.Header {
		h[name] = values
	}
}

// shownAnswer returns what may be shown of an answer's body. JSON is masked before it is
// cut; what only begins like JSON may hold personal data and is left out.
func shownAnswer(body []byte) []byte {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		body = api.Masked(body)
	}
	return body[:min(len(body), delivery.KeptAnswer)]
}

// reason says in one line why there is no complete answer. Where a secret was sent it does
// not quote what came back.
func reason(err error, secret bool) string {
	var outer *url.Error
	if errors.As(err, &outer) { // its text repeats the address
		err = outer.Err
	}
	var network *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no whole answer within " + api.Span(answerTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ended the connection before the answer was whole"
	case secret && !errors.As(err, &network) && !errors.As(err, &untrusted):
		return "it gave no answer in HTTP"
	}
	return err.Error()
}
