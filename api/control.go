package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ErrNotStandIn is the error of [Client.Control] if the service itself answers, or may.
var ErrNotStandIn = errors.New("this is not a stand-in for the service")

// Control makes a request to the control API of a stand-in, which is not part of
// the contract. It carries a key that the service refuses, so that nothing happens if
// no stand-in answers; the error is then [ErrNotStandIn]. Unlike the rest of a client it
// looks for a stand-in on other machines, too. body is sent as JSON and the answer is
// decoded into into; either may be nil.
func (c *Client) Control(ctx context.Context, method, path string, body, into any) error {
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("%s %s: not sent: its query cannot be read", method, path)
	}
	request := call{method: method, path: path, query: values, standIn: true}
	if name := c.environment.Name; !c.onLoopback && (name == production || name == staging) {
		return fmt.Errorf("%s is %s: %w", Scrub(c.base.Host), name, ErrNotStandIn)
	}
	if body != nil {
		if request.body, err = json.Marshal(body); err != nil {
			return request.notSent(err)
		}
	}
	err = c.do(ctx, request, func(answer []byte, of Response) error {
		if !of.From.StandIn {
			return ErrNotStandIn
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(answer, into)
	})
	var refused *Error
	if errors.Is(err, ErrNotStandIn) || errors.As(err, &refused) && !refused.From.StandIn {
		return fmt.Errorf("%s: %w", Scrub(c.base.Host), ErrNotStandIn)
	}
	return err
}
