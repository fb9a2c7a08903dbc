package relay

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/relay/signature"
)

// forged is a delivery of the nth event, signed with secret.
func forged(n int, secret string) *http.Request {
	req := signedRequest(eventBody(n))
	req.Header.Set("x-svc-signature", sign(secret, eventBody(n)))
	return req
}

func TestDashboardsAreToldWhyASignatureIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorded{}
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Logger = log.logger() })
		n := serveRelay(t, r)
		c := newCollector()
		run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: n.dial}), c)
		c.awaitState(t, Live)
		for i := range 3 {
			serve(r.Ingest(), forged(i, testSecret+"\n"))
			time.Sleep(2 * time.Second)
		}
		const want = "3 wrong signatures: the secret has a line break, blanks or quotes around it"
		synctest.Wait()
		if last := c.statuses[len(c.statuses)-1]; last.State != Live || !strings.HasPrefix(last.Wrong.String(), want) {
			t.Errorf("%s %s, want %s", last.State, last.Wrong, want)
		}
		late := newCollector()
		run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: n.dial}), late)
		if live := late.awaitState(t, Live); live.Wrong.Count != 3 || live.Wrong.Cause != signature.Secret {
			t.Errorf("whoever comes later gets %+v", live.Wrong)
		}
		if lines := linesWith(log, "wrong signature:"); len(lines) != 3 || !strings.Contains(lines[0], "cause=secret") {
			t.Errorf("the log: %q", lines)
		}
		if strings.Contains(log.String(), testSecret) {
			t.Error("the log reveals the secret")
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if last := c.statuses[len(c.statuses)-1]; last.Wrong.String() != "" {
			t.Errorf("6 minutes later: %s", last.Wrong)
		}
	})
}

func TestASignatureOfBeforeARotationIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), func(cfg *Config) {
			cfg.OtherSecrets = []signature.Other{{Secret: api.NewSecret("the secret of live"), Cause: signature.Secret, Whose: `the profile "live"`}}
		})
		if err := r.SetSigningSecrets([]api.Secret{api.NewSecret("the next secret of tests")}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			secret string
			cause  signature.Cause
		}{{testSecret, signature.Rotation}, {"the secret of live", signature.Secret}} {
			serve(r.Ingest(), forged(1, test.secret))
			synctest.Wait()
			if told := r.signatures.report(); told.Cause != test.cause {
				t.Errorf("%+v, want %s", told, test.cause)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// Anybody can send many: they cost one diagnosis and one frame a second.
func TestAFloodOfWrongSignaturesIsDiagnosedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorded{}
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Logger = log.logger() })
		for range 200 {
			serve(r.Ingest(), forged(1, "the secret of nobody here"))
		}
		synctest.Wait()
		if told := r.signatures.report(); told.Count > 200 || told.Cause != signature.Unknown {
			t.Errorf("of 200 at once: %+v", told)
		}
		if lines := linesWith(log, "wrong signature:"); len(lines) != 1 {
			t.Errorf("%d diagnoses", len(lines))
		}
		time.Sleep(wrongPause)
		serve(r.Ingest(), forged(1, testSecret+" "))
		synctest.Wait()
		if told := r.signatures.report(); told.Count != 201 || told.Cause != signature.Secret {
			t.Errorf("the next: %+v", told)
		}
		serve(r.Ingest(), httptest.NewRequest(http.MethodPost, WebhookPath, strings.NewReader("{}")))
		if r.signatures.count != 201 {
			t.Error("a request without a signature counts as a wrong one")
		}
	})
}

// TestADiagnosisChangesNoAnswer holds the bytes and the time of each answer against
// those of a relay that diagnoses nothing.
func TestADiagnosisChangesNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		curious, idle := newTestRelay(t, newMemory(t), nil), newTestRelay(t, newMemory(t), nil)
		idle.signatures.next = time.Now().Add(24 * time.Hour)
		body := eventBody(1)
		all := forgeries(body)
		for _, secret := range []string{testSecret + "\n", " " + testSecret} {
			all = append(all, attempt{"signed with blanks", body, []string{sign(secret, body)}})
		}
		n, stop := serveOn(t, curious.Ingest())
		defer stop()
		m, stopIdle := serveOn(t, idle.Ingest())
		defer stopIdle()
		for i, a := range all {
			if (strings.HasPrefix(a.name, "bit ") || strings.HasPrefix(a.name, "the first ")) && i%20 != 0 {
				continue // they are much alike
			}
			time.Sleep(2 * wrongPause)
			began := time.Now()
			answer, plain := a.exchange(t, n), a.exchange(t, m)
			if !bytes.Equal(answer, plain) || time.Since(began) != 0 {
				t.Errorf("%s: %q after %v, want %q", a.name, answer, time.Since(began), plain)
			}
		}
		synctest.Wait()
		if curious.signatures.report().Count < 20 || idle.signatures.report().Count != 0 {
			t.Errorf("%+v and %+v are told", curious.signatures.report(), idle.signatures.report())
		}
	})
}

func TestTheFormOfASignatureIsDiagnosedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n, stop := serveOn(t, r.Ingest())
		defer stop()
		body := eventBody(1)
		digits := strings.TrimPrefix(sign(testSecret, body), "v0=")
		for value, cause := range map[string]signature.Cause{digits: signature.Prefix, "v0=" + strings.ToUpper(digits): signature.HeaderEncoding} {
			(attempt{"", body, []string{value}}).exchange(t, n)
			synctest.Wait()
			if told := r.signatures.report(); told.Cause != cause {
				t.Errorf("%s: %+v, want %s", value, told, cause)
			}
			time.Sleep(2 * wrongPause)
		}
	})
}
