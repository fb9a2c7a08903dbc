package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/proxy"
	"tillwatch/api/simulator"
	"tillwatch/ui/doctor"
)

// doctorCase is a healthy set-up into which a test puts one fault.
type doctorCase struct {
	settings map[string]string // for the configuration file
	args     []string
	room     uint64 // free bytes on every disk
	data     string
	dir      string // of this case alone

	t *testing.T
}

// doctors is a world with an event ten minutes old, whose quota nobody spends.
func doctors(t *testing.T) *world {
	t.Helper()
	c := quiet()
	c.Limits, c.Lists = simulator.Limits{Reads: 1000}, simulator.ListsServed
	c.MoreKeys = []simulator.Key{{Name: "reader", Secret: api.NewSecret("key-without-events"), Scopes: []simulator.Scope{simulator.IntentsRead}}}
	w := newWorld(t, c)
	body := fmt.Sprintf(`{"id":"evt_ci_1_completed","object":"event","type":"checkout_intent.completed","createdAt":%q,"source":{"id":"ci_1","type":"checkout_intent"}}`,
		time.Now().Add(-10*time.Minute).UTC().Format(time.RFC3339Nano))
	request, err := http.NewRequest(http.MethodPost, w.settings.RelayURL+"/webhooks", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-svc-signature", simulator.Signature(w.settings.SigningSecret, []byte(body)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the event was not taken: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	return w
}

// healthySetup makes a healthy set-up of a world. Requests to the service pass a front.
func healthySetup(t *testing.T, w *world) *doctorCase {
	t.Helper()
	c := &doctorCase{t: t, room: 40 << 30, dir: t.TempDir(), data: w.data}
	c.settings = map[string]string{"api_url": w.settings.APIURL, "api_key": w.settings.APIKey.Reveal(), "relay_url": w.settings.RelayURL,
		"relay_token": w.settings.RelayToken.Reveal(), "signing_secret": w.settings.SigningSecret.Reveal(), "state_dir": filepath.Join(c.dir, "state")}
	if err := os.Mkdir(c.settings["state_dir"], 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// front puts a server in front of a service or a relay. answer may answer in its
// place and then returns true; alter changes the header of an answer.
func (c *doctorCase) front(setting string, answer func(http.ResponseWriter, *http.Request) bool, alter func(http.Header)) {
	c.t.Helper()
	to, err := url.Parse(c.settings[setting])
	if err != nil {
		c.t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.ModifyResponse = func(r *http.Response) error {
		if alter != nil {
			alter(r.Header)
		}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer == nil || !answer(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	c.t.Cleanup(server.Close)
	c.settings[setting] = server.URL
}

// proxyTo starts a proxy and sets its address.
func (c *doctorCase) proxyTo(upstream string) {
	c.t.Helper()
	p, err := proxy.New(proxy.Config{Upstream: upstream})
	if err != nil {
		c.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	owned(c.t, func(ctx context.Context) error { return p.Serve(ctx, listener) })
	c.settings["proxy_listen"] = listener.Addr().String()
}

// says answers one path.
func says(path string, status int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		api.AnswerAsStandIn(w.Header(), r)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// file writes a file for the case.
func (c *doctorCase) file(name, content string, mode os.FileMode) (path string) {
	c.t.Helper()
	path = filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// reachable lets every user enter the case's folder.
func (c *doctorCase) reachable() {
	c.t.Helper()
	for dir := c.dir; dir != filepath.Clean(os.TempDir()) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// keyFile has the key come from a file.
func (c *doctorCase) keyFile(content string, mode os.FileMode) {
	delete(c.settings, "api_key")
	c.settings["api_key_file"] = c.file("key", content, mode)
}

// nowhere is an address at which nothing listens: a port that was free a moment ago
// may be another program's now.
const nowhere = "127.0.0.1:1"

func (c *doctorCase) arguments() []string {
	var pairs []string
	for key, value := range c.settings {
		pairs = append(pairs, key, value)
	}
	return append([]string{"--config", configFile(c.t, pairs...), "--data", c.data}, c.args...)
}

// examine runs all checks.
func (c *doctorCase) examine() (found []doctor.Finding, p *examination) {
	c.t.Helper()
	command := newDoctor()
	if err := command.ParseFlags(c.arguments()); err != nil {
		c.t.Fatal(err)
	}
	p = newExamination(command.Flags(), strings.NewReader(""), io.Discard)
	c.t.Cleanup(p.Close)
	p.Free = func(string) (uint64, error) { return c.room, nil }
	p.Within = patience // a busy machine is no fault of the service
	_, err := doctor.Examine(c.t.Context(), p.checks(), func(f doctor.Finding) error {
		found = append(found, p.redacted(f))
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return found, p
}

func bad(found []doctor.Finding) []doctor.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f doctor.Finding) bool { return f.Verdict != doctor.Fault && f.Verdict != doctor.Warning })
}

func TestADoctorFindsNothingInAHealthySetUp(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	var mu sync.Mutex
	var asked []string
	c.front("api_url", func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		return false
	}, nil)
	found, p := c.examine()
	if wrong := bad(found); len(wrong) > 0 {
		t.Errorf("found %+v", wrong)
	}
	if all := p.checks(); len(found) < len(all) {
		t.Errorf("%d findings of %d checks", len(found), len(all))
	}
	mu.Lock()
	defer mu.Unlock()
	charged := 0
	for _, one := range asked {
		if !strings.HasPrefix(one, "GET /") {
			t.Errorf("asked %s", one)
		}
		if strings.HasPrefix(one, "GET /api/v1/") {
			charged++
		}
	}
	if reads := int(p.Reads()); reads != charged || reads == 0 || reads > 6 {
		t.Errorf("%d reads reported, %d made: %v", reads, charged, asked)
	}
}

func TestADoctorBlamesNobodyForAStandInWithoutLimits(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	c := healthySetup(t, w)
	mustExit(t, exitDone, "", "api", "PUT", "/control/buckets/reads", "limit=-1", "--config", w.asUser(t))
	found, _ := c.examine()
	if wrong := bad(found); len(wrong) > 0 {
		t.Errorf("found %+v", wrong)
	}
}

func TestADoctorFindsEachFaultAndNoOther(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions")
	}
	t.Parallel()
	for i, a := range doctorFaults() {
		t.Run(a.name, func(t *testing.T) {
			c := healthySetup(t, doctors(t))
			doctorFaults()[i].put(c) // whose times are counted from now
			found, p := c.examine()
			wrong := bad(found)
			if len(wrong) != 1 || wrong[0].Check != a.check || wrong[0].Verdict != cmp.Or(a.verdict, doctor.Fault) || !strings.Contains(wrong[0].Found, a.words) {
				t.Fatalf("found %+v, want one of the check %s that says %q", wrong, a.check, a.words)
			}
			if wrong[0].Means+wrong[0].Do == "" {
				t.Error("neither what it means nor what to do is said")
			}
			if reads := p.Reads(); reads > 6 {
				t.Errorf("%d reads", reads)
			}
			all, err := json.Marshal(found)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"key-of-the-test", "another-key", "key-without", "token-of-the-test", "another-token-of-16", "signing-secret-of", "secret-password"} {
				if bytes.Contains(all, []byte(secret)) {
					t.Errorf("it reveals the secret %s: %s", secret, all)
				}
			}
		})
	}
}

func TestADoctorSaysWhatNeedsNoMending(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	for _, test := range []struct {
		name, check string
		put         func(*doctorCase)
		words       string
	}{
		{"a signing secret not proven by a delivery", "signing", func(c *doctorCase) { c.settings["signing_secret"] = "of-another-account" }, "only a delivery"},
		{"a state folder that does not exist yet", "state", func(c *doctorCase) { c.settings["state_dir"] = filepath.Join(c.dir, "a", "b") }, "does not exist yet"},
		{"a journal that does not exist yet", "journal", func(c *doctorCase) { c.data = filepath.Join(c.dir, "a", "b") }, "no journal in"},
		{"lists that are not served beside a relay", "lists", func(c *doctorCase) {
			c.front("api_url", func(w http.ResponseWriter, r *http.Request) bool {
				return says("/api/v1/checkout-intents", 404, "{}")(w, r) || says("/api/v1/events", 404, "{}")(w, r)
			}, nil)
		}, "neither intents nor events"},
		{"a challenge that the stand-in is about to send", "endpoint", endpointOfTheRelay(`"verified":false`), "not answered so far"},
		{"a front that passes only a path of the relay", "relay", func(c *doctorCase) {
			c.front("relay_url", func(w http.ResponseWriter, r *http.Request) bool {
				rest, passed := strings.CutPrefix(r.URL.Path, "/team/v1/")
				if !passed {
					http.NotFound(w, r)
				}
				r.URL.Path = "/v1/" + rest
				return !passed
			}, nil)
			c.settings["relay_url"] += "/team"
			c.front("api_url", nil, func(h http.Header) { h.Del("Tillwatch-Stand-In") }) // it would know its endpoints
		}, "whether it is ready is unknown"},
		{"a token that may only stream", "token", func(c *doctorCase) { c.front("relay_url", says("/v1/events", 403, `{}`), nil) }, "scope read"},
		{"a token that may not read the relay's counters", "endpoint", func(c *doctorCase) {
			c.front("relay_url", says("/metrics", 403, `{}`), nil)
			c.front("api_url", nil, func(h http.Header) { h.Del("Tillwatch-Stand-In") })
		}, "is unknown"},
		{"an answer without a Date", "clock", func(c *doctorCase) { c.front("api_url", nil, func(h http.Header) { h["Date"] = []string{""} }) }, "cannot be compared"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := healthySetup(t, w)
			test.put(c)
			found, _ := c.examine()
			if wrong := bad(found); len(wrong) > 0 {
				t.Errorf("found %+v", wrong)
			}
			at := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == test.check })
			if at < 0 || found[at].Verdict != doctor.Note || !strings.Contains(found[at].Found, test.words) {
				t.Errorf("found %+v, want a note of %s that says %q", found, test.check, test.words)
			}
		})
	}
}

func TestADoctorKnowsTheProxyOfTillwatch(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.proxyTo(c.settings["api_url"])
	found, _ := c.examine()
	at := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == "proxy" })
	if len(bad(found)) > 0 || found[at].Verdict != doctor.OK || !strings.Contains(found[at].Found, "passes requests on") {
		t.Errorf("found %+v, of the proxy %+v", bad(found), found[at])
	}
}

func TestADoctorTakesTwoSigningSecretsForARotation(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.settings["signing_secret"] += "\nanother-signing-secret\r\n\n"
	if found, _ := c.examine(); len(bad(found)) > 0 {
		t.Errorf("found %+v", bad(found))
	}
}

func TestAShortSigningSecretHidesNothingElse(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.settings["signing_secret"] = "too-short"
	found, _ := c.examine()
	for _, f := range found {
		if f.Verdict == doctor.Skipped && strings.HasPrefix(f.Found, "the check") || strings.Contains(f.Means, "does not match") {
			t.Errorf("%+v", f)
		}
	}
}

func TestADoctorWhoReachesNobodySpendsNothing(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.settings["api_url"] = "http://" + nowhere
	_, p := c.examine()
	if reads := p.Reads(); reads != 0 {
		t.Errorf("%d reads, though no request was sent", reads)
	}
}

func TestADoctorLeavesTheReserveToOthers(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.front("api_url", nil, func(h http.Header) {
		h.Set("RateLimit", `"default";r=8;t=3600`) // one in a hundred is kept of a day
		h.Set("RateLimit-Policy", `"default";q=1000;w=86400`)
	})
	_, p := c.examine()
	if reads := p.Reads(); reads != 1 {
		t.Errorf("%d reads, want the one that found out", reads)
	}
}
