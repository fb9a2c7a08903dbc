package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
func (e *endpoint) post(ctx context.Context, m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(m.body))
	if err != nil {
		return nil, fmt.Errorf("building a delivery: %w", err)
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
		// The URL around the cause may hold what no log should.
		if wrapped := new(url.Error); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("delivering: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the answer to a delivery: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("delivering: answered %d, want 200", resp.StatusCode)
	}
	return answer, nil
}

// verify sends the challenge until the receiver answers it. It reports false
// when ctx ended first.
func (e *endpoint) verify(ctx context.Context, challenge event) bool {
	m := e.sim.message(challenge)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		answer, err := e.post(ctx, m)
		if err == nil {
			if err = checkChallenge(answer, challenge.source); err == nil {
				return true
			}
		}
		e.failed(err)
		if !wait(ctx, pause) {
			return false
		}
	}
}

func checkChallenge(answer []byte, want string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil {
		return fmt.Errorf("the answer to the challenge is not a JSON object: %w", err)
	}
	var got string
	if err := json.Unmarshal(fields["challenge"], &got); err != nil || got != want || len(fields) != 1 {
		return fmt.Errorf("the answer to the challenge must be one field, challenge, equal to source.id")
	}
	return nil
}

// wait sleeps and reports false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
