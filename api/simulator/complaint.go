package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"tillwatch/api"
)

// logEvery is how long the failures of one kind are gathered for one line.
const logEvery = 10 * time.Second

// complaints log what goes wrong at an endpoint: the first failure of a kind at
// once, and those that follow in one line that counts them. Kinds are few, so the
// lines are, too.
type complaints struct {
	log   *slog.Logger
	kinds map[string]*complaint
}

// complaint is the latest failure of a kind.
type complaint struct {
	what   string         // went wrong
	err    *deliveryError // nil when the words say all
	about  []any          // attributes for the log
	logged time.Time
	times  int // since then
}

// deliveryError is what came of an attempt, in words that hold no secret and no
// more than the beginning of what a receiver wrote.
type deliveryError struct{ kind, text string }

func (e *deliveryError) Error() string { return e.text }

// unanswered is an attempt that got no answer.
func (e *endpoint) unanswered(err error) *deliveryError {
	kind := "unreachable"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &deliveryError{"timeout", fmt.Sprintf("no answer within %s", answerTimeout)}
	case errors.Is(err, syscall.ECONNREFUSED):
		kind = "refused"
	}
	// The URL around the cause may hold what no log should.
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &deliveryError{kind, "no answer: " + e.excerpt(err.Error())}
}

// answered is an attempt that got an answer other than the one that is wanted.
func (e *endpoint) answered(status int, body, want string) *deliveryError {
	with := "without a body"
	if body = e.excerpt(body); body != "" {
		with = "with " + body
	}
	return &deliveryError{strconv.Itoa(status), fmt.Sprintf("answered %d %s; want %s", status, with, want)}
}

func newComplaints(log *slog.Logger) complaints {
	return complaints{log: log, kinds: map[string]*complaint{}}
}

// add logs a failure now, or later together with others of its kind.
func (c *complaints) add(what string, err *deliveryError, about ...any) {
	kind := what
	if err != nil {
		kind += ": " + err.kind
	}
	of, known := c.kinds[kind]
	if !known {
		of = &complaint{}
		c.kinds[kind] = of
	}
	of.what, of.err, of.about = what, err, about
	of.times++
	c.flush(time.Now())
}

// flush logs what is due.
func (c *complaints) flush(now time.Time) {
	for kind, of := range c.kinds {
		switch {
		case now.Sub(of.logged) < logEvery:
		case of.times == 0:
			delete(c.kinds, kind) // the next is logged at once
		default:
			c.line(of)
			of.logged = now
		}
	}
}

// last logs what is left.
func (c *complaints) last() {
	for _, of := range c.kinds {
		if of.times > 0 {
			c.line(of)
		}
	}
	clear(c.kinds)
}

func (c *complaints) line(of *complaint) {
	about := of.about
	if of.err != nil {
		about = append([]any{"error", of.err}, about...)
	}
	if of.times > 1 {
		about = append(about, "times", of.times)
	}
	c.log.Warn(of.what, about...)
	of.times = 0
}

// wait is how long nothing is due.
func (c *complaints) wait(now time.Time) time.Duration {
	soonest := time.Hour
	for _, of := range c.kinds {
		soonest = min(soonest, max(0, logEvery-now.Sub(of.logged)))
	}
	return soonest
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
