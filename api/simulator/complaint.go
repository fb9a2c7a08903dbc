package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"tillwatch/api"
	"tillwatch/api/listener"
)

// logEvery is the interval in which failures of one kind share a log line.
const logEvery = 10 * time.Second

// complain logs the endpoint's complaints from now on, throttled: the first failure of
// a kind at once, further ones in one line that counts them. flush logs the remaining
// counts.
func (e *endpoint) complain() (flush func()) {
	throttle := listener.NewThrottle(e.webhooks.cfg.Logger.Handler(), logEvery)
	e.complaints = slog.New(throttle)
	return throttle.Close
}

// unanswered returns the error of an attempt without an answer. It contains no secret,
// and only the beginning of remote text.
func (e *endpoint) unanswered(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", answerTimeout)
	}
	// The URL around the cause may hold what no log should.
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return errors.New("no answer: " + e.excerpt(err.Error()))
}

// answered returns the error of an attempt with the wrong answer, worded as carefully.
func (e *endpoint) answered(status int, body, want string) error {
	with := "without a body"
	if body = e.excerpt(body); body != "" {
		with = "with " + body
	}
	return fmt.Errorf("answered %d %s; want %s", status, with, want)
}

// excerpt returns the beginning of remote text, without control characters and without
// the secrets of the account.
func (e *endpoint) excerpt(text string) string {
	const longest = 200
	text = strings.Join(strings.Fields(string(api.Scrub(e.withoutSecrets(text)))), " ")
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return text
}

// withoutSecrets removes the secrets of the account from a text.
func (e *endpoint) withoutSecrets(text string) string {
	for _, secret := range e.webhooks.cfg.secrets() {
		if hidden := secret.Reveal(); len(hidden) >= 6 {
			text = strings.ReplaceAll(text, hidden, "…")
		}
	}
	return text
}
