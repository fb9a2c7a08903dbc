package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

const (
	answerTimeout = 5 * time.Second // contract, Webhook receiver contract
	maxAnswer     = 64 << 10
)

// RetryPauses returns the pauses before the second and each later attempt of a delivery
// that was not answered with 200 within 5 seconds. They are real time at any speed: a
// receiver restarts no faster. After the last attempt the event is given up.
func RetryPauses() []time.Duration {
	return []time.Duration{500 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}
}

// Signature returns the value of the signature header for a body: HMAC-SHA256 over the
// raw bytes, keyed by the secret's text (contract, Authentication).
func Signature(secret api.Secret, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// post makes one attempt and returns the body of the answer, which has status 200.
func (e *endpoint) post(ctx context.Context, d *delivery) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	body := encode(d.event.wire())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.summary.URL, bytes.NewReader(body))
	if err != nil {
		return nil, e.unanswered(err)
	}
	signature := Signature(e.webhooks.cfg.SigningSecret, body)
	if d.forged {
		signature = forged(signature, d.number)
	}
	prefix := e.webhooks.cfg.HeaderPrefix
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "checkout-webhooks/1.0")
	// Assigned, not Set: the names go out in lower case.
	req.Header[prefix+"event-id"] = []string{d.event.id()}
	req.Header[prefix+"timestamp"] = []string{strconv.FormatInt(time.Now().Unix(), 10)}
	req.Header[prefix+"topic"] = []string{string(d.event.kind)}
	if signature != "" {
		req.Header[prefix+"signature"] = []string{signature}
	}
	e.begin(d, req.Header, body)
	defer func() { d.sent.Took = time.Since(d.sent.Sent) }()
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.unanswered(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	e.answer(d, resp, answer)
	if err != nil {
		return nil, e.unanswered(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, e.answered(resp.StatusCode, string(answer), "200")
	}
	return answer, nil
}

// verify sends the challenge until the receiver answers it. It returns false if ctx ends
// first.
func (e *endpoint) verify(ctx context.Context) bool {
	pauses := backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, MaxInterval: 2 * time.Second, Multiplier: 2}
	want, d := e.challenge.source, delivery{event: e.challenge}
	for {
		answer, err := e.post(ctx, &d)
		if err == nil {
			if deliveries.AnswersChallenge(answer, want) {
				e.end(&d, nil, time.Time{})
				return true
			}
			err = e.answered(http.StatusOK, string(answer), fmt.Sprintf(`200 with {"challenge":%q} and no more`, want))
		}
		if ctx.Err() != nil {
			return false
		}
		e.failed(err)
		e.complaints.Warn("webhook endpoint does not answer the verification challenge", append(e.about(), "error", err)...)
		pause := pauses.NextBackOff()
		e.end(&d, err, time.Now().Add(pause))
		if api.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// about returns the log attributes that identify the endpoint.
func (e *endpoint) about() []any {
	host := ""
	if u, err := url.Parse(e.summary.URL); err == nil {
		host = u.Host // the rest may hold a secret
	}
	return []any{"endpoint", e.summary.ID, "host", host}
}

// settle counts and logs the outcome of an attempt, and plans the next one if there is
// one. It does not count an attempt that ctx ended.
func (e *endpoint) settle(ctx context.Context, d delivery, err error) {
	about := append(e.about(), "event", d.event.id(), "topic", d.event.kind)
	attempts := d.attempt + 1
	switch {
	case err == nil:
		e.webhooks.cfg.Logger.Debug("webhook delivered", append(about, "attempt", attempts)...)
		e.note(func(s *EndpointSummary) { s.Delivered++ })
		e.release(d)
		e.end(&d, nil, time.Time{})
		if d.forged {
			e.complaints.Warn("webhook endpoint took a delivery with a wrong signature, or without one", about...)
		}
		return
	case ctx.Err() != nil:
		e.due.plan(time.Now(), d) // to be abandoned with the others
		return
	}
	e.webhooks.cfg.Logger.Debug("webhook not delivered", append(about, "attempt", attempts, "error", err)...)
	e.failed(err)
	if d.attempt >= e.webhooks.cfg.Retries {
		e.note(func(s *EndpointSummary) { s.GivenUp++ })
		e.end(&d, err, time.Time{})
		e.complaints.Warn("webhook delivery given up", append(about, "attempts", attempts, "error", err)...)
		return
	}
	if !d.forged { // rejecting a forged one is right
		e.complaints.Warn("webhook delivery rejected", append(about, "error", err)...)
	}
	next := time.Now().Add(RetryPauses()[d.attempt])
	e.end(&d, err, next)
	e.due.plan(next, delivery{event: d.event, number: d.number, attempt: attempts, sent: d.sent})
}

// forged spoils a signature: every second time it is missing.
func forged(signature string, n uint64) string {
	if n%2 == 0 {
		return ""
	}
	last := byte('0')
	if signature[len(signature)-1] == last {
		last = '1'
	}
	return signature[:len(signature)-1] + string(last)
}
