package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
)

// ErrNoEvent says that the relay has no event of this id, or no longer has its body.
var ErrNoEvent = errors.New("there is no such event")

var errUnreadableAnswer = errors.New("what answers is not a relay, or another version of one: its answer cannot be read")

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
	switch {
	case err != nil:
		return err
	case status == http.StatusNotFound || status == http.StatusGone:
		return fmt.Errorf("%w: %s", ErrNoEvent, messageOf(body))
	}
	if err := refusalFor(status, body, ScopeRead); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return errUnreadableAnswer // the cause quotes the answer
	}
	return nil
}
