package simulator

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	deliveries "tillwatch/api/delivery"
)

// delivered is the newest delivery of a type.
func (a *account) delivered(kind api.EventType) *deliveries.Delivery {
	a.Helper()
	all, _ := a.sim.Deliveries().Since(0)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Type == kind {
			return all[i]
		}
	}
	a.Fatalf("no delivery of %s among %d", kind, len(all))
	return nil
}

func (a *account) answers(answer func(d attempt) (int, string)) {
	a.receiver.mu.Lock()
	defer a.receiver.mu.Unlock()
	a.receiver.answer = answer
}

// refuses answers every event with a status and a body, but challenges rightly.
func refuses(status int, body string) func(d attempt) (int, string) {
	return func(d attempt) (int, string) {
		if d.kind() == string(api.VerificationChallenge) {
			return 0, ""
		}
		return status, body
	}
}

func TestDeliveriesAreKeptWithTheirAnswers(t *testing.T) {
	plainRows{
		"one that was taken, with both sides": func(a *account) {
			id := a.create(magicURL("sold-out"))
			later(10 * time.Second)
			d, got := a.delivered(api.OfferFailed), a.receiver.got(api.OfferFailed)[0]
			if d.State != deliveries.Delivered || d.Attempts != 1 || d.Status != http.StatusOK || string(d.Source) != id || d.Target != "http://receiver.example/hooks" {
				a.Errorf("kept: %+v", d)
			}
			if string(d.Request.Body) != string(got.body) || !slices.Equal(exact(d.Request.Header, "x-svc-signature"), exact(got.header, "x-svc-signature")) {
				a.Errorf("the request that is kept is not the one that was sent: %q", d.Request)
			}
			if string(d.Answer.Body) != "{}" {
				a.Errorf("answered %q", d.Answer.Body)
			}
		},
		"the challenge is one": func(a *account) {
			if d := a.delivered(api.VerificationChallenge); d.State != deliveries.Delivered || !strings.Contains(string(d.Answer.Body), "challenge") {
				a.Errorf("kept: %+v", d)
			}
		},
		"one that is refused waits for its next attempt, and in the end is dead": func(a *account) {
			a.answers(refuses(http.StatusInternalServerError, strings.Repeat("no ", 3000)))
			a.create(magicURL("sold-out"))
			later(8*time.Second + 200*time.Millisecond)
			d := a.delivered(api.OfferFailed)
			if d.State != deliveries.Waiting || d.Attempts != 1 || d.Status != http.StatusInternalServerError || d.Next.Sub(d.Sent) != RetryPauses()[0] {
				a.Errorf("kept: %+v", d)
			}
			if len(d.Answer.Body) != deliveries.KeptAnswer {
				a.Errorf("%d bytes of the answer are kept", len(d.Answer.Body))
			}
			later(5 * time.Minute)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Dead || d.Attempts != 1+len(RetryPauses()) || !d.Next.IsZero() {
				a.Errorf("kept: %+v", d)
			}
		},
		"one under way is shown, and its silence told": func(a *account) {
			a.answers(refuses(-1, ""))
			a.create(magicURL("sold-out"))
			later(9 * time.Second)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Sending || d.Status != 0 {
				a.Errorf("kept: %+v", d)
			}
			later(4*time.Second + 200*time.Millisecond)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Waiting || d.Took != answerTimeout || !strings.HasPrefix(string(d.Error), "no answer") {
				a.Errorf("kept: %+v", d)
			}
		},
		"the secret that an answer repeats is not": func(a *account) {
			a.answers(refuses(http.StatusBadRequest, "key was "+testSecret))
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			if d := a.delivered(api.OfferFailed); strings.Contains(string(d.Answer.Body)+string(d.Error), testSecret) || len(d.Answer.Body) == 0 {
				a.Errorf("kept: %q", d.Answer.Body)
			}
		},
		"one that ends with its endpoint waits no more": func(a *account) {
			a.answers(refuses(http.StatusInternalServerError, ""))
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"http://receiver.example/hooks"}`))
			later(time.Second)
			d := a.delivered(api.OfferFailed)
			if d.State != deliveries.Dead {
				a.Errorf("kept: %+v", d)
			}
			if err := a.sim.Redeliver(d.ID); err == nil || !strings.Contains(err.Error(), "no longer registered") {
				a.Errorf("sent again: %v", err)
			}
		},
	}.run(t)
}

func TestADeliveryIsMadeAgain(t *testing.T) {
	again := func(a *account, kind api.EventType) {
		if err := a.sim.Redeliver(a.delivered(kind).ID); err != nil {
			a.Error(err)
		}
		later(time.Second)
	}
	plainRows{
		"after it was taken": func(a *account) {
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			again(a, api.OfferFailed)
			got := a.receiver.got(api.OfferFailed)
			if len(got) != 2 || string(got[0].body) != string(got[1].body) {
				a.Errorf("%d deliveries", len(got))
			}
			if d := a.delivered(api.OfferFailed); d.Attempts != 2 || d.State != deliveries.Delivered {
				a.Errorf("kept: %+v", d)
			}
		},
		"before its next attempt, and only once": func(a *account) {
			a.answers(refuses(http.StatusInternalServerError, ""))
			a.create(magicURL("sold-out"))
			later(30 * time.Second) // the fifth attempt is due after 14.5 s, the sixth after 44.5 s
			before := len(a.receiver.got(api.OfferFailed))
			a.answers(nil)
			again(a, api.OfferFailed)
			if n := len(a.receiver.got(api.OfferFailed)); n != before+1 {
				a.Errorf("%d attempts after %d", n, before)
			}
			later(5 * time.Minute)
			if n := len(a.receiver.got(api.OfferFailed)); n != before+1 {
				a.Errorf("it was sent again by itself: %d attempts", n)
			}
		},
		"after it was given up, with all attempts": func(a *account) {
			a.answers(refuses(http.StatusInternalServerError, ""))
			a.create(magicURL("sold-out"))
			later(5 * time.Minute)
			again(a, api.OfferFailed)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Waiting {
				a.Errorf("kept: %+v", d)
			}
			later(5 * time.Minute)
			if d := a.delivered(api.OfferFailed); d.State != deliveries.Dead || d.Attempts != 2*(1+len(RetryPauses())) {
				a.Errorf("kept: %+v", d)
			}
		},
		"but not while an attempt is under way": func(a *account) {
			a.answers(refuses(-1, ""))
			a.create(magicURL("sold-out"))
			later(9 * time.Second)
			if err := a.sim.Redeliver(a.delivered(api.OfferFailed).ID); err == nil || !strings.Contains(err.Error(), "under way") {
				a.Errorf("sent again: %v", err)
			}
		},
		"but no challenge, and nothing unknown": func(a *account) {
			if err := a.sim.Redeliver(a.delivered(api.VerificationChallenge).ID); err == nil {
				a.Error("a challenge was sent again")
			}
			if err := a.sim.Redeliver("we_unknown-d1"); err == nil || !strings.Contains(err.Error(), "no longer kept") {
				a.Errorf("sent again: %v", err)
			}
		},
	}.run(t)
}

func TestALostDeliveryIsKnownAndCanBeMade(t *testing.T) {
	inBubble(t, func(c *Config) { c.Faults.Lose = 1 }, func(a *account) {
		a.create(magicURL("sold-out"))
		later(10 * time.Second)
		d := a.delivered(api.OfferFailed)
		if d.State != deliveries.Lost || d.Attempts != 0 {
			a.Fatalf("kept: %+v", d)
		}
		if err := a.sim.Redeliver(d.ID); err != nil {
			a.Fatal(err)
		}
		later(time.Second)
		if d := a.delivered(api.OfferFailed); d.State != deliveries.Delivered || len(a.receiver.got(api.OfferFailed)) != 1 {
			a.Errorf("kept: %+v", d)
		}
	})
}

func TestADeliveryInFlightIsNotSentBesideItself(t *testing.T) {
	inBubble(t, nil, func(a *account) {
		e := &endpoint{webhooks: &a.sim.webhooks, again: []delivery{{number: 7}, {number: 8}, {number: 8}}}
		e.sendAgain(time.Now(), map[uint64]bool{7: true})
		if e.due.len() != 1 || e.due.next().what.number != 8 {
			t.Errorf("due now: %+v", e.due)
		}
	})
}
