package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	maxReason     = 4 << 10   // bytes of a probe's answer
)

// Paths of the probes, and their answers when all is well.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
	liveWord  = "alive"
	readyWord = "ready"
)

// ErrNoEvent says that the relay has no event of this id, or no longer has its body.
var ErrNoEvent = errors.New("there is no such event")

var errUnreadableAnswer = errors.New(
	"what answers is not a relay, or another version of one: its answer cannot be read")

// client calls a relay's HTTP endpoints.
type client struct {
	base  string
	token api.Secret
	http  http.Client
}

// newClient takes a relay's address in the same forms as a subscriber.
func newClient(url string, token api.Secret, insecure bool) (*client, error) {
	u, err := streamURL(url, insecure)
	if err != nil {
		return nil, err
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	u.Path = strings.TrimSuffix(u.Path, StreamPath)
	return &client{base: u.String(), token: token, http: http.Client{
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
		return 0, nil, unanswered(c.base, err)
	}
	defer answered.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(answered.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("read the relay's answer: %w", err)
	}
	return answered.StatusCode, answer, nil
}

// refusalFor returns the error for an answer other than 200 to a request that needs scope.
func refusalFor(status int, body []byte, scope Scope) error {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		said.Message = "without a message"
	}
	message := api.Scrub(said.Message)
	switch {
	case status == http.StatusOK:
		return nil
	case status/100 == 3:
		return fmt.Errorf("the relay's address redirects (%d), and redirects are not followed: set the address it leads to",
			status)
	case status == http.StatusUnauthorized:
		return &RefusedError{status, "the relay does not accept the token (401): set a valid one"}
	case status == http.StatusForbidden:
		return &RefusedError{status, fmt.Sprintf(
			"the relay forbids this token to %s (403): use one with the scope %s", scope, scope)}
	case scope == ScopeRead && (status == http.StatusNotFound || status == http.StatusGone):
		return fmt.Errorf("%w: %s", ErrNoEvent, message)
	}
	return fmt.Errorf("the relay answered %d: %s", status, message)
}

// Reader reads single events and the quarantine of a relay, by HTTP.
type Reader struct{ client *client }

// ReaderConfig says which relay to read.
type ReaderConfig struct {
	URL          string     // as of a subscriber
	Token        api.Secret // with the scope read
	InsecureHTTP bool       // allow http and ws to another machine, where everyone on the way can read the token
}

// NewReader checks cfg.
func NewReader(cfg ReaderConfig) (*Reader, error) {
	c, err := newClient(cfg.URL, cfg.Token, cfg.InsecureHTTP)
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
	if err := r.get(ctx, EventsPath+"/"+url.PathEscape(id), &answer); err != nil {
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
	if err := r.get(ctx, EventsPath+"?limit=1", &answer); err != nil {
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
	err = r.get(ctx, QuarantinePath+"?limit="+strconv.Itoa(limit), &answer)
	for i := range answer.Items {
		answer.Items[i].Reason = string(api.Scrub(answer.Items[i].Reason))
	}
	return answer.Items, answer.More, err
}

// Deliveries counts the deliveries that a relay has answered since it started, by outcome: stored, duplicate,
// conflict, quarantined, challenge, unauthorized, too_large, unread and unavailable. The token needs the scope admin.
func (r *Reader) Deliveries(ctx context.Context) (map[string]int64, error) {
	status, body, err := r.client.do(ctx, http.MethodGet, MetricsPath, nil)
	if err == nil {
		err = refusalFor(status, body, ScopeAdmin)
	}
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

// get decodes the answer to path.
func (r *Reader) get(ctx context.Context, path string, into any) error {
	status, body, err := r.client.do(ctx, http.MethodGet, path, nil)
	if err == nil {
		err = refusalFor(status, body, ScopeRead)
	}
	if err == nil && json.Unmarshal(body, into) != nil {
		err = errUnreadableAnswer // the cause quotes the answer
	}
	return err
}

// UnreadyError says that a relay cannot store deliveries now.
type UnreadyError struct{ Reason api.Text }

// Error repeats what the relay says.
func (e *UnreadyError) Error() string { return "the relay is not ready: " + string(e.Reason) }

// Probe asks a relay whether it is alive or ready.
type Probe struct {
	Damage api.Text // what a ready relay has last said of damaged events; "": nothing

	url    string
	word   string // the answer when all is well
	client *http.Client
}

// Dial opens a connection.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// NewProbe takes a relay's address, with the path of a probe; without one it asks whether the relay is ready. dial
// may be nil for the usual connection, through a proxy if one is configured. The certificate of a relay on this
// machine is not verified: nothing is in between, and nothing secret is sent.
func NewProbe(relayURL string, dial Dial) (*Probe, error) {
	u, err := url.Parse(relayURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the relay's URL begins with http:// or https://, as in http://127.0.0.1:7430")
	case u.Hostname() == "":
		return nil, errors.New("the relay's URL names no host: give one as in http://127.0.0.1:7430")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the relay's URL carries more than scheme, host and path: a probe needs no token")
	}
	p := &Probe{word: readyWord}
	switch u.Path = strings.TrimSuffix(u.Path, "/"); {
	case strings.HasSuffix(u.Path, readyPath):
	case strings.HasSuffix(u.Path, livePath):
		p.word = liveWord
	case strings.HasSuffix(u.Path, WebhookPath):
		return nil, errors.New("this is where the service delivers: give the relay's URL without " + WebhookPath)
	case strings.HasSuffix(u.Path, StreamPath):
		return nil, fmt.Errorf("%s is the path of the stream: leave it out, or give %s or %s",
			StreamPath, readyPath, livePath)
	default:
		u.Path += readyPath
	}
	p.url = u.String()
	transport := api.TransportTo(u.Hostname())
	transport.DisableKeepAlives = true
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: api.Loopback(u.Hostname())}
	if dial != nil {
		transport.Proxy, transport.DialContext = nil, dial
	}
	p.client = &http.Client{Transport: transport, CheckRedirect: noRedirect}
	return p, nil
}

// URL returns the probed address.
func (p *Probe) URL() string { return p.url }

// Ask returns the status of the answer, 0 if there is none before ctx ends, and what is wrong: an [UnreadyError]
// if the relay says so itself. Only one call at a time.
func (p *Probe) Ask(ctx context.Context) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", p.url, err)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return 0, unanswered(p.url, err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(io.LimitReader(answer.Body, maxReason))
	said, _ := lines.ReadString('\n') // the status counts
	reason := api.Scrub(strings.TrimSpace(said))
	switch status = answer.StatusCode; {
	case status == http.StatusOK && string(reason) == p.word:
		said, _ = lines.ReadString('\n')
		p.Damage = api.Scrub(strings.TrimSpace(said))
		return status, nil
	case status == http.StatusServiceUnavailable && reason != "":
		return status, &UnreadyError{reason}
	case status == http.StatusBadRequest && strings.HasSuffix(string(reason), "to an HTTPS server."):
		return status, fmt.Errorf("what answers at %s speaks TLS: give https://", p.url)
	}
	return status, fmt.Errorf("what answers at %s with %d is not a relay, or is a proxy in front of one", p.url, status)
}

// nobody says that nothing answers at an address.
type nobody struct {
	address string
	*net.OpError
}

func (e nobody) Error() string { return "nothing answers at " + e.address + ": " + e.Err.Error() }
func (e nobody) Unwrap() error { return e.OpError }

// unanswered says why a request to an address got no answer.
func unanswered(address string, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	err = api.Proxied(address, err)
	var proxied *api.ProxiedError
	var unverified *tls.CertificateVerificationError
	var wrongName x509.HostnameError
	var dialled *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered in time", address)
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s is for another name: %w", address, wrongName)
	case errors.As(err, &unverified):
		return fmt.Errorf("the certificate of %s cannot be trusted: %w", address, unverified.Err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("what answers at %s does not speak TLS: give http://", address)
	case errors.As(err, &dialled) && !errors.As(err, &proxied):
		return nobody{address, dialled}
	}
	return fmt.Errorf("%s has not answered: %w", address, err)
}
