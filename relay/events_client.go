package relay

import (
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

// ErrNoEvent is the answer for an id that a relay does not know, or whose body it
// has let go of.
var ErrNoEvent = errors.New("there is no such event")

const (
	readerTimeout = 15 * time.Second
	// maxAnswer bounds an answer of the reading side.
	maxAnswer = 128 << 20
)

// Reader reads single events and the quarantine of a relay, by HTTP.
type Reader struct {
	base   string
	token  api.Secret
	client http.Client
}

// ReaderConfig says which relay to read, as a subscriber is told.
type ReaderConfig struct {
	URL          string
	Token        api.Secret // with the scope read
	InsecureHTTP bool       // allow http and ws to another machine, where everyone on the way can read the token
}

// NewReader checks cfg.
func NewReader(cfg ReaderConfig) (*Reader, error) {
	u, err := streamURL(cfg.URL, cfg.InsecureHTTP)
	if err != nil {
		return nil, err
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	u.Path = strings.TrimSuffix(u.Path, StreamPath)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DialContext = api.ProxyTo(u.Hostname()), api.DialerTo(u.Hostname()).DialContext
	return &Reader{base: u.String(), token: cfg.Token, client: http.Client{
		Timeout: readerTimeout, Transport: transport,
		// To the same host the library would take the token along, also to http.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Event reads the event of an id, and its cursor.
func (r *Reader) Event(ctx context.Context, id string) (item Item, cursor string, err error) {
	var answer oneEvent
	if err := r.get(ctx, EventsPath+"/"+url.PathEscape(id), &answer); err != nil {
		return Item{}, "", err
	}
	return itemFrom(answer.wireItem), answer.Cursor, nil
}

// Head reads the cursor behind the newest event, less back events.
func (r *Reader) Head(ctx context.Context, back int64) (string, error) {
	var answer page
	if err := r.get(ctx, EventsPath+"?limit=1", &answer); err != nil {
		return "", err
	}
	return cursor{answer.Epoch, max(0, answer.Head-back)}.String(), nil
}

// Quarantined is a signed body that is no event.
type Quarantined struct {
	Received time.Time
	Reason   string
	Body     []byte
}

// Quarantine reads at most limit quarantined bodies, up to 50 and the newest
// first, and whether there are more.
func (r *Reader) Quarantine(ctx context.Context, limit int) (all []Quarantined, more bool, err error) {
	var answer quarantinePage
	if err := r.get(ctx, QuarantinePath+"?limit="+strconv.Itoa(limit), &answer); err != nil {
		return nil, false, err
	}
	for _, q := range answer.Items {
		all = append(all, Quarantined{q.Received, q.Reason, q.Raw})
	}
	return all, answer.More, nil
}

// get decodes the answer to path.
func (r *Reader) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return fmt.Errorf("ask the relay: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token.Reveal())
	answer, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the relay: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the relay's answer: %w", err)
	}
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return fmt.Errorf("the relay's address redirects (%d), and redirects are not followed: set the address it leads to", answer.StatusCode)
	case http.StatusUnauthorized:
		return errors.New("the relay does not accept the token (401): set one that it knows")
	case http.StatusForbidden:
		return errors.New("the relay forbids this token to read (403): use one with the scope read")
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%w: %s", ErrNoEvent, messageOf(body))
	default:
		return fmt.Errorf("the relay answered %d: %s", answer.StatusCode, messageOf(body))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read the relay's answer: %w", err)
	}
	return nil
}

// messageOf is what an answer says that is not 200.
func messageOf(body []byte) api.Text {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		return "without a message"
	}
	return api.Scrub(said.Message)
}
