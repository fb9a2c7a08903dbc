package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"

	"tillwatch/api/quota"
)

// maxBody bounds the body of an answer, after decompression.
const maxBody = 8 << 20

// call is one request as the contract knows it, however often it is sent.
type call struct {
	method string
	path   string // escaped
	query  url.Values
	body   []byte      // nil: none
	hidden []Secret    // tokens that are paid with, which an error must not repeat
	once   string      // the idempotency key of a POST that is only ever meant once; else each has its own
	probe  bool        // of a list that may not be there
	header http.Header // beside the client's own

	standIn   bool // for a stand-in alone: it carries a key that the service refuses
	departure Departure
}

func get(path string, query url.Values) call {
	return call{method: http.MethodGet, path: path, query: query}
}

func post(path string, body []byte, payment *PaymentMethod) call {
	c := call{method: http.MethodPost, path: path, body: body}
	if payment != nil {
		c.hidden = []Secret{payment.Token}
	}
	return c
}

// printable is the path with the names of the query, without its values.
func (c call) printable() string {
	if len(c.query) == 0 {
		return c.path
	}
	names := make([]string, 0, len(c.query))
	for name := range c.query {
		names = append(names, url.QueryEscape(name)+"=…")
	}
	sort.Strings(names)
	return c.path + "?" + strings.Join(names, "&")
}

// refusedProbe reports whether an answer says that the list asked for is not
// there, which is as good an answer as the list.
func (c call) refusedProbe(status int) bool { return c.probe && notServed(status) }

func (c call) notSent(err error) error {
	return &TransportError{Method: c.method, Path: c.printable(), Err: err}
}

// unreadable says that the body of an answer is not what the call promises.
func (c call) unreadable(status int, err error) *UnreadableError {
	return &UnreadableError{Method: c.method, Path: c.printable(), Status: status, Err: err}
}

// reader decodes the body of an answer. A body that it refuses is not of the
// contract, so the call has failed, whatever the status.
type reader func(body []byte, of Response) error

// do sends a request and has take read the answer. Reads are sent again after
// failures that pass; a POST is sent once.
func (c *Client) do(ctx context.Context, request call, take reader) error {
	retry := newRetry(request, c.retries)
	for attempt := 1; ; attempt++ {
		err := c.attempt(ctx, request, attempt, take)
		if err == nil {
			return nil
		}
		wait, again := retry.after(err)
		if !again || ctx.Err() != nil || endsWithin(ctx, wait) {
			return err // what the service said, rather than that time ran out
		}
		if err := Sleep(ctx, wait); err != nil {
			return request.notSent(err)
		}
	}
}

func endsWithin(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= wait
}

// attempt waits for quota, sends the request once and reports to the pacer and
// the observer how it went.
func (c *Client) attempt(ctx context.Context, request call, number int, take reader) error {
	arrived := time.Now()
	_, class := quota.EndpointOf(request.method, request.path, c.lookupPath)
	var permit quota.Permit
	var err error
	if c.pacer != nil {
		permit, err = c.pacer.Acquire(ctx, class)
	}
	if err != nil {
		return request.notSent(fmt.Errorf("wait for quota: %w", err))
	}
	exchange := Exchange{
		Method:   request.method,
		Path:     request.printable(),
		Class:    class,
		Priority: quota.PriorityOf(ctx),
		Attempt:  number,
		Sent:     time.Now(),
	}
	exchange.Waited = exchange.Sent.Sub(arrived)
	response, body, err := c.sendBooked(ctx, request, permit, exchange.Sent)
	exchange.Latency = time.Since(exchange.Sent)
	exchange.Status, exchange.RequestID, exchange.From, exchange.Date = response.Status, response.RequestID, response.From, response.Date
	if err == nil {
		if refused := take(body, response); refused != nil {
			err = request.unreadable(response.Status, refused)
		}
	}
	if !request.refusedProbe(response.Status) {
		exchange.Err = err
	}
	c.observe(exchange)
	return err
}

// sendBooked sends the request and gives the permit back, also when a transport
// panics: a permit that is kept holds others up.
func (c *Client) sendBooked(ctx context.Context, request call, permit quota.Permit, sent time.Time) (Response, []byte, error) {
	outcome := quota.Outcome{Sent: sent}
	defer func() {
		outcome.Received = time.Now()
		permit.Done(outcome)
	}()
	response := Response{Sent: sent}
	header, body, err := c.send(ctx, request, &response)
	outcome.Status, outcome.Header, outcome.PerSecond = response.Status, header, errors.Is(err, ErrPerSecond)
	return response, body, err
}

// send writes the request, reads the answer whole and describes it in of. The
// header is that of the answer, if one came, also beside an error.
func (c *Client) send(ctx context.Context, request call, of *Response) (header http.Header, body []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, request.notSent(err)
	}
	attemptContext, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	trace := &connectionTrace{}
	account := *c.key.Load()
	key := keyFor(request, account)
	secrets := append([]Secret{account, key}, request.hidden...)
	written, err := request.departure.ask()
	if err != nil {
		return nil, nil, request.notSent(err)
	}
	defer written()
	req, err := c.newRequest(httptrace.WithClientTrace(attemptContext, trace.hooks(written)), request, key)
	if err != nil {
		return nil, nil, request.notSent(err)
	}
	word := req.Header.Get(standInHeader) // "": not asked
	sender := c.reads
	if request.method != http.MethodGet {
		sender = c.mutations
	}
	answer, err := sender.Do(req)
	if err != nil {
		failed := &TransportError{Method: request.method, Path: request.printable(), MaybeSent: trace.maybeSent(), Err: quotingNo(secrets, c.cause(ctx, err))}
		if !failed.MaybeSent && ctx.Err() == nil {
			failed.Err = Proxied(c.base.String(), failed.Err)
		}
		return nil, nil, failed
	}
	defer answer.Body.Close()
	of.Status, of.RequestID = answer.StatusCode, requestID(answer.Header)
	of.From, of.Date = c.answeredBy(answer.Header, word), dateOf(answer.Header)
	body, err = readBody(answer.Body)
	if answer.StatusCode/100 != 2 {
		// Whatever could be read of a refusal is enough.
		refused := answerError(request, secrets, answer.StatusCode, answer.Header, body, time.Now())
		refused.Sent, refused.From = of.Sent, of.From
		return answer.Header, nil, refused
	}
	if err != nil {
		unreadable := request.unreadable(of.Status, quotingNo(secrets, c.cause(ctx, err)))
		unreadable.brokenOff = !errors.Is(err, errTooLarge)
		return answer.Header, nil, unreadable
	}
	return answer.Header, body, nil
}

func (c *Client) newRequest(ctx context.Context, request call, key Secret) (*http.Request, error) {
	target := *c.base
	target.RawQuery = request.query.Encode()
	escaped := target.EscapedPath() + request.path
	unescaped, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, errors.New("the path cannot be escaped")
	}
	target.Path, target.RawPath = unescaped, escaped
	var body io.Reader
	if request.body != nil {
		body = bytes.NewReader(request.body)
	}
	req, err := http.NewRequestWithContext(ctx, request.method, target.String(), body)
	if err != nil {
		return nil, errors.New("the request cannot be built")
	}
	req.Header.Set("Authorization", "Bearer "+key.Reveal())
	if c.onLoopback || request.standIn {
		askStandIn(req.Header)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if request.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if request.method == http.MethodPost || request.once != "" {
		// In this case on purpose: net/http sends a POST with an Idempotency-Key
		// again by itself when a reused connection breaks, but looks for the
		// canonical name only. What may have been sent must not be sent twice.
		once := request.once
		if once == "" {
			once = uuid.NewString()
		}
		req.Header["idempotency-key"] = []string{once}
	}
	maps.Copy(req.Header, request.header)
	return req, nil
}

// keyFor is the key that a request carries.
func keyFor(request call, account Secret) Secret {
	if request.standIn {
		return StandInKey(account)
	}
	return account
}

// cause is the error below the one that net/http wraps: that one quotes the
// whole URL. An end of the caller's context is returned as such.
func (c *Client) cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return timeout(c.timeout)
	}
	return err
}

// quotingNo returns err, or if it quotes a secret from what a server sent, its text without that.
func quotingNo(secrets []Secret, err error) error {
	if text := cutOut(secrets, err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// timeout is a [context.DeadlineExceeded] that says in words what it means.
type timeout time.Duration

func (t timeout) Error() string { return "nothing within " + time.Duration(t).String() }

func (timeout) Unwrap() error { return context.DeadlineExceeded }

var errTooLarge = fmt.Errorf("larger than %d bytes", maxBody)

func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(body) > maxBody {
		return nil, errTooLarge
	}
	return unmarked(body), err
}
