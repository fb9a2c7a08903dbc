package forward

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/relay"
)

// challenge sends the target a verification challenge until it answers correctly, as
// the service does when somebody saves the address of an endpoint (contract, Webhook
// receiver contract).
func (w *worker) challenge(ctx context.Context) error {
	source := "we_" + strings.ToLower(rand.Text()[:16])
	body := fmt.Appendf(nil, `{"id":"evt_%s_verification_challenge","object":"event","type":%q,"createdAt":%q,"source":{"type":%q,"id":%q}}`,
		source, api.VerificationChallenge, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), api.SourceWebhookEndpoint, source)
	event, err := api.DecodeEvent(body)
	if err != nil {
		return err
	}
	h := w.heldOf(relay.Item{Event: event, Received: time.Now()}, "")
	for {
		h.Delivery = w.f.config.Sender.Send(ctx, w.target.URL, h.Item, h.Delivery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		answered := h.Delivery.State == delivery.Delivered && delivery.AnswersChallenge(h.Delivery.Answer.Body, source)
		if h.Delivery.State == delivery.Delivered && !answered {
			h.Delivery.State, h.Delivery.Error = delivery.Waiting, api.Scrub(fmt.Sprintf(`it has to answer {"challenge":%q} and no more`, source))
		}
		wait := max(pause(h.Delivery.Attempts), askedPause(&h.Delivery))
		if !answered {
			h.Delivery.Next = time.Now().Add(wait)
		}
		if w.f.report(*h); answered {
			return nil
		}
		if err := api.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
