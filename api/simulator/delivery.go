package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/api"
)

const (
	answerTimeout = 5 * time.Second // contract, Webhook receiver contract
	maxAnswer     = 64 << 10
)

// RetryPauses are the pauses before the second and each later attempt of a
// delivery that was not answered with 200 within 5 seconds. They are real
// seconds at any speed, since a receiver restarts no faster. After the last, the
// event is given up.
func RetryPauses() []time.Duration {
	return []time.Duration{500 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}
}

// message is what one attempt sends.
type message struct {
	id, topic string
	body      []byte
	signature string // "" for none
}

// Signature is the value of the signature header for a body: HMAC-SHA256 over
// the raw bytes, keyed by the secret's text (contract, Authentication).
func Signature(secret api.Secret, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

func (s *Simulator) message(e event) message {
	body := encode(e.wire())
	return message{id: e.id(), topic: string(e.kind), body: body, signature: Signature(s.cfg.SigningSecret, body)}
}

// post makes one attempt and returns the body of an answer with status 200.
func (e *endpoint) post(ctx context.Context, m message) ([]byte, *deliveryError) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(m.body))
	if err != nil {
		return nil, e.sim.unanswered(err)
	}
	prefix := e.sim.cfg.HeaderPrefix
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "checkout-webhooks/1.0")
	// Assigned, not Set: the names go out in lower case.
	req.Header[prefix+"event-id"] = []string{m.id}
	req.Header[prefix+"timestamp"] = []string{strconv.FormatInt(time.Now().Unix(), 10)}
	req.Header[prefix+"topic"] = []string{m.topic}
	if m.signature != "" {
		req.Header[prefix+"signature"] = []string{m.signature}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.sim.unanswered(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, e.sim.unanswered(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, e.sim.answered(resp.StatusCode, string(answer), "200")
	}
	return answer, nil
}

// verify sends the challenge until the receiver answers it. It reports false
// when ctx ended first.
func (e *endpoint) verify(ctx context.Context, challenge event) bool {
	m := e.sim.message(challenge)
	pauses := backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, MaxInterval: 2 * time.Second, Multiplier: 2}
	for {
		answer, err := e.post(ctx, m)
		if err == nil {
			if answersChallenge(answer, challenge.source) {
				return true
			}
			err = e.sim.answered(http.StatusOK, string(answer), fmt.Sprintf(`200 with {"challenge":%q} and no more`, challenge.source))
		}
		if ctx.Err() != nil {
			return false
		}
		e.failed(err)
		e.complaints.add(trouble{what: "webhook endpoint does not answer the verification challenge", err: err, about: e.about()}, time.Now())
		if api.Sleep(ctx, pauses.NextBackOff()) != nil {
			return false
		}
	}
}

// about is what a log line calls the endpoint.
func (e *endpoint) about() []any {
	host := ""
	if u, err := url.Parse(e.url); err == nil {
		host = u.Host // the rest may hold what no log should
	}
	return []any{"endpoint", e.id, "host", host}
}

func answersChallenge(answer []byte, want string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return false
	}
	var got string
	return json.Unmarshal(fields["challenge"], &got) == nil && got == want && len(fields) == 1
}

// attempt sends a delivery once. The outcome holds the next attempt, when there
// is to be one.
func (e *endpoint) attempt(ctx context.Context, d delivery) outcome {
	m := e.sim.message(d.event)
	if d.forged {
		m.signature = forged(m.signature, d.number)
	}
	_, err := e.post(ctx, m)
	about := append(e.about(), "event", m.id, "topic", m.topic)
	if err == nil {
		e.sim.log.Debug("webhook delivered", append(about, "attempt", d.attempt+1)...)
		e.mu.Lock()
		e.delivered++
		e.mu.Unlock()
		if d.forged {
			return outcome{trouble: &trouble{what: "webhook endpoint took a delivery with a wrong signature, or without one", about: about}}
		}
		return outcome{}
	}
	if ctx.Err() != nil {
		return outcome{}
	}
	e.sim.log.Debug("webhook not delivered", append(about, "attempt", d.attempt+1, "error", err)...)
	e.failed(err)
	o := outcome{trouble: &trouble{what: "webhook delivery rejected", err: err, about: about}}
	if d.forged { // as it should be
		o.trouble = nil
	}
	if d.attempt >= e.sim.cfg.Retries {
		e.mu.Lock()
		e.givenUp++
		e.mu.Unlock()
		o.trouble = &trouble{what: "webhook delivery given up", err: err, about: append(about, "attempts", d.attempt+1)}
		return o
	}
	o.at = time.Now().Add(RetryPauses()[d.attempt])
	d.attempt++
	d.forged = false
	o.again, o.retry = d, true
	return o
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
