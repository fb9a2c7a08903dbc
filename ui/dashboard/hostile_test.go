package dashboard

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/layout"
)

// vast is a text that nobody would write: 10 MB in one line.
var vast = strings.Repeat("Wool Socks \x1b[2J日本", 10<<20/22)

// hostile is remote text that nothing has scrubbed.
func hostile(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "Mug", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x1b\\y", "\x1b]52;c;aGk=\x07", "\x1b[2J\x1b[H", "\x1b[31m", "\x1bP1$r\x1b\\", "\x9b31m", "\x9d0;x\x9c",
			"\xc2\x9b31m", "TOTAL 9000 USD\rTOTAL 1 USD", "a\nb", "a\tb\vc", "e\u0301\u0302\u0303\u0304", strings.Repeat("\u0301", 40), "日本語テキスト", "👨\u200d👩\u200d👧\u200d👦", "🇺🇸🇺", "❤️", "ः", "가",
			"\u202edesrever", "\u2066x\u2069", "\u200b\u200d\ufeff", "\xff\xfe\x00", "نص", strings.Repeat("x", 3000), strings.Repeat("日", 900),
		}),
		rapid.String(),
	).Draw(t, label)
}

// hostileShop is an account of which every text is hostile.
func hostileShop(t *rapid.T, now time.Time) *shop {
	s := newShop(now)
	text := func(label string) api.Text { return api.Text(hostile(t, label)) }
	states := append(api.IntentStates(), "", "requires_action", api.IntentState(hostile(t, "state")))
	for i := range rapid.IntRange(0, 25).Draw(t, "intents") {
		in := s.intent(i, states[rapid.IntRange(0, len(states)-1).Draw(t, "of")], time.Duration(rapid.IntRange(-3, 90_000).Draw(t, "for"))*time.Second)
		in.Product, in.Merchant, in.ReferenceID = text("product"), text("merchant"), text("reference")
		in.Certainty = account.Certainty(rapid.IntRange(0, 2).Draw(t, "certainty"))
		if in.State == api.Failed {
			in.Failure = &api.FailureReason{Code: api.FailureCode(hostile(t, "code")), Message: text("message")}
		}
		if in.Total != nil {
			in.Total = &api.Money{Currency: in.Total.Currency, Subunits: rapid.Int64().Draw(t, "subunits")}
		}
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "shipments") {
		s.shipment(i, api.ShipmentStatuses()[i%6], time.Duration(i)*time.Hour)
		last := s.changes.Shipments[i]
		last.Product = text("parcel")
		if last.Latest.Tracking != nil {
			last.Latest.Tracking.Carrier, last.Latest.Tracking.Number, last.Latest.Tracking.URL = text("carrier"), text("number"), text("url")
		}
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "events") {
		e := s.event(i, api.EventType(hostile(t, "type")), time.Duration(i)*time.Second)
		e.Product, e.SourceID, e.Origin = text("of"), api.ID(hostile(t, "source")), hostile(t, "origin")
	}
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		s.changes.Requests = append(s.changes.Requests, api.Exchange{Sent: now, Method: hostile(t, "method"), Path: hostile(t, "path"),
			Status: rapid.IntRange(0, 600).Draw(t, "status"), Class: quota.Reads, Err: errors.New(hostile(t, "error"))})
	}
	for range rapid.IntRange(0, 3).Draw(t, "alerts") {
		s.changes.Summary.Alerts = append(s.changes.Summary.Alerts, account.Alert{Kind: account.AlertStuck, Text: hostile(t, "alert"), Since: now})
	}
	s.changes.Summary.Feed.State = account.FeedState(rapid.IntRange(0, 5).Draw(t, "feed"))
	s.changes.Summary.Feed.Err = errors.New(hostile(t, "feed error"))
	s.buckets()
	s.changes.Summary.Quota[0].Policy = hostile(t, "policy")
	return s
}

// unclean says what of a drawn screen must not reach a terminal: anything but
// text, SGR sequences and hyperlinks to https addresses.
func unclean(content string) string {
	for rest := content; ; {
		at := strings.IndexByte(rest, 0x1b)
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		if link, ok := strings.CutPrefix(rest, "]8;;"); ok {
			address, after, closed := strings.Cut(link, "\x1b\\")
			if !closed || address != "" && !strings.HasPrefix(address, "https://") {
				return "a hyperlink that is none"
			}
			rest = after
			continue
		}
		end := strings.IndexByte(rest, 'm')
		if end < 1 || rest[0] != '[' || strings.Trim(rest[1:end], "0123456789;") != "" {
			return "an escape sequence that is no SGR"
		}
		rest = rest[end+1:]
	}
	for _, c := range ansi.Strip(content) {
		switch {
		case c == '\n':
		case c < 0x20 || c == 0x7f:
			return "a C0 control"
		case c >= 0x80 && c < 0xa0:
			return "a C1 control"
		case c == 0x200e || c == 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069:
			return "a bidirectional control"
		}
	}
	return ""
}

// fills fails where a screen is not as many lines as rows, each as wide as the
// screen, or not clean.
func fills(t interface{ Fatalf(string, ...any) }, m *Model, width, height int) {
	content := drawing(m)
	lines := strings.Split(content, "\n")
	if len(lines) != height {
		t.Fatalf("%dx%d: %d lines", width, height, len(lines))
	}
	for y, line := range lines {
		if w := ansi.StringWidth(line); w > width || w < width && !m.dialog.open() {
			t.Fatalf("%dx%d: line %d is %d wide: %q", width, height, y, w, line)
		}
	}
	if what := unclean(content); what != "" {
		t.Fatalf("%dx%d: %s reaches the terminal: %q", width, height, what, content)
	}
	if what := unclean(m.windowTitle()); what != "" {
		t.Fatalf("%s reaches the title", what)
	}
}

func TestWhateverAPictureHoldsTheScreenIsFilledAndClean(t *testing.T) {
	var looks []themes.Theme
	for _, name := range themes.Names() {
		theme, err := themes.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		looks = append(looks, theme)
	}
	keys := strings.Fields("enter z j k h l g G P ? : space s S alt+1 alt+2 alt+3 alt+4 esc / a i p t x X U K " +
		"tab 1 2 3 4 5 6 0 pgup pgdown")
	rapid.Check(t, func(r *rapid.T) {
		now := time.Now()
		theme := rapid.SampledFrom(looks).Draw(r, "theme")
		width, height := rapid.IntRange(1, 300).Draw(r, "width"), rapid.IntRange(1, 100).Draw(r, "height")
		m := boardOf(t, hostileShop(r, now), width, height, func(c *Config) {
			c.Theme, c.Environment, c.Account = theme, hostile(r, "environment"), hostile(r, "account")
			c.Live, c.NoColor = rapid.Bool().Draw(r, "live"), rapid.Bool().Draw(r, "no color")
		})
		m.board.setFocus(layout.Pane(rapid.IntRange(0, layout.Board-1).Draw(r, "focus")))
		fills(r, m, width, height)
		press(m, rapid.SliceOfN(rapid.SampledFrom(keys), 0, 6).Draw(r, "keys")...)
		if rapid.Bool().Draw(r, "click") {
			x, y := rapid.IntRange(0, width).Draw(r, "x"), rapid.IntRange(0, height).Draw(r, "y")
			m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
		}
		fills(r, m, width, height)
	})
}

func TestALineOfTenMegabytesIsDrawnLikeAnyOther(t *testing.T) {
	s := typicalShop(time.Now())
	in := *s.changes.Intents[4]
	in.Product, in.Merchant = api.Text(vast), api.Text(vast)
	s.put(&in)
	s.event(4, api.OfferRetrieved, 0).Product = api.Text(vast)
	s.changes.Summary.Alerts[0].Text = vast
	for _, size := range [][2]int{{200, 55}, {80, 24}, {40, 12}} {
		m := boardOf(t, s, size[0], size[1])
		fills(t, m, size[0], size[1])
		m.Update(tea.WindowSizeMsg{Width: size[0] - 1, Height: size[1]})
		fills(t, m, size[0]-1, size[1])
	}
}
