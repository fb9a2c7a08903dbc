package command

import (
	"io"
	"net/http"
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

func TestWhatIsForwardedIsOnTheBoardAndSentAgainByAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	target := newEndpoint(t)
	answer := func(status int) {
		target.mu.Lock()
		defer target.mu.Unlock()
		target.status = status
	}
	answer(http.StatusInternalServerError)
	w.prepare = func(s *session) {
		config, err := forwardOptions{to: []string{target.url}, since: "earliest", challenge: "answer"}.config(s.settings, io.Discard)
		if err == nil {
			s.forwarder, err = forward.Open(config)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.service.CreateIntent(simulator.Order{ProductURL: "https://shop.example/products/item-01", State: api.AwaitingConfirmation}); err != nil {
		t.Fatal(err)
	}
	w.openBoard(t, 160, 45)
	w.screen.waitFor(t, `DELIVERIES 1`)
	w.screen.press(t, "8")
	w.screen.waitFor(t, `▌EVENTS .* DELIVERIES 1 .* 1 waiting`, `▌[\d:.]+  . \w+ +offer retrieved +Item 01 +127.0.0.1:\d+/webhooks .*500`)
	answer(http.StatusOK)
	w.screen.press(t, "W")
	w.screen.waitFor(t, `▌[\d:.]+  ✓ delivered +offer retrieved .*×\d+ +200`)
	w.screen.press(t, "\r")
	w.screen.waitFor(t, `▌DELIVERY `, `ANSWER 200 OK`, `x-svc-signature:`, `v0=[0-9a-f]{40}`)
	target.mu.Lock()
	defer target.mu.Unlock()
	for _, body := range target.bodies {
		if body != target.bodies[0] {
			t.Errorf("an attempt carried another body: %s", body)
		}
	}
}
