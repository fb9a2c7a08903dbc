package attention

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tillwatch/ui/process"
)

// Retries of a webhook.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	retryFor   = 2 * time.Minute
)

// Send sends a notice once. environ is the program's environment, without keys and
// tokens. The error contains nothing secret.
func (d Destination) Send(ctx context.Context, n Notice, environ []string) error {
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("writing the alert: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	if len(d.Command) > 0 {
		return d.start(ctx, n, body, environ)
	}
	return d.post(ctx, body)
}

func statusWords(status int) error {
	return errors.New("it answered " + strconv.Itoa(status) + " " + http.StatusText(status))
}

func (d Destination) post(ctx context.Context, body []byte) error {
	client := d.client()
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Webhook.Reveal(), bytes.NewReader(body))
	if err != nil {
		return errors.New("its address cannot be called")
	}
	for name, value := range d.Headers {
		request.Header.Set(name, value.Reveal())
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tillwatch")
	answer, err := client.Do(request)
	if err != nil {
		return d.unanswered(err, request.URL)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	switch s := answer.StatusCode; {
	case s >= 200 && s < 300:
		return nil
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout:
		return statusWords(s)
	default:
		return backoff.Permanent(statusWords(s)) // retrying is pointless
	}
}

// minSecret is the least length, in bytes, of a text that is hidden in errors: a shorter
// one could occur in any sentence by chance.
const minSecret = 8

// unanswered returns the error of a request without an answer. It repeats neither the
// address nor a header, although Go quotes an answer that it cannot read, and some servers
// answer with the request.
func (d Destination) unanswered(err error, address *url.URL) error {
	if outer := (*url.Error)(nil); errors.As(err, &outer) { // it repeats the address
		err = outer.Err
	}
	hidden := []string{address.RequestURI()}
	for _, value := range d.Headers {
		hidden = append(hidden, value.Reveal())
	}
	said := err.Error()
	for _, secret := range hidden {
		if len(secret) >= minSecret {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	if said == err.Error() {
		return err
	}
	return errors.New(said)
}

// endsWithin is how long a program that is too slow may take to end.
const endsWithin = time.Second

// start runs the program and waits for it. It goes through no shell, and what it
// prints goes nowhere: a screen is drawn there. One that does not end in time is ended
// with all that it started.
func (d Destination) start(ctx context.Context, n Notice, body []byte, environ []string) error {
	command := exec.CommandContext(ctx, d.Command[0], n.fill(d.Command[1:])...)
	command.Env, command.Stdin, command.WaitDelay = environ, bytes.NewReader(body), endsWithin
	process.Apart(command, endsWithin)
	err := command.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it did not end within %s", d.timeout())
	case err != nil:
		return fmt.Errorf("it failed: %w", err)
	}
	return nil
}

// insist sends a notice, and retries a webhook for a while.
func (d Destination) insist(ctx context.Context, n Notice, environ []string) error {
	if len(d.Command) > 0 {
		return d.Send(ctx, n, environ)
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstRetry, lastRetry
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, d.Send(ctx, n, environ)
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(retryFor))
	return err
}
