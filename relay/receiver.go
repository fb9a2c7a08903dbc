package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/relay/journal"
)

// MaxBody is the largest delivery that a relay accepts, in bytes.
const MaxBody = 1 << 20

// receive accepts one delivery (contract, Webhook receiver contract). It answers 200 only once the event is
// durable.
func (r *Relay) receive(w http.ResponseWriter, req *http.Request) {
	if req.ContentLength > MaxBody {
		r.rejectUnread(w, &http.MaxBytesError{})
		return
	}
	given, ok := r.verifier.signature(req.Header)
	if !ok {
		r.rejectSignature(w, req, bodyToDiagnose(req))
		return
	}
	body, err := readBody(w, req)
	if err != nil {
		r.rejectUnread(w, err)
		return
	}
	verified, ok := r.verifier.verify(body, given)
	if !ok {
		r.rejectSignature(w, req, body)
		return
	}
	r.metrics.bytes.Add(float64(len(body)))
	// The sender may give up and never retry: store verified deliveries anyway.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), r.budget)
	defer cancel()
	r.accept(ctx, w, verified, req.Header.Get("Content-Encoding"))
}

// readBody reads a body of at most MaxBody.
func readBody(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	whole := http.MaxBytesReader(w, req.Body, MaxBody)
	body, err := io.ReadAll(io.LimitReader(whole, smallBody))
	if err != nil || len(body) < smallBody {
		return body, err
	}
	holdLarge(req.Context())
	rest, err := io.ReadAll(whole)
	return append(body, rest...), err
}

// rejectSignature answers a delivery whose signature is missing or wrong. Anyone can send one, so it raises no doubt
// about what the journal has.
func (r *Relay) rejectSignature(w http.ResponseWriter, req *http.Request, body []byte) {
	r.metrics.count(outcomeUnauthorized)
	r.logger.Warn("delivery rejected: the signature is missing or wrong", slog.Int("status", http.StatusUnauthorized))
	refuse(w, http.StatusUnauthorized, "the signature is missing or wrong") // always the same
	if len(req.Header[r.verifier.header]) > 0 {
		r.signatures.note(req.Header, body)
	}
}

// rejectUnread answers a delivery whose body is too large, broke off or took too long.
func (r *Relay) rejectUnread(w http.ResponseWriter, err error) {
	outcome, status, message := outcomeUnread, http.StatusBadRequest, "the body could not be read"
	if errors.As(err, new(*http.MaxBytesError)) {
		outcome, status, message = outcomeTooLarge, http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"
		w.Header().Set("Connection", "close")
	}
	r.metrics.count(outcome)
	r.logger.Warn("delivery rejected: the body is too large, broke off or took too long", slog.Int("status", status))
	refuse(w, status, message)
}

// accept stores a verified body, or answers the challenge in it. Nothing is decompressed: the encoding that the header
// names only explains why a body cannot be read.
func (r *Relay) accept(ctx context.Context, w http.ResponseWriter, v Verified, encoding string) {
	d, err := readDelivery(v.body)
	switch {
	case errors.Is(err, errNotUTF8) && compresses(encoding):
		r.quarantine(ctx, w, v, fmt.Errorf("compressed (Content-Encoding: %s), so it cannot be read", encoding))
	case err != nil:
		r.quarantine(ctx, w, v, err)
	case d.kind != string(api.VerificationChallenge):
		r.store(ctx, w, v, d)
	case d.sourceID == "":
		r.quarantine(ctx, w, v, errNoChallenge)
	default:
		r.logger.Info("challenge answered", slog.String("endpoint", string(api.Scrub(d.sourceID))))
		r.metrics.count(outcomeChallenge)
		r.answerJSON(w, map[string]string{"challenge": d.sourceID})
	}
}

// compresses reports whether a Content-Encoding names a compression.
func compresses(encoding string) bool {
	return slices.Contains([]string{"gzip", "deflate", "br", "zstd"}, encoding)
}

func (r *Relay) store(ctx context.Context, w http.ResponseWriter, v Verified, d delivery) {
	var results []journal.Result
	err := r.timed(func(began time.Time) (err error) {
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
	if !results[0].Duplicate {
		vouchFor(ctx)
	}
	r.noteStored(ctx, d, results[0])
	w.WriteHeader(http.StatusOK)
}

// noteStored counts and logs the outcome of a delivery.
func (r *Relay) noteStored(ctx context.Context, d delivery, result journal.Result) {
	level, words, became := slog.LevelDebug, "event stored", outcomeStored
	switch {
	case result.Conflict:
		level, became = slog.LevelWarn, outcomeConflict
		words = "event delivered again with a different body: the first is kept"
	case result.Duplicate:
		words, became = "event delivered again", outcomeDuplicate
	}
	r.metrics.count(became)
	if !r.logger.Enabled(ctx, level) {
		return
	}
	r.logger.LogAttrs(ctx, level, words,
		slog.Int64("seq", result.Seq), slog.String("id", string(api.ScrubID(d.id))),
		slog.String("type", string(api.Scrub(d.kind))))
}

// quarantine keeps a signed body that is not an event, and acknowledges it: sent again, it would be no event
// either.
func (r *Relay) quarantine(ctx context.Context, w http.ResponseWriter, v Verified, reason error) {
	err := r.timed(func(began time.Time) error {
		return r.journal.Quarantine(ctx, journal.Unreadable{
			Received: began.UTC(), Reason: reason.Error(), Body: v.body,
		})
	})
	if err != nil {
		r.unavailable(w, err)
		return
	}
	r.metrics.count(outcomeQuarantined)
	r.logger.Warn("signed body is not an event: quarantined",
		slog.String("reason", reason.Error()), slog.Int("bytes", len(v.body)))
	w.WriteHeader(http.StatusOK)
}

// timed runs write and records how long it took and whether it succeeded.
func (r *Relay) timed(write func(began time.Time) error) error {
	began := time.Now()
	err := write(began)
	r.metrics.store.Observe(time.Since(began).Seconds())
	r.readiness.noteWrite(err)
	return err
}

// unavailable answers that a delivery may not have been stored. The sender may retry: the journal keeps an id
// once.
func (r *Relay) unavailable(w http.ResponseWriter, err error) {
	r.metrics.count(outcomeUnavailable)
	r.backfill.suspect()
	r.logger.Error("delivery not stored", slog.String("error", err.Error()))
	refuse(w, http.StatusServiceUnavailable, "the event could not be stored: send it again")
}

// Why a signed body is not an event.
var (
	errNotUTF8     = errors.New("not UTF-8")
	errNotJSON     = errors.New("not JSON")
	errNotObject   = errors.New("not a JSON object")
	errNoID        = errors.New("no id")
	errNoType      = errors.New("no type")
	errNoChallenge = errors.New("a challenge without source.id")
)

// delivery is what the relay reads of an event's body: the exact id, so that different ids stay different, and no
// more than it needs.
type delivery struct {
	id       string
	kind     string
	created  time.Time // zero when it cannot be read
	sourceID string
}

// readDelivery requires an id and a type (contract, Event); of a challenge only the type, as nothing else makes it
// one (contract, Webhook receiver contract). If a name appears twice, the last value counts.
func readDelivery(body []byte) (delivery, error) {
	var d delivery
	if !utf8.Valid(body) {
		return d, errNotUTF8
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // RFC 8259, 8.1
	if !json.Valid(body) {
		return d, errNotJSON
	}
	event := gjson.ParseBytes(body)
	if !event.IsObject() {
		return d, errNotObject
	}
	event.ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "id":
			d.id = api.IDText(textOf(value), value.Raw)
		case "type":
			d.kind = textOf(value)
		case "createdAt":
			d.created = boundedTime(api.ParseTime(textOf(value)))
		case "source":
			d.sourceID = textOf(value.Get("id"))
		}
		return true
	})
	switch {
	case d.id == "" && d.kind != string(api.VerificationChallenge): // a challenge is not stored
		return d, errNoID
	case d.kind == "":
		return d, errNoType
	}
	return d, nil
}

// boundedTime returns zero for a time that cannot be kept as nanoseconds since 1970.
func boundedTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1971 || t.Year() > 2261 {
		return time.Time{}
	}
	return t
}

// textOf copies a text, so that it does not keep the whole body in memory.
func textOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.Clone(v.Str)
}

// origins lets pages of these origins send deliveries (contract, Delivery headers: a browser-facing receiver
// allows the four custom headers).
type origins struct {
	allowed map[string]bool
	headers string
}

func newOrigins(allowed []string, headerPrefix string) (origins, error) {
	o := origins{allowed: map[string]bool{}}
	for _, origin := range allowed {
		u, err := url.Parse(origin)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return o, fmt.Errorf("origin %.80q: give scheme and host alone, as in https://shop.example", origin)
		}
		o.allowed[strings.ToLower(origin)] = true
	}
	names := []string{"content-type"}
	for _, name := range []string{"signature", "event-id", "timestamp", "topic"} {
		names = append(names, strings.ToLower(headerPrefix)+name)
	}
	o.headers = strings.Join(names, ", ")
	return o, nil
}

// admit lets the requesting page read the answer, if its origin is allowed.
func (o origins) admit(w http.ResponseWriter, req *http.Request) bool {
	if len(o.allowed) == 0 {
		return false // no answer depends on the origin
	}
	w.Header().Add("Vary", "Origin")
	origin := req.Header.Get("Origin")
	if !o.allowed[strings.ToLower(origin)] {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// preflight answers what a browser asks before it delivers.
func (o origins) preflight(w http.ResponseWriter, req *http.Request) {
	if !o.admit(w, req) {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", o.headers)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
