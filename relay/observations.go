package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// The bounds of what is kept; the one reached first counts.
const (
	observationSpan     = time.Hour
	maxObservations     = 50_000
	maxObservationBytes = 24 << 20
)

// The bounds of what a reporter sends.
const (
	maxBatch           = 1000
	observationRate    = 1000 // a second, by a token
	observationBurst   = 10 * maxBatch
	maxObservation     = 8 << 10 // bytes of one, as sent
	maxObservationText = 256     // bytes of each of its texts: what is longer is cut
	maxObservationTime = 366 * 24 * time.Hour
)

// observationPause is how long new observations wait for more before they are streamed.
const observationPause = 100 * time.Millisecond

// observation is the encoded observation of one request.
type observation struct {
	came time.Time
	id   string
	text []byte
}

// observations are those of the last hour, as far as there is room, encoded once for all connections. Each connection
// reads at a position of its own: how many came before.
type observations struct {
	mu       sync.Mutex
	items    []observation
	gone     int64 // how many came before the items
	bytes    int
	known    map[string]struct{} // the ids of the items
	since    time.Time           // earlier ones may be missing
	limiters map[TokenHash]*rate.Limiter
}

func newObservations() *observations {
	return &observations{since: time.Now(), known: map[string]struct{}{}, limiters: map[TokenHash]*rate.Limiter{}}
}

// limiter returns the rate limiter of a reporter's token.
func (o *observations) limiter(token TokenHash) *rate.Limiter {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.limiters[token] == nil {
		o.limiters[token] = rate.NewLimiter(observationRate, observationBurst)
	}
	return o.limiters[token]
}

// add adds observations and drops the oldest. It returns how many are new.
func (o *observations) add(items []observation, now time.Time) (fresh int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, item := range items {
		if _, is := o.known[item.id]; is {
			continue
		}
		fresh++
		item.came = now
		o.known[item.id] = struct{}{}
		o.items = append(o.items, item)
		o.bytes += len(item.text)
	}
	for len(o.items) > 0 {
		oldest := o.items[0]
		full := len(o.items) > maxObservations || o.bytes > maxObservationBytes
		if !full && now.Sub(oldest.came) < observationSpan {
			break
		}
		if full {
			o.since = oldest.came
		}
		o.bytes -= len(oldest.text)
		delete(o.known, oldest.id)
		o.items[0] = observation{}
		o.items = o.items[1:]
		o.gone++
	}
	return fresh
}

// after returns the encoded observations after a position, at most limit bytes but at least one if there is one, and
// the position behind them.
func (o *observations) after(at int64, limit int) (texts [][]byte, next int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next = max(at, o.gone)
	for _, item := range o.items[next-o.gone:] {
		if limit -= len(item.text); limit < 0 && len(texts) > 0 {
			break
		}
		texts = append(texts, item.text)
		next++
	}
	return texts, next
}

// count returns how many there are, and the position behind the newest.
func (o *observations) count() (items, head int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.items)), o.gone + int64(len(o.items))
}

// wholeSince returns since when there is every observation; zero: for the whole last hour.
func (o *observations) wholeSince(now time.Time) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.since) >= observationSpan {
		return time.Time{}
	}
	return o.since.UTC()
}

// taken is the answer to a batch.
type taken struct {
	Received int `json:"received"` // new observations
	Repeated int `json:"repeated"` // known before
}

// observe accepts a batch of observations, all or none.
func (r *Relay) observe(w http.ResponseWriter, req *http.Request) {
	token, _ := bearer(req)
	limiter := r.observations.limiter(token)
	if limiter.Tokens() < 1 { // too fast: do not even read the body
		w.Header().Set("Connection", "close")
		r.refuseBatch(w, http.StatusTooManyRequests, errTooFast)
		return
	}
	body, err := readBody(w, req)
	if err != nil {
		r.refuseBatch(w, http.StatusRequestEntityTooLarge, errors.New("the body is larger than 1 MiB, or broke off"))
		return
	}
	items, err := readBatch(body)
	switch {
	case errors.Is(err, errBatchTooLong):
		r.refuseBatch(w, http.StatusRequestEntityTooLarge, err)
	case err != nil:
		r.refuseBatch(w, http.StatusUnprocessableEntity, err)
	case !limiter.AllowN(time.Now(), len(items)):
		r.refuseBatch(w, http.StatusTooManyRequests, errTooFast)
	default:
		fresh := r.observations.add(items, time.Now())
		r.hub.wakeSoon()
		r.answerJSON(w, taken{Received: fresh, Repeated: len(items) - fresh})
	}
}

var (
	errTooFast = fmt.Errorf(
		"too many observations: send at most %d a second, and this batch again later", observationRate)
	errBatchTooLong = fmt.Errorf("a batch has at most %d items", maxBatch)
)

// refuseBatch answers a batch of which nothing was accepted.
func (r *Relay) refuseBatch(w http.ResponseWriter, status int, why error) {
	r.logger.Warn("observations refused", slog.Int("status", status), slog.String("reason", why.Error()))
	refuse(w, status, why.Error())
}

// readBatch reads a whole batch, or says which item is invalid and why.
func readBatch(body []byte) ([]observation, error) {
	var batch struct {
		Items []json.RawMessage `json:"items"` // undecoded: a hostile batch takes no more memory than its text
	}
	switch err := json.Unmarshal(body, &batch); {
	case err != nil || batch.Items == nil:
		return nil, errors.New(`the body is not a batch: send {"items":[…]}`)
	case len(batch.Items) > maxBatch:
		return nil, errBatchTooLong
	}
	all := make([]observation, len(batch.Items))
	for i, text := range batch.Items {
		o, err := readObservation(text)
		if err == nil {
			all[i].id = o.ID
			all[i].text, err = json.Marshal(o)
		}
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return all, nil
}

func readObservation(text []byte) (o quota.Observation, err error) {
	if len(text) > maxObservation {
		return o, fmt.Errorf("it has more than %d bytes", maxObservation)
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &o); errors.As(err, &wrong) {
		return o, fmt.Errorf("%s has the wrong type", cmp.Or(wrong.Field, "it"))
	} else if err != nil { // the text is JSON: only a time can be wrong in other ways
		return o, errors.New("sent is not a time in RFC 3339, as in 2026-04-21T03:27:50Z")
	}
	return sound(o)
}

var observationID = regexp.MustCompile(`^[!-~]{1,128}$`)

// sound returns an observation fit to be kept and shown, its texts scrubbed and cut, or an error if it is invalid.
func sound(o quota.Observation) (quota.Observation, error) {
	switch {
	case !observationID.MatchString(o.ID):
		return o, errors.New("id has 1 to 128 printable ASCII characters without spaces")
	case o.Sent.IsZero():
		return o, errors.New("sent is missing")
	case o.Status != 0 && (o.Status < 100 || o.Status > 999):
		return o, errors.New("status is 0, for no answer, or 100 to 999")
	case len(o.IntentID) > maxObservationText:
		return o, fmt.Errorf("intentId has more than %d bytes", maxObservationText)
	case !soundTime(o.Latency) || !soundTime(o.RetryAfter):
		return o, errors.New("latencyNs or retryAfterNs is negative, or longer than 366 days")
	}
	o.Class = quota.Class(shortText(string(o.Class), maxObservationText))
	o.IntentID = string(api.ScrubID(o.IntentID))
	for _, text := range []*string{&o.Method, &o.Endpoint, &o.Key, &o.Spender, &o.State, &o.Reference} {
		*text = shortText(*text, maxObservationText)
	}
	var reports []quota.Report
	for i, r := range o.Reports {
		if r.Limit < 0 || r.Remaining < 0 || !soundTime(r.Window) || !soundTime(r.Reset) {
			return o, fmt.Errorf("reports[%d] has a number that is negative, or a time longer than 366 days", i)
		}
		r.Policy = shortText(r.Policy, maxObservationText)
		reports = append(reports, r)
	}
	o.Reports = reports
	return o, nil
}

func soundTime(d time.Duration) bool { return d >= 0 && d <= maxObservationTime }

// shortText scrubs remote text and cuts it to at most most bytes.
func shortText(s string, most int) string {
	scrubbed := string(api.Scrub(s))
	return strings.ToValidUTF8(scrubbed[:min(len(scrubbed), most)], "")
}

// sendObservations sends at most one frame of new observations. If there may be more, it asks to be called again, so
// that events can go in between.
func (c *connection) sendObservations() (sent bool, err error) {
	if !c.observing {
		return false, nil
	}
	texts, next := c.hub.observations.after(c.observed, frameBytes)
	c.observed = next
	if len(texts) == 0 {
		return false, nil
	}
	c.wake()
	var frame bytes.Buffer
	frame.WriteString(`{"t":"` + frameObservations + `","items":[`)
	frame.Write(bytes.Join(texts, []byte(",")))
	frame.WriteString("]}")
	return true, c.write(frame.Bytes())
}
