package api

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const accountKey = "key-of-the-account" // which says nothing of its environment

// at makes a client of a handler that is reached at an address of one's choice.
func at(t *testing.T, base, key string, handler http.HandlerFunc) *Client {
	t.Helper()
	client, err := New(Config{BaseURL: base, Key: NewSecret(key), Retries: -1, Transport: through{handler}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// through is a way to a handler that dials nobody.
type through struct{ handler http.Handler }

func (h through) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestOnlyAnAnswerThatSaysSoComesFromAStandIn(t *testing.T) {
	standIn := Environment{Name: "simulator", StandIn: true}
	tunnel := Environment{Name: "127.0.0.1:7420", Live: true}
	var kept []string
	cases := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		want   Environment
	}{
		{"a stand-in", func(w http.ResponseWriter, r *http.Request) {
			AnswerAsStandIn(w.Header(), r)
			kept = w.Header()[standInHeader]
		}, standIn},
		{"a stand-in that refuses the key", func(w http.ResponseWriter, r *http.Request) {
			AnswerAsStandIn(w.Header(), r)
			w.WriteHeader(http.StatusUnauthorized)
		}, standIn},
		{"the service through a tunnel", func(http.ResponseWriter, *http.Request) {}, tunnel},
		{"what echoes the request", func(w http.ResponseWriter, r *http.Request) {
			for name, values := range r.Header {
				w.Header()[name] = values
			}
		}, tunnel},
		{"an answer that was kept", func(w http.ResponseWriter, _ *http.Request) { w.Header()[standInHeader] = kept }, tunnel},
		{"a header of that name", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(standInHeader, "true") }, tunnel},
		{"two that answer at once", func(w http.ResponseWriter, r *http.Request) {
			AnswerAsStandIn(w.Header(), r)
			w.Header().Add(standInHeader, "true")
		}, tunnel},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client := at(t, "http://127.0.0.1:7420", accountKey, func(w http.ResponseWriter, r *http.Request) {
				c.answer(w, r)
				io.WriteString(w, `{"id":"ci_1"}`)
			})
			same(t, "before any answer", client.Environment(), Environment{Name: "unknown", Live: true})
			in, err := client.Intent(t.Context(), "ci_1")
			from := in.Response.From
			if refused := (*Error)(nil); errors.As(err, &refused) {
				from = refused.From
			}
			same(t, "the answer's", from, c.want)
			same(t, "the client's", client.Environment(), c.want)
		})
	}
}

func TestEachAnswerIsAskedAnew(t *testing.T) {
	standIn := true
	client := at(t, "http://localhost:7420", accountKey, func(w http.ResponseWriter, r *http.Request) {
		if standIn {
			AnswerAsStandIn(w.Header(), r)
		}
		io.WriteString(w, `{"id":"ci_1"}`)
	})
	for _, want := range []string{"simulator", "localhost:7420", "simulator"} {
		standIn = want == "simulator"
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		same(t, "environment", client.Environment().Name, want)
		same(t, "live", client.Environment().Live, !standIn)
	}
}

func TestAStagingKeyOnLoopbackMovesNoMoney(t *testing.T) {
	standIn := false
	client := at(t, "http://127.0.0.1:7420", "shop/staging-ab", func(w http.ResponseWriter, r *http.Request) {
		if standIn {
			AnswerAsStandIn(w.Header(), r)
		}
		io.WriteString(w, `{"id":"ci_1"}`)
	})
	for _, want := range []string{"staging", "simulator"} {
		standIn = want == "simulator"
		if _, err := client.Intent(t.Context(), "ci_1"); err != nil {
			t.Fatal(err)
		}
		same(t, "environment", client.Environment(), Environment{Name: want, StandIn: standIn})
	}
}

func TestNobodyElseIsAskedWhetherItIsAStandIn(t *testing.T) {
	for _, base := range []string{"https://checkout.example", "https://staging.checkout.example"} {
		client := at(t, base, accountKey, func(w http.ResponseWriter, r *http.Request) {
			same(t, "asked", r.Header.Get(standInHeader), "")
			r.Header.Set(standInHeader, "word")
			AnswerAsStandIn(w.Header(), r)
			io.WriteString(w, `{"id":"ci_1"}`)
		})
		before := client.Environment()
		in, err := client.Intent(t.Context(), "ci_1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the answer's environment", in.Response.From, before)
		same(t, "the client's environment", client.Environment(), before)
	}
}

func TestAConfirmForAStandInCarriesNoKeyThatTheServiceTakes(t *testing.T) {
	for _, standIn := range []bool{true, false} {
		client := at(t, "http://127.0.0.1:7420", accountKey, func(w http.ResponseWriter, r *http.Request) {
			carriesKey := strings.Contains(r.Header.Get("Authorization"), accountKey)
			same(t, "carries the account's key", carriesKey, !standIn)
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"name":"AuthenticationError","message":"Invalid API key `+r.Header.Get("Authorization")+`"}`)
		})
		_, err := client.ConfirmIntent(t.Context(), "ci_1", ConfirmIntent{StandIn: standIn})
		if err == nil || strings.Contains(err.Error(), accountKey) || strings.Contains(err.Error(), StandInKey(NewSecret(accountKey)).Reveal()) {
			t.Errorf("the error is %v", err)
		}
	}
	same(t, "two accounts share the key", StandInKey(NewSecret("a")) == StandInKey(NewSecret("b")), false)
}
