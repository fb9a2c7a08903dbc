package forward

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// challenge has the target answer a verification challenge, as the service does when
// the address of an endpoint is saved (contract, Webhook receiver contract). It is
// tried until the answer is right.
func (l *lane) challenge(ctx context.Context) error {
	source := "we_" + strings.ToLower(rand.Text()[:16])
	event, err := challengeOf(source, time.Now())
	if err != nil {
		return err
	}
	h := l.heldOf(relay.Item{Event: event, Received: time.Now()}, "")
	for {
		h.Delivery = l.f.config.Sender.Send(ctx, l.target.URL, h.Item, h.Delivery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		answered := h.Delivery.State == delivery.Delivered && answers(h.Delivery.Answer.Body, source)
		if h.Delivery.State == delivery.Delivered && !answered {
			h.Delivery.State, h.Delivery.Error = delivery.Waiting, api.Scrub(fmt.Sprintf(`it has to answer {"challenge":%q} and no more`, source))
		}
		wait := pause(h.Delivery.Attempts)
		if !answered {
			h.Delivery.Next = time.Now().Add(wait)
		}
		if l.f.tell(*h); answered {
			return nil
		}
		if err := api.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func challengeOf(source string, at time.Time) (api.Event, error) {
	body, err := json.Marshal(struct {
		ID        string         `json:"id"`
		Object    string         `json:"object"`
		Type      api.EventType  `json:"type"`
		CreatedAt string         `json:"createdAt"`
		Source    map[string]any `json:"source"`
	}{
		"evt_" + source + "_verification_challenge", "event", api.VerificationChallenge, at.UTC().Format("2006-01-02T15:04:05.000Z"),
		map[string]any{"type": api.SourceWebhookEndpoint, "id": source},
	})
	if err != nil {
		return api.Event{}, err
	}
	return api.DecodeEvent(body)
}

// answers reports whether the body of an answer is the one field that is asked for.
func answers(body []byte, source string) bool {
	var fields map[string]any
	return json.Unmarshal(body, &fields) == nil && len(fields) == 1 && fields["challenge"] == source
}
