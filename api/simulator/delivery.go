package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

const (
	answerTimeout = 5 * time.Second // contract, Webhook receiver contract
	maxAnswer     = 64 << 10        // bytes of an answer that are read
	logEvery      = 10 * time.Second
)

// RetryPauses returns the pauses before the second and each later attempt of a delivery that was not answered with
// 200 within 5 seconds. They are real time at any speed: a receiver restarts no faster. After the last attempt the
// event is given up.
func RetryPauses() []time.Duration {
	return []time.Duration{
		500 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
	}
}

// Signature returns the value of the signature header for a body: HMAC-SHA256 over the raw bytes, keyed by the
// secret's text (contract, Authentication).
func Signature(secret api.Secret, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// attempt sends a delivery once.
func (w *webhooks) attempt(ctx context.Context, d *delivery) {
	forged := d.forged
	err := w.post(ctx, d)
	d.Took = time.Since(d.Sent)
	if err == nil && d.Type == api.VerificationChallenge && !deliveries.AnswersChallenge(d.Answer.Body, d.event.source) {
		err = w.answered(d.Status, string(d.Answer.Body), fmt.Sprintf(`200 with {"challenge":%q} and no more`, d.event.source))
	}
	if err == nil || ctx.Err() == nil {
		w.report(d, forged, err)
	}
	w.settle(ctx, d, err)
}

// post makes an attempt. Without an error, the answer has the status 200.
func (w *webhooks) post(ctx context.Context, d *delivery) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	d.State, d.Attempts, d.Sent, d.Next = deliveries.Sending, d.Attempts+1, time.Now(), time.Time{}
	d.Answer, d.Status, d.Took, d.Error = deliveries.Message{}, 0, 0, ""
	body := encode(d.event.wire())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to.URL, bytes.NewReader(body))
	if err != nil {
		return w.unanswered(err)
	}
	signature := Signature(w.cfg.SigningSecret, body)
	if d.forged {
		signature = forgedOf(signature, d.number)
	}
	prefix := w.cfg.HeaderPrefix
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "checkout-webhooks/1.0")
	// Assigned, not Set: the names go out in lower case.
	request.Header[prefix+"event-id"] = []string{d.event.id()}
	request.Header[prefix+"timestamp"] = []string{strconv.FormatInt(time.Now().Unix(), 10)}
	request.Header[prefix+"topic"] = []string{string(d.event.kind)}
	if signature != "" {
		request.Header[prefix+"signature"] = []string{signature}
	}
	d.Request = deliveries.Message{Header: request.Header, Body: body}
	w.sent.put(d.Delivery)
	answer, err := w.client.Do(request)
	if err != nil {
		return w.unanswered(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	kept := w.withoutSecrets(string(said))
	d.Status = answer.StatusCode
	d.Answer = deliveries.Message{Header: answer.Header, Body: []byte(kept[:min(len(kept), deliveries.KeptAnswer)])}
	switch {
	case err != nil:
		return w.unanswered(err)
	case answer.StatusCode != http.StatusOK:
		return w.answered(answer.StatusCode, string(said), "200")
	}
	return nil
}

// forgedOf spoils a signature: every second time it is missing.
func forgedOf(signature string, n uint64) string {
	if n%2 == 0 {
		return ""
	}
	last := byte('0')
	if signature[len(signature)-1] == last {
		last = '1'
	}
	return signature[:len(signature)-1] + string(last)
}

// report logs the outcome of an attempt. Failures of one kind share a line in each interval.
func (w *webhooks) report(d *delivery, forged bool, err error) {
	host := ""
	if u, unread := url.Parse(d.to.URL); unread == nil {
		host = u.Host // the rest may hold a secret
	}
	about := []any{"endpoint", d.to.ID, "host", host}
	challenges := d.Type == api.VerificationChallenge
	if !challenges {
		about = append(about, "event", d.event.id(), "topic", d.event.kind, "attempt", d.Attempts)
	}
	switch {
	case err == nil && challenges:
		w.logger.Info("webhook endpoint verified", about...)
	case err == nil && forged:
		w.logger.Warn("webhook endpoint took a delivery with a wrong signature, or without one", about...)
	case err == nil:
		w.logger.Debug("webhook delivered", about...)
	case challenges:
		w.logger.Warn("webhook endpoint does not answer the verification challenge", append(about, "error", err)...)
	case d.Attempts > w.cfg.Retries:
		w.logger.Warn("webhook delivery given up", append(about, "error", err)...)
	case forged: // to reject it is right
		w.logger.Debug("webhook delivery rejected", append(about, "error", err)...)
	default:
		w.logger.Warn("webhook delivery rejected", append(about, "error", err)...)
	}
}

// unanswered returns the error of an attempt without an answer. It holds no secret, and only the beginning of remote
// text.
func (w *webhooks) unanswered(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", answerTimeout)
	}
	// The URL around the cause may hold what no log should.
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return errors.New("no answer: " + w.excerpt(err.Error()))
}

// answered returns the error of an attempt with the wrong answer, worded as carefully.
func (w *webhooks) answered(status int, body, want string) error {
	with := "without a body"
	if body = w.excerpt(body); body != "" {
		with = "with " + body
	}
	return fmt.Errorf("answered %d %s; want %s", status, with, want)
}

// excerpt returns the beginning of remote text, without control characters and without the secrets of the account.
func (w *webhooks) excerpt(text string) string {
	const longest = 200
	text = strings.Join(strings.Fields(string(api.Scrub(w.withoutSecrets(text)))), " ")
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return text
}

// withoutSecrets removes the secrets of the account from a text.
func (w *webhooks) withoutSecrets(text string) string {
	for _, secret := range w.cfg.secrets() {
		if hidden := secret.Reveal(); len(hidden) >= 6 {
			text = strings.ReplaceAll(text, hidden, "…")
		}
	}
	return text
}
