package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
)

const (
	clientTimeout = 15 * time.Second
	// maxAnswer bounds a relay's answer, in bytes.
	maxAnswer = 128 << 20
)

// client calls a relay's HTTP endpoints.
type client struct {
	base  string
	token api.Secret
	http  http.Client
}

// newClient takes a relay's address in the same forms as a subscriber.
func newClient(url string, token api.Secret, insecure bool) (*client, error) {
	u, err := streamURL(url, insecure)
	if err != nil {
		return nil, err
	}
	u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	u.Path = strings.TrimSuffix(u.Path, StreamPath)
	return &client{base: u.String(), token: token, http: http.Client{
		Timeout: clientTimeout, Transport: api.TransportTo(u.Hostname()),
		// net/http would send the token along to the same host, even over http.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// do sends a request and returns the answer, whatever its status.
func (c *client) do(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("ask the relay: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answered, err := c.http.Do(req)
	if err != nil {
		return 0, nil, unanswered(c.base, err)
	}
	defer answered.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(answered.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("read the relay's answer: %w", err)
	}
	return answered.StatusCode, answer, nil
}

// refusalFor returns the error for an answer other than 200 to a request that needs scope.
func refusalFor(status int, body []byte, scope Scope) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return fmt.Errorf("the relay's address redirects (%d), and redirects are not followed: set the address it leads to", status)
	case http.StatusUnauthorized:
		return &RefusedError{status, "the relay does not accept the token (401): set a valid one"}
	case http.StatusForbidden:
		return &RefusedError{status, fmt.Sprintf("the relay forbids this token to %s (403): use one with the scope %s", scope, scope)}
	}
	return fmt.Errorf("the relay answered %d: %s", status, messageOf(body))
}

// messageOf returns the message of an error answer.
func messageOf(body []byte) api.Text {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		return "without a message"
	}
	return api.Scrub(said.Message)
}
