package command

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// simulated is a running tillwatch simulate.
type simulated struct {
	ready
	said *utterances
}

// startSimulateCommand runs tillwatch simulate until the test ends.
func startSimulateCommand(t *testing.T, args ...string) *simulated {
	t.Helper()
	out, in := io.Pipe()
	s := &simulated{said: &utterances{}}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	args = append([]string{"simulate", "--json", "--listen", "127.0.0.1:0", "--intents-per-minute", "0"}, args...)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), in, s.said)
		_ = in.Close()
	}()
	t.Cleanup(sync.OnceFunc(func() {
		cancel()
		if code := <-code; code != exitDone {
			t.Errorf("the simulator ended with %d: %s", code, s.said)
		}
	}))
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the simulator is not ready: %s", s.said)
	}
	if err := json.Unmarshal(lines.Bytes(), &s.ready); err != nil {
		t.Fatal(err)
	}
	return s
}

// status is what a key gets for a path.
func status(t *testing.T, base, path, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func (s *simulated) key(t *testing.T, name string) readyKey {
	t.Helper()
	at := slices.IndexFunc(s.Keys, func(k readyKey) bool { return k.Name == name })
	if at < 0 {
		t.Fatalf("the ready line has no key %s: %v", name, s.Keys)
	}
	return s.Keys[at]
}

func TestKeysOfTheStandInHaveScopes(t *testing.T) {
	dir := isolate(t)
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte("key-from-a-file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KEY_OF_THE_BACKEND", "key-from-the-environment")
	s := startSimulateCommand(t, "--key", "name=made,scopes=events:read,products:read",
		"--key", "name=backend,from-env=KEY_OF_THE_BACKEND", "--key", "scopes=checkout_intents:read,name=reader,from-file="+file)
	const shipments, event = "/api/v1/shipments", "/api/v1/events/evt_x"
	for _, c := range []struct {
		path, key string
		want      int
	}{
		{shipments, s.APIKey, 200}, {event, s.APIKey, 404},
		{shipments, s.key(t, "made").APIKey, 403}, {event, s.key(t, "made").APIKey, 404},
		{shipments, "key-from-the-environment", 200}, {event, "key-from-the-environment", 404},
		{shipments, "key-from-a-file", 200}, {event, "key-from-a-file", 403},
		{shipments, "another", 401},
	} {
		if got := status(t, s.Listen, c.path, c.key); got != c.want {
			t.Errorf("%s with %s: %d, want %d", c.path, c.key, got, c.want)
		}
	}
	if k := s.key(t, "reader"); k.APIKey != "" || k.Environment != simulator.Staging || !slices.Equal(k.Scopes, []simulator.Scope{simulator.IntentsRead}) {
		t.Errorf("the ready line says of reader: %+v", k)
	}
	if !strings.Contains(s.said.String(), "a key without the scope is refused key=made scope=checkout_intents:read") {
		t.Errorf("the refusal is not reported: %s", s.said)
	}
}

func TestTheStandInHasBothEnvironments(t *testing.T) {
	isolate(t)
	t.Setenv("LIVE_KEY", "shop/production-0011")
	for name, args := range map[string][]string{
		"a key that is made":      nil,
		"a key that is given":     {"--key", "name=production,from-env=LIVE_KEY"},
		"a key that may not all":  {"--key", "name=reader,environment=production,scopes=events:read"},
		"a name for the made one": {"--key", "name=production,environment=production"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSimulateCommand(t, append(args, "--production-listen", "127.0.0.1:0", "--key", "name=second")...)
			second := s.key(t, "second").APIKey
			live := s.key(t, "production").APIKey
			if name == "a key that is given" {
				if live != "" {
					t.Errorf("the ready line repeats a key that was given")
				}
				live = "shop/production-0011"
			}
			const path = "/api/v1/shipments"
			for _, c := range []struct {
				what, base, key string
				want            int
			}{
				{"staging", s.Listen, s.APIKey, 200}, {"production", s.ProductionListen, live, 200},
				{"a production key in staging", s.Listen, live, 401}, {"a staging key in production", s.ProductionListen, s.APIKey, 401},
				{"a second key in staging", s.Listen, second, 200}, {"a second key in production", s.ProductionListen, second, 401},
			} {
				if got := status(t, c.base, path, c.key); got != c.want {
					t.Errorf("%s: %d, want %d", c.what, got, c.want)
				}
			}
			if told := s.said.String(); strings.Count(told, "a key of the other environment is refused") != 3 || strings.Contains(told, live) {
				t.Errorf("got %s", told)
			}
		})
	}
}

func TestTheEnvironmentsOfTheStandInHoldDifferentIntents(t *testing.T) {
	isolate(t)
	s := startSimulateCommand(t, "--production-listen", "127.0.0.1:0", "--lists", "served")
	ids := func(base, key string) map[api.ID]bool {
		client, err := api.New(api.Config{BaseURL: base, Key: api.NewSecret(key)})
		if err != nil {
			t.Fatal(err)
		}
		all := map[api.ID]bool{}
		for in, err := range client.Intents(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all[in.ID] = true
		}
		return all
	}
	staging, production := ids(s.Listen, s.APIKey), ids(s.ProductionListen, s.key(t, "production").APIKey)
	if len(staging) != 25 || len(production) != 25 {
		t.Fatalf("%d and %d intents, want 25 each", len(staging), len(production))
	}
	for id := range staging {
		if production[id] {
			t.Errorf("%s is in both", id)
		}
	}
}

func TestKeysThatCannotBeReadAreRefusedInOneSentence(t *testing.T) {
	dir := isolate(t)
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const secret = "sk-very-secret-indeed"
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"the key itself":          {[]string{"--key", secret}, "never put the key there"},
		"the key as a value":      {[]string{"--key", "name=ci,value=" + secret}, "never put the key there"},
		"the key as a field":      {[]string{"--key", "name=ci," + secret + "=x"}, "never put the key there"},
		"no name":                 {[]string{"--key", "scopes=events:read"}, "needs a name"},
		"an odd name":             {[]string{"--key", "name=two words"}, "needs a name"},
		"an unknown scope":        {[]string{"--key", "name=ci,scopes=orders:read"}, `key "ci" has the scope "orders:read"; there are events:read`},
		"no scope":                {[]string{"--key", "name=ci,scopes="}, "gives no value for scopes"},
		"a name twice":            {[]string{"--key", "name=ci", "--key", "name=ci"}, `names "ci" twice`},
		"a part twice":            {[]string{"--key", "name=ci,name=cd"}, "gives name twice"},
		"a variable that is none": {[]string{"--key", "name=ci,from-env=NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE, which is not set"},
		"a file that is none":     {[]string{"--key", "name=ci,from-file=" + filepath.Join(dir, "none")}, "no such file"},
		"an empty file":           {[]string{"--key", "name=ci,from-file=" + empty}, "holds no secret"},
		"both sources":            {[]string{"--key", "name=ci,from-env=HOME,from-file=" + empty}, "not from both"},
		"an unknown environment":  {[]string{"--key", "name=ci,environment=sandbox"}, "it is staging or production"},
		"webhooks of nowhere":     {[]string{"--production-webhook-url", "http://127.0.0.1:1/"}, "--production-webhook-url needs --production-listen"},
		"an address that is none": {[]string{"--production-listen", "nowhere"}, "--production-listen nowhere: "},
	} {
		t.Run(name, func(t *testing.T) {
			said := &utterances{}
			args := append([]string{"simulate", "--listen", "127.0.0.1:0"}, c.args...)
			code := run(t.Context(), args, strings.NewReader(""), said, said)
			if text := said.String(); code != exitUsage || !strings.Contains(text, c.says) || strings.Contains(text, secret) {
				t.Errorf("exit code %d, want %d with %q: %s", code, exitUsage, c.says, text)
			}
		})
	}
}

func TestAProductionKeyIsNoKeyOfStaging(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_KEY", "shop/production-0011")
	said := &utterances{}
	code := run(t.Context(), []string{"simulate", "--listen", "127.0.0.1:0"}, strings.NewReader(""), said, said)
	if text := said.String(); code != exitUsage || !strings.Contains(text, "the API key is one of production, as its prefix says, and this is staging") || strings.Contains(text, "0011") {
		t.Errorf("exit code %d: %s", code, text)
	}
}
