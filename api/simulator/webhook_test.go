package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

func TestSignatureOfAKnownBody(t *testing.T) {
	// The digest was made with: printf '%s' '{"id":"evt_1"}' | openssl dgst -sha256 -hmac secret
	const want = "v0=16abb10adb33ff9cff34f6a57fc2c0b902c11ea19fe73dae86f2940c235e7ed5"
	if got := Signature(api.NewSecret("secret"), []byte(`{"id":"evt_1"}`)); got != want {
		t.Errorf("signature is %s, want %s", got, want)
	}
}

func TestDelivery(t *testing.T) {
	rows{
		"POST with an event as the body": func(a *account) {
			a.completed(chiliCrisp)
			later(3 * time.Minute)
			for _, d := range a.receiver.got() {
				if d.method != http.MethodPost {
					a.Errorf("method %s", d.method)
				}
				closed(a, "event", d.event, []string{"id", "object", "type", "createdAt", "source"})
			}
		},
		"four headers in lower case": func(a *account) {
			a.completed(chiliCrisp)
			for _, d := range a.receiver.got() {
				mac := hmac.New(sha256.New, []byte(testSecret))
				mac.Write(d.body)
				want := map[string]string{
					"x-svc-signature": "v0=" + hex.EncodeToString(mac.Sum(nil)),
					"x-svc-event-id":  d.event["id"].(string),
					"x-svc-topic":     d.kind(),
					"x-svc-timestamp": strconv.FormatInt(d.at.Unix(), 10),
				}
				for name, value := range want {
					if got := d.header[name]; !slices.Equal(got, []string{value}) {
						a.Errorf("%s is %q, want %q", name, got, value)
					}
				}
			}
		},
		"the challenge comes first and nothing before its answer": func(a *account) {
			got := a.receiver.got()
			if len(got) != 1 || got[0].kind() != "webhook_endpoint.verification_challenge" {
				a.Fatalf("deliveries: %v", got)
			}
			source := got[0].event["source"].(map[string]any)
			if id := source["id"].(string); !strings.HasPrefix(id, "we_") || len(id) != 35 || source["type"] != "webhook_endpoint" {
				a.Errorf("source is %v", source)
			}
		},
		"what is not answered with 200 is tried again after each pause, then given up": func(a *account) {
			a.receiver.answer = func(d attempt) (int, string) { return http.StatusNoContent, "" }
			id := a.create(magicURL("sold-out"))
			later(5 * time.Minute)
			got := a.receiver.got(api.OfferFailed)
			if len(got) != 1+len(RetryPauses()) {
				a.Fatalf("%d attempts for %s, want %d", len(got), id, 1+len(RetryPauses()))
			}
			for i, pause := range RetryPauses() {
				if gap := got[i+1].at.Sub(got[i].at); gap != pause {
					a.Errorf("pause %d is %v, want %v", i, gap, pause)
				}
				if string(got[i+1].body) != string(got[0].body) {
					a.Errorf("attempt %d has another body", i+1)
				}
			}
			if sum := a.summary().Endpoints[0]; sum.GivenUp != 1 || sum.Delivered != 0 {
				a.Errorf("the endpoint says %+v", sum)
			}
		},
		"an answer has 5 seconds": func(a *account) {
			a.receiver.answer = func(d attempt) (int, string) {
				if len(a.receiver.got(api.OfferFailed)) == 1 {
					return -1, ""
				}
				return 0, ""
			}
			a.create(magicURL("sold-out"))
			later(time.Minute)
			got := a.receiver.got(api.OfferFailed)
			if len(got) != 2 || got[1].at.Sub(got[0].at) != answerTimeout+RetryPauses()[0] {
				a.Errorf("%d attempts", len(got))
			}
		},
		"a re-saved URL is verified anew, under another id": func(a *account) {
			before := a.summary().Endpoints[0].ID
			body := a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"http://receiver.example/hooks"}`))
			later(time.Second)
			sum := a.summary().Endpoints
			if len(sum) != 1 || sum[0].ID == before || sum[0].ID != body["id"] || !sum[0].Verified {
				a.Errorf("the endpoints are %+v", sum)
			}
			a.create(magicURL("sold-out"))
			later(time.Minute)
			if n := len(a.receiver.got(api.OfferFailed)); n != 1 {
				a.Errorf("%d deliveries, want 1", n)
			}
		},
		"a URL that is re-saved before it was verified keeps its backlog": func(a *account) {
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"http://late.example/"}`))
			a.receiver.mu.Lock()
			a.receiver.answer = func(d attempt) (int, string) { return http.StatusBadGateway, "" }
			a.receiver.mu.Unlock()
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"http://late.example/"}`))
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"http://late.example/"}`))
			a.receiver.mu.Lock()
			a.receiver.answer = nil
			a.receiver.mu.Unlock()
			later(5 * time.Minute)
			if n := a.summary().Endpoints[1].Delivered; n != 1 {
				a.Errorf("%d events were delivered to it, want 1", n)
			}
		},
		"a second endpoint gets what is to come": func(a *account) {
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"https://other.example/"}`))
			a.create(magicURL("sold-out"))
			later(10 * time.Second)
			if n := len(a.receiver.got(api.OfferFailed)); n != 3 {
				a.Errorf("%d deliveries, want 3", n)
			}
			a.want(http.StatusCreated, a.call("POST", "/control/webhook-endpoints", `{"url":"https://third.example/","history":true}`))
			later(10 * time.Second)
			if n := len(a.receiver.got(api.OfferFailed)); n != 5 {
				a.Errorf("%d deliveries, want 5", n)
			}
		},
	}.run(t)
}

func TestChallengeIsRepeatedUntilItIsAnswered(t *testing.T) {
	for name, wrong := range map[string]struct {
		status int
		body   string
	}{
		"not up":           {http.StatusBadGateway, ""},
		"silent":           {-1, ""},
		"another value":    {http.StatusOK, `{"challenge":"we_other"}`},
		"no JSON":          {http.StatusOK, `ok`},
		"a further field":  {http.StatusOK, `{"challenge":"%s","ok":true}`},
		"a wrong status":   {http.StatusAccepted, `{"challenge":"%s"}`},
		"an array":         {http.StatusOK, `["%s"]`},
		"another key name": {http.StatusOK, `{"Challenge":"%s"}`},
	} {
		t.Run(name, func(t *testing.T) {
			down := true
			inBubble(t, func(c *Config) {
				c.History = 10
				c.Transport.(*receiver).answer = func(d attempt) (int, string) {
					if down && d.kind() == string(api.VerificationChallenge) {
						return wrong.status, strings.Replace(wrong.body, "%s", d.event["source"].(map[string]any)["id"].(string), 1)
					}
					return 0, ""
				}
			}, func(a *account) {
				later(30 * time.Second)
				for _, d := range a.receiver.got() {
					if d.kind() != string(api.VerificationChallenge) {
						a.Fatalf("%s was delivered to an endpoint that is not verified", d.kind())
					}
				}
				if n := len(a.receiver.got()); n < 4 {
					a.Errorf("%d challenges in half a minute", n)
				}
				a.receiver.mu.Lock()
				down = false
				a.receiver.mu.Unlock()
				later(10 * time.Second)
				if !a.summary().Endpoints[0].Verified {
					a.Error("not verified by the right answer")
				}
				if n := len(a.receiver.got()); n < 20 {
					a.Errorf("only %d deliveries after it", n)
				}
			})
		})
	}
}

func TestHistoryIsDeliveredAtTheStart(t *testing.T) {
	inBubble(t, func(c *Config) { c.History = 40 }, func(a *account) {
		got := a.receiver.got()[1:]
		if len(got) < 60 {
			a.Fatalf("%d events of 40 intents", len(got))
		}
		oldest := slices.MinFunc(got, func(x, y attempt) int {
			return strings.Compare(x.event["createdAt"].(string), y.event["createdAt"].(string))
		})
		if at, err := time.Parse(time.RFC3339, oldest.event["createdAt"].(string)); err != nil || time.Since(at) < time.Hour {
			a.Errorf("the oldest event is only %v old (%v)", time.Since(at), err)
		}
	})
}

// ids counts how often each event arrived with a right signature.
func (a *account) ids() (right map[string]int, wrong int) {
	right = map[string]int{}
	for _, d := range a.receiver.got() {
		if slices.Equal(exact(d.header, "x-svc-signature"), []string{Signature(api.NewSecret(testSecret), d.body)}) {
			right[d.event["id"].(string)]++
		} else {
			wrong++
		}
	}
	return right, wrong
}

func TestFaultsOfDeliveries(t *testing.T) {
	with := func(f Faults, test func(a *account)) func(t *testing.T) {
		return func(t *testing.T) {
			inBubble(t, func(c *Config) { c.Faults = f }, func(a *account) {
				a.receiver.mu.Lock()
				a.receiver.answer = func(d attempt) (int, string) {
					if !slices.Equal(exact(d.header, "x-svc-signature"), []string{Signature(api.NewSecret(testSecret), d.body)}) {
						return http.StatusUnauthorized, ""
					}
					return 0, ""
				}
				a.receiver.mu.Unlock()
				for range 40 {
					a.given(fmt.Sprintf(`{"productUrl":%q,"confirmAfter":%d}`, magicURL("digital"), time.Second))
					later(time.Second)
				}
				later(2 * time.Minute)
				test(a)
			})
		}
	}
	const events = 81 // two an intent, and the challenge
	t.Run("none", with(Faults{}, func(a *account) {
		if right, wrong := a.ids(); len(right) != events || wrong != 0 || len(a.receiver.got()) != events {
			a.Errorf("%d events, %d forged, %d deliveries", len(right), wrong, len(a.receiver.got()))
		}
	}))
	t.Run("duplicates", with(Faults{Duplicate: 0.5}, func(a *account) {
		right, _ := a.ids()
		if n := len(a.receiver.got()); len(right) != events || n < events+20 || n > events+60 {
			a.Errorf("%d events in %d deliveries", len(right), n)
		}
	}))
	t.Run("loss", with(Faults{Lose: 0.5}, func(a *account) {
		right, _ := a.ids()
		if len(right) < 20 || len(right) > 60 || a.summary().Endpoints[0].Lost != uint64(events-len(right)) {
			a.Errorf("%d events arrived, %d are said to be lost", len(right), a.summary().Endpoints[0].Lost)
		}
	}))
	t.Run("reordering", with(Faults{Reorder: 0.3}, func(a *account) {
		right, _ := a.ids()
		sorted := slices.IsSortedFunc(a.receiver.got(), func(x, y attempt) int {
			return strings.Compare(x.event["createdAt"].(string), y.event["createdAt"].(string))
		})
		if len(right) != events || sorted {
			a.Errorf("%d events, in order: %v", len(right), sorted)
		}
	}))
	t.Run("bad signatures lose nothing", with(Faults{BadSignature: 0.5}, func(a *account) {
		right, wrong := a.ids()
		missing := 0
		for _, d := range a.receiver.got() {
			if len(exact(d.header, "x-svc-signature")) == 0 {
				missing++
			}
		}
		if len(right) != events || wrong < 20 || missing == 0 || missing == wrong {
			a.Errorf("%d events, %d forged, %d of them unsigned", len(right), wrong, missing)
		}
	}))
	t.Run("delay", with(Faults{Delay: 7 * time.Second}, func(a *account) {
		for _, d := range a.receiver.got()[1:] {
			at, err := time.Parse(time.RFC3339, d.event["createdAt"].(string))
			if late := d.at.Sub(at); err != nil || late < 7*time.Second || late > 8*time.Second {
				a.Errorf("delivered after %v", late)
			}
		}
	}))
}

func TestNoRetries(t *testing.T) {
	inBubble(t, func(c *Config) { c.Retries = -1 }, func(a *account) {
		a.receiver.answer = func(attempt) (int, string) { return http.StatusInternalServerError, "" }
		a.create(magicURL("sold-out"))
		later(5 * time.Minute)
		if n := len(a.receiver.got(api.OfferFailed)); n != 1 {
			a.Errorf("%d attempts, want 1", n)
		}
	})
}

func TestHeaderPrefixIsASetting(t *testing.T) {
	inBubble(t, func(c *Config) { c.HeaderPrefix = "X-Brand-" }, func(a *account) {
		for _, name := range []string{"signature", "event-id", "timestamp", "topic"} {
			if h := a.receiver.got()[0].header; len(h["x-brand-"+name]) != 1 {
				a.Errorf("no %s in %v", name, fmt.Sprint(h))
			}
		}
	})
}
