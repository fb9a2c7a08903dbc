package dashboard

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
)

func TestTheFrameSaysWhereTheLastAnswerCameFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := func(name string, live bool) func(*Config) {
			return func(c *Config) { c.Environment, c.Live, c.Account = name, live, "127.0.0.1:7420" }
		}
		s := typicalShop(time.Now())
		m := boardOf(t, s, 120, 36, begun("unknown", true), armed(&guard{}))
		if got := strings.Join(m.lines(), "\n"); !strings.Contains(got, "unknown LIVE") {
			t.Errorf("before any answer it shows\n%s", got)
		}
		for _, from := range []api.Environment{
			{Name: "simulator", StandIn: true},
			{Name: "127.0.0.1:7420", Live: true},
			{Name: "staging"},
		} {
			s.changes.Summary.API.From = from
			m.Update(changesMsg{s.Changes(0)})
			fresh := boardOf(t, typicalShop(time.Now()), 120, 36, begun(from.Name, from.Live), armed(&guard{}))
			if got, want := strings.Join(m.lines(), "\n"), strings.Join(fresh.lines(), "\n"); got != want {
				t.Errorf("%s: it shows\n%s\nand a board that begins there\n%s", from.Name, got, want)
			}
			press(m, "c")
			if p := m.dialog.confirm().Proposal(); p.Environment != from.Name || p.Live != from.Live || strings.Contains(screen(m), "REAL MONEY") != from.Live {
				t.Errorf("it is asked of %q, live %t:\n%s", p.Environment, p.Live, screen(m))
			}
			press(m, "esc")
		}
	})
}

func TestThatMoneyIsRealIsNotCutOffTheHeader(t *testing.T) {
	for _, name := range []string{"production", "127.0.0.1:27421", "checkout-of-a-long-name.example"} {
		for width := layout.MinWidth; width <= 200; width++ {
			m := boardOf(t, newShop(time.Now()), width, 24, func(c *Config) { c.Environment, c.Live = name, true })
			if top, _, _ := strings.Cut(screen(m), "\n"); !strings.Contains(top, "LIVE") {
				t.Errorf("%d cells wide: %q", width, top)
			}
		}
	}
}

func TestNoStateOfServiceOrRelayCutsTheClock(t *testing.T) {
	for feed := account.FeedOff; feed <= account.FeedRefused; feed++ {
		for service := account.APIUnknown; service <= account.APIUnauthorized; service++ {
			for width := layout.MinWidth; width <= 200; width += 5 {
				s := newShop(time.Now())
				s.changes.Summary.Feed.State, s.changes.Summary.API.State = feed, service
				if top, _, _ := strings.Cut(screen(boardOf(t, s, width, 24)), "\n"); strings.HasSuffix(strings.TrimSpace(top), "…") {
					t.Errorf("feed %v, service %v, %d cells wide: %q", feed, service, width, top)
				}
			}
		}
	}
}
