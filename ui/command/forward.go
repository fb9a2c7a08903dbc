package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// forwardTimeout is how long the service waits for an answer to a webhook.
const forwardTimeout = 5 * time.Second

// forwarder delivers stored events to an endpoint under development, as the
// service does (contract, Webhook receiver contract): the exact bytes, with the
// four headers.
type forwarder struct {
	url    string
	prefix string
	secret api.Secret // zero: what is forwarded carries no signature
	client http.Client
}

// newForwarder returns nil when nothing is to be forwarded.
func newForwarder(s settings, target string) (*forwarder, error) {
	if target == "" {
		return nil, nil
	}
	u, err := url.Parse(target)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, usagef("--forward-to needs the whole address of an endpoint, such as http://127.0.0.1:3000/webhooks")
	}
	f := &forwarder{url: target, prefix: s.HeaderPrefix}
	if secrets := s.signingSecrets(); len(secrets) > 0 {
		f.secret = secrets[0]
	}
	f.client.Timeout = forwardTimeout
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return f, nil
}

// openForwarder is newForwarder that says when there is nothing to sign with.
func openForwarder(s settings, target string, stderr io.Writer) (*forwarder, error) {
	f, err := newForwarder(s, target)
	if f != nil && f.secret.IsZero() {
		fmt.Fprintln(stderr, "Forwarded events are not signed: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE to sign them.")
	}
	return f, err
}

// forwarded is what became of one event. Its names stay.
type forwarded struct {
	Status int      `json:"status,omitempty"` // of the answer; 0 when there was none
	Error  api.Text `json:"error,omitempty"`
	Millis int64    `json:"ms"`
}

func (f forwarded) String() string {
	if f.Status == 0 {
		return fmt.Sprintf("not forwarded: %s", f.Error)
	}
	return fmt.Sprintf("forwarded: %d in %d ms", f.Status, f.Millis)
}

// forward delivers an event once. That the endpoint does not take it is an
// outcome, not an error.
func (f *forwarder) forward(ctx context.Context, event api.Event) forwarded {
	began := time.Now()
	status, err := f.post(ctx, event)
	result := forwarded{Status: status, Millis: time.Since(began).Milliseconds()}
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) { // its text repeats the address
			err = outer.Err
		}
		result.Error = api.Scrub(err.Error())
	}
	return result
}

func (f *forwarder) post(ctx context.Context, event api.Event) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(event.Raw))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tillwatch")
	request.Header.Set(f.prefix+"event-id", string(event.ID))
	request.Header.Set(f.prefix+"timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	request.Header.Set(f.prefix+"topic", string(event.Type))
	if !f.secret.IsZero() {
		request.Header.Set(f.prefix+"signature", simulator.Signature(f.secret, event.Raw))
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
	return answer.StatusCode, nil
}
