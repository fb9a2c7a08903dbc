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

// logEvery is how long the failures of one kind are gathered for one line.
const logEvery = 10 * time.Second

// complain has the endpoint's complaints go to the log: the first failure of a kind at
// once, and those that follow in one line that counts them. tell tells what is left.
func (e *endpoint) complain() (tell func()) {
	throttle := listener.NewThrottle(e.webhooks.cfg.Logger.Handler(), logEvery)
	e.complaints = slog.New(throttle)
	return throttle.Close
}

// unanswered is an attempt that got no answer, in words that hold no secret and no more
// than the beginning of what somebody else wrote.
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

// answered is an attempt that got an answer other than the one that is wanted, in such
// words.
func (e *endpoint) answered(status int, body, want string) error {
	with := "without a body"
	if body = e.excerpt(body); body != "" {
		with = "with " + body
	}
	return fmt.Errorf("answered %d %s; want %s", status, with, want)
}

// excerpt is the beginning of what somebody else wrote, without control characters
// and without the secrets of the account.
func (e *endpoint) excerpt(text string) string {
	const longest = 200
	text = strings.Join(strings.Fields(string(api.Scrub(e.withoutSecrets(text)))), " ")
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return text
}

// withoutSecrets is a text without the secrets of the account.
func (e *endpoint) withoutSecrets(text string) string {
	for _, secret := range e.webhooks.cfg.secrets() {
		if hidden := secret.Reveal(); len(hidden) >= 6 {
			text = strings.ReplaceAll(text, hidden, "…")
		}
	}
	return text
}
