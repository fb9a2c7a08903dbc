package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/delivery"
	"tillwatch/api/simulator"
)

// ownStandIn is a stand-in that runs for as long as a command does.
type ownStandIn struct {
	to    string // endpoint of its events; "": none
	speed float64
	seed  uint64

	patience time.Duration // how long the endpoint may take to answer the challenge, and then to take all events
}

// run lets something be done to it, and waits until its events are delivered.
func (o ownStandIn) run(ctx context.Context, s settings, do func(context.Context, *api.Client) error) error {
	secret := api.NewSecret(rand.Text()) // never used where nothing is delivered
	if secrets := s.signingSecrets(); len(secrets) > 0 {
		secret = secrets[0]
	} else if o.to != "" {
		return usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET to that of the endpoint, or give --signing-secret-file")
	}
	key := api.NewSecret(rand.Text())
	service, err := simulator.New(simulator.Config{
		Key: key, SigningSecret: secret, WebhookURL: o.to, HeaderPrefix: s.HeaderPrefix, Seed: o.seed, Speed: o.speed,
		History: -1, ProductEventsPerMinute: -1, Timings: simulator.Timings{Spread: -1},
	})
	if err != nil {
		return usage(err)
	}
	client, err := api.New(api.Config{BaseURL: "http://127.0.0.1", Key: key, Transport: simulator.RoundTripper{Handler: service.Handler()}})
	if err != nil {
		return err
	}
	return alongside(ctx, func(ctx context.Context) error {
		if err := o.verified(ctx, service); err != nil {
			return err
		}
		err := do(ctx, client)
		if err != nil || o.to == "" {
			return err
		}
		return o.delivered(ctx, service)
	}, service.Run)
}

// verified waits until the endpoint has answered the challenge.
func (o ownStandIn) verified(ctx context.Context, service *simulator.Simulator) error {
	for began := time.Now(); ; {
		all := service.Summary().Endpoints
		switch {
		case len(all) == 0 || all[0].Verified:
			return nil
		case time.Since(began) > o.patience:
			return fmt.Errorf("the endpoint of --to does not answer the verification challenge: %s", api.Scrub(all[0].LastError))
		}
		if err := api.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// delivered waits until every event was delivered, or lost on purpose, and says which
// were not taken.
func (o ownStandIn) delivered(ctx context.Context, service *simulator.Simulator) error {
	for began, settled := time.Now(), 0; settled < 2; { // twice in a row: a doubled one follows at once
		all, _ := service.Deliveries().Since(0)
		known, open, last := map[api.ID]bool{}, 0, delivery.Delivery{}
		for _, d := range all {
			if d.Type == api.VerificationChallenge {
				continue
			}
			known[d.Event] = true
			if d.State != delivery.Delivered && d.State != delivery.Lost {
				open, last = open+1, *d
			}
		}
		sum := service.Summary()
		missing := sum.Events - len(sum.Endpoints) - len(known)
		settled++
		if open+missing > 0 {
			settled = 0
		}
		if time.Since(began) > o.patience {
			return fmt.Errorf("the endpoint of --to has not taken %d events, such as %s: %s", open+missing, last.Event, last.Error)
		}
		if err := api.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
