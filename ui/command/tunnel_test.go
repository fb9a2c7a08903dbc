package command

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// tunnel leads from loopback to a stand-in that plays the service: through it,
// nothing says that it is a stand-in, and only the account's own key is taken.
type tunnel struct {
	address string       // of its end here
	open    atomic.Bool  // else it leads to the stand-in as that is
	refused atomic.Int32 // requests with a key that the service does not know
}

func dig(t *testing.T, to string) *tunnel {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	d := &tunnel{}
	d.open.Store(true)
	way := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.open.Load() {
			for name := range r.Header {
				if strings.HasPrefix(name, "Tillwatch-") {
					r.Header.Del(name)
				}
			}
			if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer stand-in-") {
				d.refused.Add(1)
				http.Error(w, `{"name":"AuthenticationError","message":"Invalid API key"}`, http.StatusUnauthorized)
				return
			}
		}
		way.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.address = server.URL
	return d
}

func (d *tunnel) host() string { return strings.TrimPrefix(d.address, "http://") }

func TestATunnelToTheServiceIsGuardedAsRealMoney(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	d := dig(t, s.url)
	config := configFile(t, "api_url", d.address, "api_key", "key-of-the-test", "state_dir", s.state)
	id, total := s.awaiting(t, chiliCrisp)
	for _, c := range []struct {
		name, args string
		code       int
		says       string
		orders     int
	}{
		{"a look", "--dry-run", exitDone, "REAL MONEY", 0},
		{"without --live", "--allow-confirm", exitUsage, "real money moves here: add --live", 0},
		{"with another --live", "--allow-confirm --live zzzz", exitUsage, "not how the id ends", 0},
		{"with --live", "--allow-confirm --live " + id[len(id)-4:], exitDone, d.host(), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, words bytes.Buffer
			args := append([]string{"confirm", id, "--total", total, "--json", "--config", config}, strings.Fields(c.args)...)
			if code := run(t.Context(), args, nil, &out, &words); code != c.code || !strings.Contains(words.String(), c.says) || ordersOf(t, s.service, id) != c.orders {
				t.Errorf("exit code %d, %d orders: %s", code, ordersOf(t, s.service, id), words.String())
			}
			var r confirmReport
			if out.Len() > 0 && (json.Unmarshal(out.Bytes(), &r) != nil || r.Environment != d.host() || !r.Live) {
				t.Errorf("printed %s", out.String())
			}
		})
	}
}

func TestStatusSaysWhatItKnowsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	d := dig(t, s.url)
	s.awaiting(t, chiliCrisp)
	for name, c := range map[string]struct{ url, wait, want string }{
		"a stand-in":       {s.url, "30s", "simulator"},
		"a tunnel":         {d.address, "30s", d.host()},
		"nobody who tells": {"http://127.0.0.1:1", "1s", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configFile(t, "api_url", c.url, "api_key", "key-of-the-test", "state_dir", t.TempDir())
			var out, words bytes.Buffer
			run(t.Context(), []string{"status", "--json", "--wait", c.wait, "--watch-id", "ci_1", "--config", config}, nil, &out, &words)
			var r snapshot
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Environment != c.want {
				t.Errorf("%v; the environment is %q, want %q: %s", err, r.Environment, c.want, words.String())
			}
		})
	}
}

func TestTheFrameIsTintedFromTheFirstAnswerThatComesThroughATunnel(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 1, nil)
	d := dig(t, w.settings.APIURL)
	w.settings.APIURL = d.address
	d.open.Store(false)
	w.look(t, 1)
	w.screen.waitFor(t, `tillwatch  simulator · `+d.host()+` `)
	w.ask(t)
	w.screen.waitFor(t, `simulator  no real money`)
	d.open.Store(true) // something else listens there now
	w.screen.agree(t, "C", `Not confirmed: nothing was sent`)
	w.wantOrders(t, ids[0], 0)
	w.screen.press(t, "\x1b")
	w.screen.waitGone(t, `╭─ `)
	w.screen.waitFor(t, `tillwatch  `+d.host()+` LIVE `)
	w.screen.press(t, "c")
	w.screen.waitFor(t, `Confirm order`, `REAL MONEY`, `not armed`)
	w.wantOrders(t, ids[0], 0)
	if n := d.refused.Load(); n != 0 {
		t.Errorf("%d confirms went out all the same", n)
	}
}
