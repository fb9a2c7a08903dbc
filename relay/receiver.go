package relay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

const (
	// MaxBody is the largest delivery that a relay accepts, in bytes.
	MaxBody = 1 << 20

	// A body up to smallBody is read at once; for more, a delivery takes one of
	// largeBodies places, which bound the memory that strangers can fill. There are
	// as many for connections over which a valid signature has come: strangers who
	// dawdle in theirs do not hold up the sender.
	smallBody   = 16 << 10
	largeBodies = 16

	// maxAppends bounds the deliveries that wait for the journal.
	maxAppends = 1024
)

// The answers of the receiver that have a body. That of a failed authentication
// is the same in every case.
const (
	unauthorizedBody = `{"message":"the signature is missing or wrong"}` + "\n"
	tooLargeBody     = `{"message":"the body is larger than 1 MiB"}` + "\n"
	unreadBody       = `{"message":"the body could not be read"}` + "\n"
	unavailableBody  = `{"message":"the event could not be stored: send it again"}` + "\n"
)

// receive takes one delivery (contract, Webhook receiver contract). It answers
// 200 only when the event is durable, now or from before.
func (r *Relay) receive(w http.ResponseWriter, req *http.Request) {
	if req.ContentLength > MaxBody {
		w.Header().Set("Connection", "close")
		r.reject(w, outcomeTooLarge)
		return
	}
	given, ok := r.verifier.signature(req.Header)
	if !ok {
		r.reject(w, outcomeUnauthorized)
		return
	}
	body, waited, err := r.readBody(w, req)
	if err != nil {
		r.answerUnread(w, err)
		return
	}
	verified, ok := r.verifier.verify(body, given)
	if !ok {
		r.reject(w, outcomeUnauthorized)
		return
	}
	vouch(req.Context())
	// The sender may give up and never repeat: what is verified is stored anyway.
	ctx, cancel := r.budgets.begin(waited)
	defer cancel()
	r.metrics.bytes.Add(float64(len(body)))
	r.accept(ctx, w, verified)
}

// reject answers what was not accepted.
func (r *Relay) reject(w http.ResponseWriter, why outcome) {
	r.metrics.count(why)
	status, body := http.StatusUnauthorized, unauthorizedBody
	switch why {
	case outcomeTooLarge:
		status, body = http.StatusRequestEntityTooLarge, tooLargeBody
	case outcomeUnread:
		status, body = http.StatusBadRequest, unreadBody
	}
	if suppressed, log := r.rejections.admit(time.Now()); log {
		r.logger.Warn("delivery rejected", slog.Int("status", status), slog.Int("more_since_last", suppressed))
	}
	answer(w, status, body)
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

var errNoPlace = errors.New("too many large bodies at once")

// readBody reads at most MaxBody bytes. It also returns how long a large body
// waited for its place.
func (r *Relay) readBody(w http.ResponseWriter, req *http.Request) (body []byte, waited time.Duration, err error) {
	if req.ContentLength >= 0 && req.ContentLength <= smallBody {
		body = make([]byte, req.ContentLength)
		_, err = io.ReadFull(req.Body, body)
		return body, 0, err
	}
	limited := http.MaxBytesReader(w, req.Body, MaxBody)
	body = make([]byte, smallBody)
	n, err := io.ReadFull(limited, body)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF && req.ContentLength < 0:
		return body[:n], 0, nil
	case err != nil:
		return nil, 0, err
	}
	places := r.large
	if vouched(req.Context()) {
		places = r.largeKnown
	}
	began := time.Now()
	timeout := time.NewTimer(r.storeBudget)
	defer timeout.Stop()
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-timeout.C:
		return nil, 0, errNoPlace
	case <-req.Context().Done():
		return nil, 0, req.Context().Err()
	}
	waited = time.Since(began)
	body, err = readLarge(limited, body)
	return body, waited, err
}

// readLarge reads what follows begun.
func readLarge(limited io.Reader, begun []byte) ([]byte, error) {
	body := make([]byte, len(begun), MaxBody+1)
	copy(body, begun)
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Relay) answerUnread(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		r.reject(w, outcomeTooLarge)
	case errors.Is(err, errNoPlace):
		r.unavailable(w, err)
	default:
		r.reject(w, outcomeUnread)
	}
}

// accept stores a verified body, or answers the challenge in it.
func (r *Relay) accept(ctx context.Context, w http.ResponseWriter, v Verified) {
	d, err := readDelivery(v)
	switch {
	case err != nil:
		r.quarantine(ctx, w, v, err)
	case d.kind != string(api.VerificationChallenge):
		r.store(ctx, w, v, d)
	case d.sourceID == "":
		r.quarantine(ctx, w, v, errNoChallenged)
	default:
		r.logger.Info("challenge answered", slog.String("endpoint", string(api.Scrub(d.sourceID))))
		challenge, err := json.Marshal(map[string]string{"challenge": d.sourceID})
		if err != nil { // a string always has a JSON form
			r.quarantine(ctx, w, v, err)
			return
		}
		r.metrics.count(outcomeChallenge)
		answer(w, http.StatusOK, string(challenge))
	}
}

func (r *Relay) store(ctx context.Context, w http.ResponseWriter, v Verified, d delivery) {
	var results []journal.Result
	err := r.withPlace(ctx, func(began time.Time) (err error) {
		results, err = r.journal.Append(ctx, []journal.Entry{{
			ID:        d.id,
			Type:      d.kind,
			CreatedAt: d.created,
			Received:  began.UTC(),
			Origin:    journal.Webhook,
			Body:      v.body,
		}})
		return err
	})
	if err != nil {
		r.unavailable(w, err)
		return
	}
	r.noteStored(ctx, d, results[0])
	w.WriteHeader(http.StatusOK)
}

// noteStored counts and logs what became of a delivery.
func (r *Relay) noteStored(ctx context.Context, d delivery, result journal.Result) {
	level, words, became := slog.LevelDebug, "event stored", outcomeStored
	switch {
	case result.Conflict:
		level, words, became = slog.LevelWarn, "event repeated with another body: the first is kept", outcomeConflict
	case result.Duplicate:
		words, became = "event repeated", outcomeDuplicate
	}
	r.metrics.count(became)
	if !r.logger.Enabled(ctx, level) {
		return
	}
	r.logger.LogAttrs(ctx, level, words,
		slog.Int64("seq", result.Seq), slog.String("id", string(api.ScrubID(d.id))), slog.String("type", string(api.Scrub(d.kind))))
}

// quarantine keeps a signed body that is no event, and acknowledges it: the
// same body again would not be one either.
func (r *Relay) quarantine(ctx context.Context, w http.ResponseWriter, v Verified, reason error) {
	err := r.withPlace(ctx, func(began time.Time) error {
		return r.journal.Quarantine(ctx, journal.Unreadable{
			Received: began.UTC(), Reason: reason.Error(), Body: v.body,
		})
	})
	if err != nil {
		r.unavailable(w, err)
		return
	}
	r.metrics.count(outcomeQuarantined)
	r.logger.Warn("signed body is no event: quarantined", slog.String("reason", reason.Error()), slog.Int("bytes", len(v.body)))
	w.WriteHeader(http.StatusOK)
}

// withPlace runs write in one of the places that bound the waiting writes.
func (r *Relay) withPlace(ctx context.Context, write func(began time.Time) error) error {
	select {
	case r.appends <- struct{}{}:
		defer func() { <-r.appends }()
		began := time.Now()
		err := write(began)
		r.metrics.store.Observe(time.Since(began).Seconds())
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unavailable answers that a delivery was not stored for certain. The sender
// may repeat it: the journal keeps an id once.
func (r *Relay) unavailable(w http.ResponseWriter, err error) {
	r.metrics.count(outcomeUnavailable)
	r.backfill.suspect()
	r.logger.Error("delivery not stored", slog.String("error", err.Error()))
	w.Header().Set("Retry-After", "2")
	answer(w, http.StatusServiceUnavailable, unavailableBody)
}
