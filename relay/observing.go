package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tillwatch/api/quota"
)

const (
	// A reporter may send observationRate observations a second, and observationBurst at once after a silence.
	observationRate  = 1000
	observationBurst = 10 * maxBatch

	// reportMemorySize bounds the memory, in bytes, of large batches while they are read.
	reportMemorySize = 8 << 20

	// observationPause is how long new observations wait for more before they are streamed.
	observationPause = 100 * time.Millisecond
)

// observing takes in observations for the streams.
type observing struct {
	log    *observationLog
	memory *bodyMemory

	mu       sync.Mutex
	limiters map[TokenHash]*rate.Limiter // by reporter's token
}

func newObserving() *observing {
	return &observing{
		log: newObservationLog(time.Now()), memory: newBodyMemory(reportMemorySize), limiters: map[TokenHash]*rate.Limiter{},
	}
}

// limiter returns the rate limiter of a token.
func (o *observing) limiter(token TokenHash) *rate.Limiter {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.limiters[token]
	if l == nil {
		l = rate.NewLimiter(observationRate, observationBurst)
		o.limiters[token] = l
	}
	return l
}

// taken is the answer to a batch.
type taken struct {
	Received int `json:"received"` // new observations
	Repeated int `json:"repeated"` // known before
}

// observe accepts a batch of observations, all or none.
func (r *Relay) observe(w http.ResponseWriter, req *http.Request) {
	token, _ := bearer(req)
	limiter := r.observing.limiter(token)
	if limiter.Tokens() < 1 { // too fast: do not even read the body
		w.Header().Set("Connection", "close")
		r.refuseBatch(w, batchTooFast, errTooFast)
		return
	}
	if req.ContentLength > MaxBody {
		w.Header().Set("Connection", "close")
		r.refuseBatch(w, batchTooLarge, errBatchTooLarge)
		return
	}
	body, share, err := readBody(r.observing.memory, w, req)
	defer share.leave()
	if err != nil {
		r.refuseUnread(w, err)
		return
	}
	batch, err := readBatch(body)
	share.leave()
	if errors.Is(err, errBatchTooLong) {
		r.refuseBatch(w, batchTooLarge, err)
		return
	}
	if err != nil {
		r.refuseBatch(w, batchMalformed, err)
		return
	}
	if !limiter.AllowN(time.Now(), len(batch)) {
		r.refuseBatch(w, batchTooFast, errTooFast)
		return
	}
	fresh, err := r.publish(batch)
	if err != nil {
		r.logger.Error("observations not taken", slog.String("error", err.Error()))
		r.refuseBatch(w, batchUnavailable, errNotTaken)
		return
	}
	r.metrics.countBatch(batchTaken)
	r.metrics.observed.Add(float64(fresh))
	r.metrics.observedAgain.Add(float64(len(batch) - fresh))
	r.answerJSON(w, http.StatusOK, taken{Received: fresh, Repeated: len(batch) - fresh})
}

var (
	errTooFast       = fmt.Errorf("too many observations: send at most %d a second, and this batch again later", observationRate)
	errBatchTooLarge = errors.New("the body is larger than 1 MiB")
	errNotTaken      = errors.New("the observations could not be taken: send them again")
)

func (r *Relay) refuseUnread(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		r.refuseBatch(w, batchTooLarge, errBatchTooLarge)
	case errors.Is(err, errCrowded):
		w.Header().Set("Connection", "close")
		r.refuseBatch(w, batchUnavailable, err)
	default:
		r.refuseBatch(w, batchMalformed, errors.New("the body could not be read"))
	}
}

// refuseBatch answers a batch of which nothing was accepted.
func (r *Relay) refuseBatch(w http.ResponseWriter, as outcome, why error) {
	r.metrics.countBatch(as)
	status := map[outcome]int{
		batchMalformed: http.StatusUnprocessableEntity, batchTooLarge: http.StatusRequestEntityTooLarge,
		batchTooFast: http.StatusTooManyRequests, batchUnavailable: http.StatusServiceUnavailable,
	}[as]
	if as == batchTooFast || as == batchUnavailable {
		w.Header().Set("Retry-After", retrySeconds)
	}
	r.logger.Warn("observations refused", slog.Int("status", status), slog.String("reason", why.Error()))
	r.answerJSON(w, status, map[string]string{"message": why.Error()})
}

// publish stores observations for all streams, and returns how many are new.
func (r *Relay) publish(batch []quota.Observation) (fresh int, err error) {
	items := make([]observation, len(batch))
	for i, o := range batch {
		text, err := json.Marshal(o)
		if err != nil {
			return 0, fmt.Errorf("encode an observation: %w", err)
		}
		items[i] = observation{id: o.ID, text: text}
	}
	fresh, dropped := r.observing.log.add(items, time.Now())
	r.hub.wakeSoon()
	r.metrics.observedTooMany.Add(float64(dropped))
	return fresh, nil
}

// sendObservations sends at most one frame of new observations. If there are more, it asks to be called again, so
// that events can go in between.
func (c *connection) sendObservations() (sent bool, err error) {
	if !c.observing {
		return false, nil
	}
	texts, last, more := c.hub.observing.log.after(c.observed, frameBytes, time.Now())
	if len(texts) == 0 {
		return false, nil
	}
	var buffer bytes.Buffer
	fmt.Fprintf(&buffer, `{"t":"%s","next":"%d","items":[`, frameObservations, last)
	for i, text := range texts {
		if i > 0 {
			buffer.WriteByte(',')
		}
		buffer.Write(text)
	}
	buffer.WriteString("]}")
	if err := c.write(buffer.Bytes()); err != nil {
		return false, err
	}
	c.observed = last
	if more {
		c.wake()
	}
	return true, nil
}
