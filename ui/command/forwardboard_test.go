package command

import (
	"io"
	"testing"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/relay/forward"
)

// The board is there to look and confirm, too.
func TestABoardGoesOnWhenForwardingCannot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	w.prepare = func(s *session) {
		config, err := forwardOptions{to: []string{"http://127.0.0.1:1/hooks"}, since: "earliest", challenge: "answer"}.config(s.settings, io.Discard)
		if err == nil {
			s.forwarder, err = forward.Open(config)
		}
		if err == nil {
			err = s.forwarder.Close() // its state can no longer be written
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.openBoard(t, 160, 45)
	w.screen.waitFor(t, `events are no longer forwarded`)
	if _, err := w.service.CreateIntent(simulator.Order{ProductURL: "https://shop.example/products/item-01", State: api.AwaitingConfirmation}); err != nil {
		t.Fatal(err)
	}
	w.screen.waitFor(t, `awaiting 1\b`)
}
