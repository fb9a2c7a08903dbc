package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// asked is a request to the reading side with a token.
func asked(path, token string) *http.Request {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

func TestATokenOpensWhatItsScopesNameAndNothingElse(t *testing.T) {
	paths := map[string]Scope{
		"GET " + StreamPath: ScopeStream, "GET " + EventsPath: ScopeRead, "GET " + EventsPath + "/1": ScopeRead,
		"GET " + EventsPath + "/1/raw": ScopeRead, "GET " + QuarantinePath: ScopeRead,
		"POST " + ObservationsPath: ScopeReport, "GET " + MetricsPath: ScopeAdmin,
	}
	for _, held := range Scopes() {
		text, token := NewToken("one", []Scope{held}, time.Now(), time.Time{})
		memory := newMemory(t)
		fill(t, memory, 1, 1)
		r := newTestRelay(t, memory, func(cfg *Config) { cfg.Tokens, cfg.Issued = nil, []Token{token} })
		ask := func(path, authorization string) *httptest.ResponseRecorder {
			method, path, _ := strings.Cut(path, " ")
			req := httptest.NewRequest(method, path, strings.NewReader(`{"items":[]}`))
			req.Header["Authorization"] = []string{authorization}
			return serve(r.Handler(), req)
		}
		first := ask("GET "+EventsPath, "")
		for path, scope := range paths {
			w := ask(path, "Bearer "+text.Reveal())
			forbidden := w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "lacks the scope "+string(scope))
			if forbidden != (scope != held) || w.Code == http.StatusUnauthorized {
				t.Errorf("%s with the scope %s: %d %s", path, held, w.Code, w.Body)
			}
			for _, wrong := range []string{"", "Bearer", "Bearer ", "Bearer wrong", text.Reveal(), "Basic " + text.Reveal(),
				"Bearer " + text.Reveal() + "x", "Bearer " + text.Reveal() + " "} {
				w := ask(path, wrong)
				if w.Code != http.StatusUnauthorized || w.Body.String() != first.Body.String() ||
					w.Header().Get("WWW-Authenticate") == "" {
					t.Errorf("%s with %q: %d %s", path, wrong, w.Code, w.Body)
				}
			}
		}
	}
}

func TestATokenEndsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, token := NewToken("one", []Scope{ScopeRead}, time.Now(), time.Now().Add(time.Hour))
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued = []Token{token} })
		if w := serve(r.Handler(), asked(EventsPath, text.Reveal())); w.Code != http.StatusOK {
			t.Errorf("before: %d", w.Code)
		}
		<-time.After(time.Hour)
		if w := serve(r.Handler(), asked(EventsPath, text.Reveal())); w.Code != http.StatusUnauthorized {
			t.Errorf("after: %d", w.Code)
		}
	})
}

func TestAStreamEndsForGoodWhenItsTokenDoes(t *testing.T) {
	for _, test := range []struct {
		name   string
		expire time.Duration
		end    func(*testing.T, *Relay)
	}{
		{"by its revocation", 0, func(t *testing.T, r *Relay) {
			if err := r.SetTokens([]api.Secret{api.NewSecret(testToken)}, nil); err != nil {
				t.Error(err)
			}
		}},
		{"by its time", time.Minute, func(*testing.T, *Relay) { <-time.After(2 * time.Minute) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				expires := time.Time{}
				if test.expire > 0 {
					expires = time.Now().Add(test.expire)
				}
				text, token := NewToken("one", []Scope{ScopeStream}, time.Now(), expires)
				log := &recorded{}
				r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Issued, cfg.Logger = []Token{token}, log.logger() })
				n := serveRelay(t, r)
				other := newCollector()
				run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://relay", InsecureHTTP: true, Dial: n.dial}), other)
				other.awaitState(t, Live)
				c := newCollector()
				ended := make(chan error, 1)
				s := newTestSubscriber(t, SubscriberConfig{URL: "http://relay", InsecureHTTP: true, Dial: n.dial, Token: text})
				go func() { ended <- s.Run(t.Context(), c) }()
				c.awaitState(t, Live)
				test.end(t, r)
				if err := <-ended; err == nil || !strings.Contains(err.Error(), tokenEnded) {
					t.Errorf("the stream ended with %v", err)
				}
				synctest.Wait()
				if said := linesWith(log, "stream ended"); len(said) != 1 || !strings.Contains(said[0], tokenEnded) {
					t.Errorf("the log says %q", said)
				}
				deliver(t, r.Handler(), 1, 1)
				other.awaitItems(t, 1)
			})
		})
	}
}

func TestTokensAtRestAreHashesForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	file := NewTokenFile(dir)
	if tokens, err := file.Read(t.Context()); err != nil || len(tokens) != 0 {
		t.Errorf("without a file: %v, %v", tokens, err)
	}
	expires := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	text, token := NewToken("laptop", []Scope{ScopeStream, ScopeRead}, time.Now(), expires)
	if err := file.Add(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if len(text.Reveal()) < 26 {
		t.Errorf("a token of %d characters has less than 128 bits", len(text.Reveal()))
	}
	if info, err := os.Stat(filepath.Join(dir, "tokens.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	tokens, err := file.Read(t.Context())
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens are %v, %v", tokens, err)
	}
	got := tokens[0]
	if got.Hash != hashOf(text.Reveal()) || got.Name != "laptop" || len(got.Scopes) != 2 || !got.Expires.Equal(expires) {
		t.Errorf("kept is %+v", got)
	}
	all, err := json.Marshal(tokens)
	if err != nil || strings.Contains(string(all), text.Reveal()) {
		t.Errorf("the token itself is kept: %v", err)
	}
}

// documents are shared texts in memory.
type documents struct {
	mu    sync.Mutex
	texts map[string][]byte
	err   error
}

func (d *documents) Document(_ context.Context, name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.texts[name], d.err
}

func (d *documents) ChangeDocument(_ context.Context, name string, edit func([]byte) ([]byte, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, err := edit(d.texts[name])
	if err == nil {
		d.texts[name] = text
	}
	return err
}

// eachStore runs test with every kind of store.
func eachStore(t *testing.T, test func(*testing.T, TokenStore)) {
	t.Run("a file", func(t *testing.T) { test(t, NewTokenFile(t.TempDir())) })
	t.Run("a database", func(t *testing.T) { test(t, NewSharedTokens(&documents{texts: map[string][]byte{}})) })
}

func TestTokensAreChangedOneAtATime(t *testing.T) { eachStore(t, changeManyAtOnce) }

func changeManyAtOnce(t *testing.T, file TokenStore) {
	const many = 20
	errs := make(chan error, many)
	for n := range many {
		go func() {
			_, token := NewToken(fmt.Sprint("token-", n), Scopes(), time.Now(), time.Time{})
			errs <- file.Add(t.Context(), token)
		}()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for n := range many - 1 {
		if err := file.Remove(t.Context(), fmt.Sprint("token-", n)); err != nil {
			t.Error(err)
		}
	}
	tokens, err := file.Read(t.Context())
	if err != nil || len(tokens) != 1 || tokens[0].Name != fmt.Sprint("token-", many-1) {
		t.Errorf("left are %v, %v", tokens, err)
	}
}

func TestTokensThatCannotBeReadAreReportedAndStay(t *testing.T) {
	dir := t.TempDir()
	d := &documents{texts: map[string][]byte{"tokens": []byte("{")}}
	for _, broken := range []string{"", "{", `{"tokens":[{"name":"a"}]}`, `{"tokens":[],"more":1}`} {
		if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		stores := []TokenStore{NewTokenFile(dir)}
		if broken != "" {
			d.texts["tokens"] = []byte(broken)
			stores = append(stores, NewSharedTokens(d))
		}
		for _, store := range stores {
			_, token := NewToken("laptop", Scopes(), time.Now(), time.Time{})
			_, err := store.Read(t.Context())
			for _, err := range []error{err, store.Add(t.Context(), token), store.Remove(t.Context(), "a")} {
				if err == nil || !strings.Contains(err.Error(), "cannot be read") {
					t.Errorf("%q: %v", broken, err)
				}
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "tokens.json")); err != nil || string(text) != broken {
			t.Errorf("%q was changed to %q, %v", broken, text, err)
		}
	}
	d.err = errors.New("away")
	if _, err := NewSharedTokens(d).Read(t.Context()); !errors.Is(err, d.err) {
		t.Errorf("a database that is away: %v", err)
	}
}

func TestTokensThatCannotBeKeptAreRefused(t *testing.T) { eachStore(t, refuseTokens) }

func refuseTokens(t *testing.T, file TokenStore) {
	_, token := NewToken("laptop", Scopes(), time.Now(), time.Time{})
	if err := file.Add(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	named := func(name string) Token { other := token; other.Name = name; return other }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"a name twice", file.Add(t.Context(), token), "already"},
		{"no name", file.Add(t.Context(), named("")), "letters"},
		{"a name with a line break", file.Add(t.Context(), named("a\nb")), "letters"},
		{"a name of a path", file.Add(t.Context(), named("../x")), "letters"},
		{"no hash", file.Add(t.Context(), Token{Name: "a", Scopes: Scopes()}), "hash"},
		{"no scope", file.Add(t.Context(), Token{Name: "a", Hash: token.Hash}), "scope"},
		{"an unknown scope", file.Add(t.Context(), Token{Name: "a", Hash: token.Hash, Scopes: []Scope{"all"}}), `no scope "all"`},
		{"one that is not there", file.Remove(t.Context(), "phone"), "tokens are: laptop"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, test.err, test.want)
		}
	}
	if tokens, err := file.Read(t.Context()); err != nil || len(tokens) != 1 {
		t.Errorf("left are %v, %v", tokens, err)
	}
}
