package dashboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/weblink"
)

// lateShop is a shop with a parcel that is two days late, among others, the address of whose carrier is given.
func lateShop(address string) *shop {
	s := typicalShop(time.Now())
	for i, sh := range s.changes.Shipments[:2] {
		sh.Latest.Tracking.Estimated = s.now.Add(-time.Duration(i+1)*24*time.Hour - time.Hour)
		sh.Latest.Tracking.URL = api.Text(address)
	}
	return s
}

// browsing is a browser that keeps what it is given.
func browsing(opened *[]string, fails error) func(*Config) {
	return func(c *Config) {
		c.Browser = Browser{Open: func(_ context.Context, address string) error {
			*opened = append(*opened, address)
			return fails
		}}
	}
}

// perform has a command run, and gives the model what comes of it.
func perform(m *Model, cmd tea.Cmd) (said []tea.Msg) {
	for cmd != nil {
		msg := cmd()
		if msg == nil {
			break
		}
		said = append(said, msg)
		_, cmd = m.Update(msg)
	}
	return said
}

func TestACarriersPageOfALateShipmentIsThreeKeysAway(t *testing.T) {
	for _, size := range []struct{ w, h int }{{200, 55}, {160, 45}, {120, 36}, {80, 24}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			var opened []string
			m := boardOf(t, lateShop("https://track.dhl.example/?id=1"), size.w, size.h, browsing(&opened, nil))
			press(m, "2")
			if got := screen(m); !strings.Contains(got, "2 days late") && !strings.Contains(got, "2d late") {
				t.Errorf("no lateness in\n%s", got)
			}
			press(m, "o")
			got := screen(m)
			if !strings.Contains(got, "https://track.dhl.example/?id=1") || !strings.Contains(got, "2 days late") || len(opened) > 0 {
				t.Errorf("o shows no address, or opened %v:\n%s", opened, got)
			}
			cmd := press(m, "o")
			perform(m, cmd)
			if len(opened) != 1 || opened[0] != "https://track.dhl.example/?id=1" || !strings.Contains(screen(m), "opening https://track.dhl.example/?id=1") {
				t.Errorf("opened %v:\n%s", opened, screen(m))
			}
		})
	}
}

func TestASecretInALinkIsOpenedAndNotShown(t *testing.T) {
	const address = "https://track.dhl.example/?id=1&access_token=tell-nobody"
	var opened []string
	m := boardOf(t, lateShop(address), 160, 45, browsing(&opened, errors.New("no browser")))
	for _, key := range []string{"2", "o", "o"} {
		said := perform(m, press(m, key))
		if got := screen(m); strings.Contains(got, "tell-nobody") || key == "o" && !strings.Contains(got, "https://track.dhl.example/?id=1&access_token=[masked]") {
			t.Errorf("after %s:\n%s", key, got)
		}
		if len(said) == 2 && said[1] != terminalMsg(ansi.SetSystemClipboard(address)) {
			t.Errorf("copied %q", said[1])
		}
	}
	if len(opened) != 1 || opened[0] != address {
		t.Errorf("opened %q", opened)
	}
}

func TestTheLatestShipmentsStandFirst(t *testing.T) {
	m := boardOf(t, lateShop("https://track.dhl.example/"), 120, 60)
	press(m, "2", "z")
	var late []int
	lines := strings.Split(screen(m), "\n")
	for i, line := range lines {
		if strings.Contains(line, "late") {
			late = append(late, i)
		}
	}
	if len(late) != 2 || !strings.Contains(lines[late[0]], "2 days late") || !strings.Contains(lines[late[1]], "1 day late") || !strings.Contains(lines[late[1]+1], "delayed") {
		t.Errorf("late on lines %v of\n%s", late, strings.Join(lines, "\n"))
	}
	press(m, "/", "l", "a", "t", "e", ">", "1", "enter")
	if got := screen(m); !strings.Contains(got, "2 days late") || strings.Contains(got, "1 day late") {
		t.Errorf("late>1 shows\n%s", got)
	}
}

func TestAMenuOffersTheLinksOfAnIntentAndEscLeavesIt(t *testing.T) {
	var opened []string
	s := lateShop("https://track.dhl.example/")
	m := boardOf(t, s, 120, 36, browsing(&opened, nil))
	m.jump.to(string(s.changes.Shipments[1].IntentID))
	press(m, "o")
	if got := screen(m); !strings.Contains(got, "Tracking") || !strings.Contains(got, "Product page") || !strings.Contains(got, "1 of 2") {
		t.Errorf("the menu shows\n%s", got)
	}
	press(m, "esc")
	perform(m, press(m, "o", "j", "enter"))
	if len(opened) != 1 || !strings.HasPrefix(opened[0], "https://") || !strings.Contains(opened[0], "/products/") {
		t.Errorf("opened %v", opened)
	}
}

func TestWithoutABrowserALinkIsCopiedAndStandsOnTheLine(t *testing.T) {
	m := boardOf(t, lateShop("https://track.dhl.example/?id=1"), 120, 36, func(c *Config) { c.Browser.Closed = "there is no display here" })
	said := perform(m, press(m, "2", "o", "enter"))
	if len(said) != 1 || said[0] != terminalMsg(ansi.SetSystemClipboard("https://track.dhl.example/?id=1")) {
		t.Errorf("the terminal gets %q", said)
	}
	if got := drawing(m); !strings.Contains(got, "\x1b]8;;https://track.dhl.example/?id=1\x1b\\") || !strings.Contains(ansi.Strip(got), "asked the terminal to copy it, as there is no display here: https://track.dhl.example/?id=1") {
		t.Errorf("the line is\n%s", screen(m))
	}
}

func TestNoLinkLeadsWhereItDoesNotSay(t *testing.T) {
	for address, want := range map[string]string{
		"http://track.example/":              "not opened: " + weblink.ErrNotWeb.Error(),
		"https://bank.example@evil.example/": "not opened: " + weblink.ErrUser.Error(),
		"javascript:alert(1)":                "not opened: " + weblink.ErrNotWeb.Error(),
		"https://аpple.example/":             "https://xn--pple-43d.example/",
		"":                                   "no known tracking link",
		"https://" + strings.Repeat("a.", 120) + "evil.example/": "evil.example/",
	} {
		var opened []string
		s := lateShop(address)
		for _, sh := range s.changes.Shipments {
			delete(s.reads, sh.IntentID)
		}
		m := boardOf(t, s, 120, 36, browsing(&opened, nil))
		press(m, "2", "o")
		if got := screen(m); !strings.Contains(got, want) || len(opened) > 0 {
			t.Errorf("%q: no %q, or opened %v:\n%s", address, want, opened, got)
		}
	}
}
