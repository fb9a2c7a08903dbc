package dashboard

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

func TestARefusedKeySaysWhatToDoAndWhenItIsTriedAgain(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name string
		file string
		left time.Duration
		none bool // nothing can try it
		want string
	}{
		{"from a file", "~/.secrets/key", 25 * time.Second, false, "✕ the service refuses the API key — correct it in ~/.secrets/key; r tries again, else in 25s"},
		{"from elsewhere", "", 4 * time.Minute, false, "✕ the service refuses the API key — check TILLWATCH_API_KEY and its environment; r tries again, else in 4m"},
		{"while it is tried", "", 0, false, "; r tries again, else soon"},
		{"where nothing tries it", "", 0, true, "check TILLWATCH_API_KEY and that it belongs to this environment, then start again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(now)
			s.changes.Summary.API = account.APIStatus{State: account.APIUnauthorized, TryAt: now.Add(c.left)}
			m := boardOf(t, s, 200, 40, func(cfg *Config) {
				cfg.Now, cfg.KeyFile = func() time.Time { return now }, c.file
				if !c.none {
					cfg.TryKey = func() {}
				}
			})
			if got := strings.Split(screen(m), "\n")[1]; !strings.Contains(got, c.want) {
				t.Errorf("the line says %q, want %q", got, c.want)
			}
		})
	}
}

func TestAKeyWithoutTheScopeIsNoFaultOfTheService(t *testing.T) {
	const intents, failing = "/api/v1/checkout-intents", "the service has been failing"
	for _, c := range []struct {
		name string
		err  api.Error
		want string
	}{
		{"intents without the scope", api.Error{Path: intents, Name: "ForbiddenError", Message: "API key lacks scope checkout-intents:read"},
			"✕ the API key may not read checkout intents — give it the scope, or use another key (GET /api/v1/checkout-intents: 403 forbidden: API key lacks scope checkout-intents:read)"},
		{"shipments without the scope", api.Error{Path: "/api/v1/shipments?limit=50", Name: "ForbiddenError"}, failing},
		{"shipments of an intent without the scope", api.Error{Path: intents + "/ci_1/shipments", Name: "ForbiddenError"}, failing},
		{"something before the service", api.Error{Path: intents}, failing},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := typicalShop(time.Now())
			c.err.Method, c.err.Status = http.MethodGet, http.StatusForbidden
			s.changes.Summary.API = account.APIStatus{State: account.APIFailing, Since: time.Now(), Err: &c.err}
			if got := strings.Split(screen(boardOf(t, s, 200, 40)), "\n")[1]; !strings.Contains(got, c.want) {
				t.Errorf("the line says %q, want %q", got, c.want)
			}
		})
	}
}

// TestAStartWithoutAnAnswerSaysWhatIsWaitedFor has a service that takes requests and answers
// none: whatever is not on the screen yet is not known, and not none.
func TestAStartWithoutAnAnswerSaysWhatIsWaitedFor(t *testing.T) {
	const waits = "waiting for the service's first answer"
	for _, feed := range []account.FeedState{account.FeedOff, account.FeedConnecting, account.FeedLive} {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(time.Now())
				s.changes.Summary = account.Summary{Feed: account.FeedStatus{State: feed}}
				m := boardOf(t, s, size[0], size[1], func(c *Config) { c.Now = time.Now })
				for _, c := range []struct {
					after time.Duration
					says  string
				}{{0, waits}, {2 * time.Second, waits + ", 2s so far"}, {8 * time.Second, waits + ", 10s so far"}} {
					second(m, c.after)
					for pane, key := range map[string]string{"intents": "1", "shipments": "2", "requests": "5", "alerts": "6", "failures": "F", "pulse": "P"} {
						if feed == account.FeedLive && pane == "pulse" {
							continue // it counts what the relay reports
						}
						press(m, key, "z")
						if got := screen(m); strings.Count(got, c.says) == 0 || strings.Contains(got, "no requests yet") || strings.Contains(got, "all is well") || strings.Contains(got, "no shipments") {
							t.Errorf("%s, %v, %s, after %s more:\n%s", feed, size, pane, c.after, got)
						}
						press(m, "esc", "esc", "0")
					}
					press(m, "u")
					if got := screen(m); !strings.Contains(got, "no answer yet") {
						t.Errorf("%s, %v: the quota:\n%s", feed, size, got)
					}
					press(m, "esc", "D")
					if got := screen(m); strings.Contains(got, "0 new") || strings.Contains(got, "0 delivered") {
						t.Errorf("%s, %v: what happened:\n%s", feed, size, got)
					}
					press(m, "esc")
				}
				s.changes.Summary.API = account.APIStatus{State: account.APIHealthy, Latency: time.Millisecond}
				m.Update(changesMsg{s.Changes(0)})
				if got := screen(m); strings.Contains(got, waits) {
					t.Errorf("%s, %v: it still waits:\n%s", feed, size, got)
				}
			})
		}
	}
}

func TestAnOutageIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		shop func(time.Time) *shop
		feed account.FeedState
		says string
		line bool // in the line below the header
	}{
		{"on an empty board", newShop, account.FeedLost, "neither the service nor the relay has answered", false},
		{"on an empty board without a relay", newShop, account.FeedOff, "the service has been failing", false},
		{"beside rows", typicalShop, account.FeedLost, "neither the service nor the relay has answered", true},
	} {
		for _, size := range [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}} {
			s := c.shop(time.Now())
			s.changes.Summary.API = account.APIStatus{State: account.APIFailing, Since: time.Now(), Err: errors.New("GET /api/v1/checkout-intents: not sent: dial tcp 127.0.0.1:1: connect: connection refused")}
			s.changes.Summary.Feed = account.FeedStatus{State: c.feed}
			got := screen(boardOf(t, s, size[0], size[1]))
			if n := strings.Count(got, c.says); n != 1 {
				t.Errorf("%s, %v: told %d times:\n%s", c.name, size, n, got)
			}
			if line := strings.Split(got, "\n")[1]; strings.Contains(line, c.says) != c.line {
				t.Errorf("%s, %v: the line says %q", c.name, size, line)
			}
		}
	}
}

func TestTheHeaderSaysUntilWhenReadsWaitForQuota(t *testing.T) {
	now := time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		state account.APIState
		left  int64
		reset time.Duration
		want  string
	}{
		{"for hours", account.APIHealthy, 0, 3 * time.Hour, "api ◐ until 17:00"},
		{"for hours, after one that was paced", account.APISlow, 0, 3 * time.Hour, "api ◐ until 17:00"},
		{"for a second", account.APIHealthy, 0, time.Second, "api ●"},
		{"not, as one is left", account.APIHealthy, 1, 3 * time.Hour, "api ●"},
		{"and the service fails", account.APIFailing, 0, 3 * time.Hour, "api ✕ failing"},
	} {
		for _, width := range []int{80, 120, 200} {
			s := typicalShop(now)
			s.changes.Summary.API.State = c.state
			s.changes.Summary.Quota = []quota.Bucket{{Class: quota.Reads, Limit: 1000, Window: 24 * time.Hour, Remaining: c.left, Reset: c.reset, ObservedAt: now}}
			m := boardOf(t, s, width, 40, func(cfg *Config) { cfg.Now, cfg.Location = func() time.Time { return now }, time.UTC })
			if head := strings.Split(screen(m), "\n")[0]; !strings.Contains(head, c.want) {
				t.Errorf("reads wait %s: the header is %q, want %q", c.name, head, c.want)
			}
		}
	}
}

func TestABoardThatWaitsForALongWindowSaysForWhatAndUntilWhen(t *testing.T) {
	now := time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name       string
		left       int64
		next       time.Duration
		head, says string
	}{
		{"kept", 40, 3 * time.Hour, "api ◐ until 17:00", `reads wait until 17:00: of "daily" only 40 of 5,000 are left, kept for checkouts`},
		{"spread", 4200, 5 * time.Minute, "api ◐ until 14:05", `reads wait until 14:05: of "daily" 4,200 of 5,000 are left, spread over its window`},
		{"spread, for seconds", 4200, 20 * time.Second, "api ●", `reads wait for 20s: of "daily" 4,200 of 5,000 are left, spread over its window`},
	} {
		for _, width := range []int{80, 120, 200} {
			s := newShop(now)
			s.changes.Summary.API = account.APIStatus{State: account.APIHealthy, Latency: time.Millisecond}
			s.changes.Summary.Quota = []quota.Bucket{{Class: quota.Reads, Policy: "daily", Limit: 5000, Window: 24 * time.Hour, Remaining: c.left,
				Reset: 3 * time.Hour, ObservedAt: now, Next: now.Add(c.next)}}
			got := screen(boardOf(t, s, width, 40, func(cfg *Config) { cfg.Now, cfg.Location = func() time.Time { return now }, time.UTC }))
			if head := strings.Split(got, "\n")[0]; !strings.Contains(head, c.head) || !strings.Contains(strings.Join(strings.Fields(got), " "), c.says[:60]) {
				t.Errorf("%s, %d columns: want %q and %q:\n%s", c.name, width, c.head, c.says, got)
			}
		}
	}
}

func TestReadingAgainAlsoTriesTheKeyWhereverTheCursorIs(t *testing.T) {
	refused := func(s *account.Summary) { s.API.State = account.APIUnauthorized }
	forbidden := func(s *account.Summary) { s.ShipmentList.State = account.ListForbidden }
	for _, c := range []struct {
		name        string
		shop        func(time.Time) *shop
		with        func(*account.Summary)
		says        string
		read, tried bool
	}{
		{"refused, on an intent", typicalShop, refused, "trying the API key again", false, true},
		{"refused, on an empty board", newShop, refused, "trying the API key again", false, true},
		{"a good key, on an empty board", newShop, func(*account.Summary) {}, "no intent under the cursor", false, false},
		{"one that may not read shipments, on an intent", typicalShop, forbidden, "reading ci_", true, true},
		{"one that may not read shipments, on an empty board", newShop, forbidden, "trying the API key again", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.shop(time.Now())
			c.with(&s.changes.Summary)
			read, tried := false, false
			m := boardOf(t, s, 120, 36, func(c *Config) {
				c.TryKey, c.Refresh = func() { tried = true }, func(api.ID) { read = true }
			})
			for all := []tea.Cmd{press(m, "r")}; len(all) > 0; all = all[1:] {
				if all[0] == nil {
					continue
				}
				if more, ok := all[0]().(tea.BatchMsg); ok {
					all = append(all, more...)
				}
			}
			if got := pressingLine(m); !strings.Contains(got, c.says) {
				t.Errorf("the line says %q, want %q", got, c.says)
			}
			if read != c.read || tried != c.tried {
				t.Errorf("the intent was read: %v; the key was tried: %v", read, tried)
			}
		})
	}
}

func TestACauseThatIsCutKeepsItsEnd(t *testing.T) {
	now := time.Now()
	s := typicalShop(now)
	s.changes.Summary.API = account.APIStatus{State: account.APIFailing, Since: now.Add(-10 * time.Second),
		Err: errors.New("GET /api/v1/checkout-intents/ci_13b81ba5c6814b0d8f6a1e2c3d4b5a69: no answer in time")}
	for width, want := range map[int]string{120: " (GET /api", 240: "/ci_13b81ba5c6814b0d8f6a1e2c3d4b5a69"} {
		m := boardOf(t, s, width, 40, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
		if got := pressingLine(m); !strings.Contains(got, want) || !strings.Contains(got, "no answer in time)") {
			t.Errorf("%d columns: %q", width, got)
		}
	}
	if got := pressingLine(boardOf(t, s, 80, 40, func(cfg *Config) { cfg.Now = func() time.Time { return now } })); strings.Contains(got, "(") {
		t.Errorf("80 columns: %q", got)
	}
}
