package relay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

const (
	clientTimeout = 15 * time.Second
	maxAnswer     = 128 << 20 // bytes of a relay's answer
	maxReason     = 200       // bytes of an answer that are quoted
)

// The paths that need no token, and their answers when all is well.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
	liveWord  = "alive"
	readyWord = "ready"
)

var errUnreadableAnswer = errors.New(
	"what answers is not a relay, or another version of one: its answer cannot be read")

// client calls a relay's HTTP endpoints.
type client struct {
	base  string
	token api.Secret
	http  http.Client
}

// Access is a relay's address and what it lets in.
type Access struct {
	URL          string     // as of a subscriber
	Token        api.Secret // with the scope of what is asked for
	InsecureHTTP bool       // allow http and ws to another machine, where everyone on the way can read the token
}

func newClient(to Access) (*client, error) {
	u, err := streamURL(to.URL, to.InsecureHTTP)
	if err != nil {
		return nil, err
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	u.Path = strings.TrimSuffix(u.Path, StreamPath)
	return &client{base: u.String(), token: to.Token, http: http.Client{
		Timeout: clientTimeout, Transport: api.TransportTo(u.Hostname()), CheckRedirect: noRedirect,
	}}, nil
}

// noRedirect follows none: net/http would send the token along to the same host, even over http.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// do sends a request and returns the answer, whatever its status.
func (c *client) do(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("ask the relay: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answered, err := c.http.Do(req)
	if err != nil {
		return 0, nil, unreached(c.base, err)
	}
	defer answered.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(answered.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("read the relay's answer: %w", err)
	}
	return answered.StatusCode, answer, nil
}

// messageOf returns what an answer says in words: the message of a JSON object, or else the first line.
func messageOf(body []byte) api.Text {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil {
		said.Message, _, _ = strings.Cut(string(body[:min(len(body), maxReason)]), "\n")
	}
	return api.Scrub(cmp.Or(strings.TrimSpace(said.Message), "without a message"))
}

// refusal returns the error for an answer, other than the expected one, to a request that needs scope.
func refusal(status int, body []byte, scope Scope) error {
	switch {
	case status/100 == 3:
		return fmt.Errorf("the relay's address redirects (%d), which is not followed: set the address it leads to", status)
	case status == http.StatusUnauthorized:
		return &RefusedError{status, "the relay does not accept the token (401): set a valid one"}
	case status == http.StatusForbidden:
		return &RefusedError{status, fmt.Sprintf(
			"the relay forbids this token to %s (403): use one with the scope %s", scope, scope)}
	}
	return fmt.Errorf("the relay answered %d: %s", status, messageOf(body))
}

// Reader reads single events and the quarantine of a relay, by HTTP.
type Reader struct{ client *client }

// NewReader checks the address. Most of what is read needs a token with the scope read.
func NewReader(from Access) (*Reader, error) {
	c, err := newClient(from)
	if err != nil {
		return nil, err
	}
	return &Reader{c}, nil
}

// Close closes the connections that no request is on.
func (r *Reader) Close() { r.client.http.CloseIdleConnections() }

// Event reads the event of an id, and its cursor.
func (r *Reader) Event(ctx context.Context, id string) (item Item, cursor string, err error) {
	if !api.Nameable(id) {
		return Item{}, "", fmt.Errorf("%q is not the id of an event", id)
	}
	var answer oneEvent
	if err := r.read(ctx, EventsPath+"/"+url.PathEscape(id), &answer); err != nil {
		return Item{}, "", err
	}
	if !IsCursor(answer.Cursor) {
		return Item{}, "", errUnreadableAnswer
	}
	return itemFrom(answer.wireItem), answer.Cursor, nil
}

// Head reads the cursor of the newest event, minus back events.
func (r *Reader) Head(ctx context.Context, back int64) (string, error) {
	var answer page
	if err := r.read(ctx, EventsPath+"?limit=1", &answer); err != nil {
		return "", err
	}
	return cursor{epoch: answer.Epoch, seq: max(0, answer.Head-back)}.String(), nil
}

// Quarantined is a signed body that is not an event.
type Quarantined struct {
	Received time.Time `json:"received"`
	Reason   string    `json:"reason"` // why it is not an event, scrubbed
	Body     []byte    `json:"raw"`    // the exact body
}

// Quarantine reads at most limit quarantined bodies, up to 50 and about 1 MiB, the newest first, and whether there are
// more.
func (r *Reader) Quarantine(ctx context.Context, limit int) (all []Quarantined, more bool, err error) {
	var answer quarantinePage
	err = r.read(ctx, QuarantinePath+"?limit="+strconv.Itoa(limit), &answer)
	for i := range answer.Items {
		answer.Items[i].Reason = string(api.Scrub(answer.Items[i].Reason))
	}
	return answer.Items, answer.More, err
}

// Deliveries counts the deliveries that a relay has answered since it started, by outcome: stored, duplicate,
// conflict, quarantined, challenge, unauthorized, too_large, unread and unavailable. The token needs the scope admin.
func (r *Reader) Deliveries(ctx context.Context) (map[string]int64, error) {
	body, err := r.get(ctx, MetricsPath, ScopeAdmin)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for line := range strings.Lines(string(body)) {
		var outcome string
		var count float64
		if _, err := fmt.Sscanf(line, deliveriesMetric+"{outcome=%q} %g", &outcome, &count); err == nil {
			counts[outcome] = int64(count)
		}
	}
	if len(counts) == 0 {
		return nil, errors.New("the relay's metrics hold no count of deliveries")
	}
	return counts, nil
}

// get reads the answer to path, which needs a token with scope.
func (r *Reader) get(ctx context.Context, path string, scope Scope) ([]byte, error) {
	status, body, err := r.client.do(ctx, http.MethodGet, path, nil)
	if err == nil && status != http.StatusOK {
		err = refusal(status, body, scope)
	}
	return body, err
}

// read decodes the answer to path.
func (r *Reader) read(ctx context.Context, path string, into any) error {
	body, err := r.get(ctx, path, ScopeRead)
	if err == nil && json.Unmarshal(body, into) != nil {
		err = errUnreadableAnswer // the cause quotes the answer
	}
	return err
}

// ErrNotReady says that a relay cannot store deliveries now.
var ErrNotReady = errors.New("the relay is not ready")

// Ready asks whether the relay can store deliveries: it returns [ErrNotReady] if the relay says that it cannot. What a
// ready relay says of damaged events is damage; "" for nothing. No token is needed.
func (r *Reader) Ready(ctx context.Context) (damage api.Text, err error) {
	status, body, err := r.client.do(ctx, http.MethodGet, readyPath, nil)
	if err != nil {
		return "", err
	}
	said, rest, _ := strings.Cut(string(body), "\n")
	switch {
	case status == http.StatusOK && said == readyWord:
		return api.Scrub(strings.TrimSpace(rest)), nil
	case status == http.StatusOK:
		return "", errUnreadableAnswer
	case status == http.StatusServiceUnavailable:
		return "", fmt.Errorf("%w: %s", ErrNotReady, messageOf(body))
	}
	return "", refusal(status, body, "")
}

// unreached says why a request to an address of the relay got no answer.
func unreached(address string, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the address once more
	}
	return fmt.Errorf("%s has not answered: %w", address, api.Proxied(address, err))
}
