package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tillwatch/api"
	"tillwatch/relay/journal"
	"tillwatch/ui/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a server for one test.
func served(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// setup is a set-up whose service and relay are at these addresses; "" for none.
func setup(service, of string) *Setup {
	return &Setup{Settings: config.Settings{
		APIURL: service, APIKey: api.NewSecret("key-of-the-test"), PollShare: 0.3,
		RelayURL: of, RelayToken: api.NewSecret("token-of-the-test"),
	}}
}

// examined are the findings of all checks, by check.
func examined(t *testing.T, s *Setup) map[string]Finding {
	t.Helper()
	all := map[string]Finding{}
	_, err := s.Examine(t.Context(), func(f Finding) error {
		all[f.Check] = f
		return nil
	})
	if err != nil || len(all) != 9 {
		t.Fatalf("%d findings, %v", len(all), err)
	}
	return all
}

// require finds out that a check, and no other, found something.
func require(t *testing.T, all map[string]Finding, check string, verdict Verdict, words string) {
	t.Helper()
	if f := all[check]; f.Verdict != verdict || !strings.Contains(f.Found, words) ||
		(verdict == Fault || verdict == Warning) && f.Do == "" {
		t.Errorf("found %+v, want %s with %q", f, verdict, words)
	}
	for name, f := range all {
		if name != check && (f.Verdict == Fault || f.Verdict == Warning) {
			t.Errorf("found %+v, too", f)
		}
	}
}

func TestEachFaultOfAServiceIsFoundByOneCheck(t *testing.T) {
	const nowhere = "http://127.0.0.1:1"
	limited := func(left, of string, more func(http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			api.AnswerAsStandIn(w.Header(), r)
			w.Header().Set("RateLimit", `"default";r=`+left+`;t=3600`)
			w.Header().Set("RateLimit-Policy", of)
			if more != nil {
				more(w)
				return
			}
			_, _ = io.WriteString(w, "[]")
		}
	}
	answering := func(status int, body string) http.HandlerFunc {
		return limited("900", `"default";q=1000;w=86400`, func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	for _, c := range []struct {
		name    string
		at      string
		answer  http.HandlerFunc
		check   string
		verdict Verdict
		words   string
	}{
		{"nothing is wrong", "", limited("900", `"default";q=1000;w=86400`, nil), "service", OK,
			"a stand-in, so no money moves"},
		{"its mark is missing", "", func(w http.ResponseWriter, r *http.Request) {
			limited("900", `"default";q=1000;w=86400`, func(w http.ResponseWriter) { clear(w.Header()) })(w, r)
			_, _ = io.WriteString(w, "[]")
		}, "limits", Warning, "no RateLimit fields"},
		{"away", nowhere, nil, "service", Fault, "refused"},
		{"another server", "", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			"service", Fault, "is not the service"},
		{"failing", "", answering(500, "{}"), "service", Fault, "500"},
		{"a wrong key", "", answering(401, `{"name":"UnauthorizedError","message":"no"}`), "key", Fault,
			"refuses the API key"},
		{"a key without a scope", "", answering(403, `{"name":"ForbiddenError","message":"the key lacks a scope"}`),
			"key", Warning, "may not read shipments"},
		{"something in front that forbids", "", answering(403, `{}`), "key", Fault, "(403)"},
		{"a quota that is used up", "", limited("0", `"default";q=1000;w=86400`, nil), "limits", Warning,
			"0 of 1,000 left for another 59m"},
		{"only the reserve is left", "", limited("40", `"default";q=5000;w=86400`, nil), "limits", Warning,
			"40 of 5,000 left for another 59m"},
		{"no limit", "", func(w http.ResponseWriter, r *http.Request) {
			api.AnswerAsStandIn(w.Header(), r)
			_, _ = io.WriteString(w, "[]")
		}, "limits", OK, "reports none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.at == "" {
				c.at = served(t, c.answer)
			}
			s := setup(c.at, "")
			require(t, examined(t, s), c.check, c.verdict, c.words)
			if want := map[bool]int{true: 0, false: 1}[c.at == nowhere]; s.Reads() != want {
				t.Errorf("%d reads, want %d", s.Reads(), want)
			}
		})
	}
	t.Run("https where there is http", func(t *testing.T) {
		all := examined(t, setup(strings.Replace(served(t, limited("9", "", nil)), "http", "https", 1), ""))
		if f := all["service"]; f.Verdict != Fault || !strings.Contains(f.Do, "does not speak TLS") {
			t.Errorf("found %+v", f)
		}
	})
}

func TestWhoAnswersIsSaidByTheFirstAnswer(t *testing.T) {
	s := &Setup{}
	s.observe(api.Exchange{Status: 200, From: api.Environment{Name: "simulator", StandIn: true}})
	s.observe(api.Exchange{Status: 200, From: api.Environment{Name: "127.0.0.1:7420", Live: true}})
	if got := s.money(); !strings.Contains(got, "a stand-in") {
		t.Errorf("it says %s", got)
	}
}

func TestEachFaultOfARelayIsFoundByOneCheck(t *testing.T) {
	ready := func(rest http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/readyz" {
				_, _ = io.WriteString(w, "ready\n")
				return
			}
			rest(w, r)
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		check  string
		words  string
	}{
		{"another server", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "relay",
			"is not a relay"},
		{"not ready", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the journal cannot be written", http.StatusServiceUnavailable)
		}, "relay", "journal cannot be written"},
		{"a wrong token", ready(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }), "token",
			"does not accept the token"},
		{"a token that may not stream", ready(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }),
			"token", "forbids"},
		{"a front without websockets", ready(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }),
			"token", "502"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require(t, examined(t, setup("", served(t, c.answer))), c.check, Fault, c.words)
		})
	}
}

func TestDamagedEventsOfARelayThatRunsAreNamed(t *testing.T) {
	relay := served(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ready\nevents are damaged: 7\n")
	})
	for _, f := range examined(t, setup("", relay)) {
		if f.Check == "relay" && (f.Verdict != Warning || !strings.Contains(f.Found, "events are damaged: 7")) {
			t.Errorf("found %+v", f)
		}
	}
}

func TestASigningSecretIsJudgedByItsLengthAndByTheRelay(t *testing.T) {
	for _, c := range []struct {
		name, secret, counts string
		verdict              Verdict
		words                string
	}{
		{"too short", "too-short", "", Fault, "9 bytes"},
		{"none", "", "", Skipped, "none"},
		{"long enough", "signing-secret-of-the-test", "", OK, "only a delivery"},
		{"deliveries that are verified", "", `tillwatch_deliveries_total{outcome="stored"} 7`, OK,
			"verified 7 deliveries"},
		{"deliveries that are refused", "signing-secret-of-the-test",
			`tillwatch_deliveries_total{outcome="unauthorized"} 7`, Fault, "all 7 deliveries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := setup("", served(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, c.counts+"\n")
			}))
			s.Settings.SigningSecret = api.NewSecret(c.secret)
			if f := s.signing(t.Context()); f.Verdict != c.verdict || !strings.Contains(f.Found, c.words) {
				t.Errorf("found %+v", f)
			}
		})
	}
}

// shelf is a journal of three events.
type shelf struct {
	journal.Journal
	damaged int64
	check   error
}

func (shelf) Oldest(context.Context) (int64, error) { return 1, nil }
func (shelf) Head(context.Context) (int64, error)   { return 3, nil }
func (s shelf) Check(context.Context) error         { return s.check }
func (shelf) Close() error                          { return nil }

func (s shelf) Read(_ context.Context, after int64, _ int) ([]journal.Record, error) {
	return []journal.Record{{Seq: after + 1, Damaged: after+1 == s.damaged}}, nil
}

func TestAJournalIsReadToItsEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		journal shelf
		opened  error
		verdict Verdict
		words   string
	}{
		{"well", shelf{}, nil, OK, "all 3 events"},
		{"a damaged event", shelf{damaged: 2}, nil, Fault,
			"1 event of 3 damaged, and told to subscribers as a gap; the first is number 2"},
		{"a full disk", shelf{check: errors.New("the disk is full")}, nil, Fault, "disk is full"},
		{"not a journal", shelf{}, errors.New("it is not a journal"), Fault, "not a journal"},
		{"a relay runs", shelf{}, fmt.Errorf("the folder is %w", journal.ErrInUse), OK, "a relay uses it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Setup{Journal: func(context.Context) (journal.Journal, error) { return c.journal, c.opened }}
			if f := s.journal(t.Context()); f.Verdict != c.verdict || !strings.Contains(f.Found, c.words) {
				t.Errorf("found %+v", f)
			}
		})
	}
}

func TestAnExaminationEndsWithItsContextAndItsReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Setup{}).Examine(ctx, func(Finding) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	left := errors.New("the reader has left")
	if _, err := (&Setup{}).Examine(t.Context(), func(Finding) error { return left }); !errors.Is(err, left) {
		t.Errorf("left: %v", err)
	}
}
