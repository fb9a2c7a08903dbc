package dialog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/own"
	"tillwatch/ui/dashboard/paint"
)

func allThemes(tb testing.TB) []themes.Theme {
	tb.Helper()
	all := []themes.Theme{{Name: "the terminal's own colours"}}
	for _, name := range themes.Names() {
		theme, err := themes.Find(name)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, theme)
	}
	return all
}

// outcomes are one of each verdict.
func outcomes() []confirm.Outcome {
	return []confirm.Outcome{
		{Verdict: confirm.Accepted, Intent: &api.Intent{State: api.PlacingOrder}},
		{Verdict: confirm.Changed, Differences: []confirm.Difference{
			{What: "shipping", Seen: "5.99 USD", Now: "7.99 USD"}, {What: "total", Seen: "44.52 USD", Now: "46.52 USD"},
		}},
		{Verdict: confirm.NotConfirmable, Intent: &api.Intent{State: api.Failed, Failure: &api.FailureReason{Code: "checkout_intent_expired"}}},
		{Verdict: confirm.Already, Intent: &api.Intent{State: api.PlacingOrder}},
		{Verdict: confirm.Refused, Err: errors.New("validation failed: quantity")},
		{Verdict: confirm.Unknown, Err: errors.New("connection reset by peer")},
		{Verdict: confirm.NotSent, Err: errors.New("reading the intent again: not found")},
	}
}

func TestWhatHasChangedIsShownWholly(t *testing.T) {
	long := "Merino Hiking Socks for Long Days in Wet Boots, Reinforced at Heel and Toe, "
	d := NewConfirm(socks(), false, quiet(), opened)
	d.SetOutcome(confirm.Outcome{Verdict: confirm.Changed, Differences: []confirm.Difference{
		{What: "product", Seen: long + "three pairs", Now: long + "one pair"}, {What: "quantity", Seen: "2", Now: "3"},
	}})
	for _, width := range []int{40, 66} {
		packed := strings.NewReplacer("│", "", " ", "", "\n", "").Replace(plain(d.View(ink(), width, 40)))
		for _, want := range []string{"yousaw:" + long + "three pairs", "now:" + long + "one pair", "quantity23"} {
			if !strings.Contains(packed, strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%d columns: no %q in\n%s", width, want, plain(d.View(ink(), width, 40)))
			}
		}
	}
}

func TestEveryBlockHasExactlyItsSize(t *testing.T) {
	all := allThemes(t)
	texts := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "Wool Socks", "長い商品名の靴下", "e\u0301\u0301\u0301", "👩‍👩‍👧‍👦 family", "\x1b]0;t\x07", "a\rb\nc\td", strings.Repeat("wide 幅 ", 400), "🇩🇪🇫🇷", "\u202eabc"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		l := paint.NewLine(paint.NewBrush(rapid.SampledFrom(all).Draw(t, "theme"), false))
		text := func(label string) string { return texts.Draw(t, label) }
		seen := socks()
		seen.Product, seen.Merchant, seen.ProductURL = api.Text(text("product")), api.Text(text("merchant")), api.Text(text("url"))
		seen.ID, seen.Environment = api.ID(text("id")), text("environment")
		seen.Total.Subunits = rapid.Int64().Draw(t, "total")
		outcome := rapid.SampledFrom(outcomes()).Draw(t, "outcome")
		outcome.Err = errors.New(text("error"))
		outcome.Differences = append(outcome.Differences, confirm.Difference{What: text("what"), Seen: text("seen"), Now: text("now")})
		d := NewConfirm(seen, rapid.Bool().Draw(t, "live"), quiet(), opened)
		blocks := []Dialog{d}
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			for i := range rapid.IntRange(0, 6).Draw(t, "keys") {
				keyAt(d, actiontest.Press(rapid.SampledFrom([]string{"2", "e", "長", "\u202e", "\u0903", "tab", "backspace"}).Draw(t, "key")), opened.Add(time.Duration(i+1)*calm))
			}
		case 1:
			d.SetProgress(confirm.Progress{Stage: confirm.Sending})
		case 2:
			d.SetOutcome(outcome)
		case 3:
			help := NewHelp(action.Default(), action.Default().ReadOnly(nil))
			help.Scroll(rapid.IntRange(-5, 60).Draw(t, "scroll"))
			blocks = append(blocks, help)
		case 4:
			palette := NewPalette(action.Default(), action.Board, action.Default().ReadOnly(nil))
			palette.Paste(text("typed"))
			palette.Key(actiontest.Press(rapid.SampledFrom([]string{"up", "down", "pgdown", "enter"}).Draw(t, "key")), opened)
			blocks = append(blocks, palette)
		case 5:
			batch, err := NewBatch(basket(rapid.IntRange(1, 60).Draw(t, "orders")), d.live, quiet(), opened)
			if err != nil {
				t.Fatal(err)
			}
			batch.Scroll(rapid.IntRange(0, 70).Draw(t, "scroll"))
			blocks = append(blocks, batch)
		}
		width, height := rapid.IntRange(0, 300).Draw(t, "width"), rapid.IntRange(0, 100).Draw(t, "height")
		for _, b := range blocks {
			if w, h := b.Size(width, height); w > width || h > height {
				t.Fatalf("%T wants %dx%d of %dx%d", b, w, h, width, height)
			}
			checkBlock(t, l, b, width, height)
			w, h := b.Size(width, height)
			checkBlock(t, l, b, w, h)
		}
	})
}

func checkBlock(t *rapid.T, l *paint.Line, b Dialog, width, height int) {
	lines := b.View(l, width, height)
	if len(lines) != height {
		t.Fatalf("%T %dx%d: %d lines", b, width, height, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != width {
			t.Fatalf("%T %dx%d: line %d is %d wide: %q", b, width, height, i, got, l)
		}
		if at := strings.IndexFunc(ansi.Strip(l), isControl); at >= 0 || strings.Contains(l, "\n") {
			t.Fatalf("%T %dx%d: line %d holds a control character: %q", b, width, height, i, l)
		}
	}
}

func TestSmallConfirmShowsAllThatIsAgreedTo(t *testing.T) {
	for _, live := range []bool{false, true} {
		d := NewConfirm(socks(), live, quiet(), opened)
		screen := plain(d.View(ink(), 40, 12))
		for _, want := range []string{"Wool Socks ×2", "acme.example", "44.52 USD", "ci_779d1ba1900f41e1ace4536c64382ed7", "staging", "6m12s", "[ Cancel ]"} {
			if !strings.Contains(screen, want) {
				t.Errorf("live %v: %q is not on\n%s", live, want, screen)
			}
		}
		if !d.inFull {
			t.Errorf("live %v: it cannot be confirmed at 40x12", live)
		}
	}
}

func TestConfirmNamesThePageOnEveryScreen(t *testing.T) {
	long := "https://acme.example/shop/socks/" + strings.Repeat("merino-and-", 30) + "wool-socks?size=9"
	onward := "go.example/r?from=" + strings.Repeat("merino-and-", 14) + "socks&u=https://shop.example/socks?size=9"
	for _, size := range [][2]int{{40, 12}, {60, 12}, {80, 16}, {80, 24}, {120, 36}} {
		for _, c := range []struct {
			name, url, merchant string
			want                []string
		}{
			{"a page of the merchant", "https://acme.example/products/wool-socks", "acme.example", []string{"acme.example/products/wool-socks"}},
			{"a www page", "https://www.acme.example/p/9", "acme.example", []string{"www.acme.example/p/9"}},
			{"a page of another", "https://acne.example/p/9", "acme.example", []string{"acme.example", "acne.example/p/9"}},
			{"a page that is not encrypted", "http://acme.example/p/9", "acme.example", []string{"http://acme.example/p/9"}},
			{"a user name like a host", "https://acme.example@acne.example/p/9", "acne.example", []string{"@acne.example/p/9"}},
			{"a long address", long, "acme.example", []string{"acme.example/shop", "size=9"}},
			{"a page that leads to another", "https://" + onward, "shop.example", []string{"shop.example", "go.example/r?from", "size=9"}},
			{"one that is not encrypted", "http://" + onward, "shop.example", []string{"shop.example", "http://go.example/r?", "=9"}},
			{"no address", "", "acme.example", []string{"acme.example"}},
		} {
			for _, live := range []bool{false, true} {
				seen := socks()
				seen.ProductURL, seen.Merchant = api.Text(c.url), api.Text(c.merchant)
				d := NewConfirm(seen, live, quiet(), opened)
				screen := plain(sized(d, size[0], size[1]))
				packed := strings.NewReplacer("│", "", " ", "", "\n", "").Replace(screen)
				for _, want := range c.want {
					if !strings.Contains(packed, want) {
						t.Errorf("%s, %v, live %t: no %q in\n%s", c.name, size, live, want, screen)
					}
				}
				if !d.inFull {
					t.Errorf("%s, %v, live %t: nothing can be confirmed\n%s", c.name, size, live, screen)
				}
			}
		}
	}
}

func TestOutcomeSaysWhatItMeans(t *testing.T) {
	want := map[confirm.Verdict][]string{
		confirm.Accepted:       {"✓ Confirmed: ", "Follow it on the board"},
		confirm.Changed:        {"Nothing was sent: the intent changed since you looked.", "5.99 USD", "7.99 USD", "you saw", "now"},
		confirm.NotConfirmable: {"Not confirmed: the intent has failed.", "It failed: expired. Nobody confirmed"},
		confirm.Already:        {"Already confirmed: ", "nothing was sent.", "placing order"},
		confirm.Refused:        {"the service refused it, and nothing was placed.", "validation failed"},
		confirm.Unknown:        {"Outcome unknown: it may have been placed.", "Reads go on while tillwatch runs", "Do not confirm it again"},
		confirm.NotSent:        {"Not confirmed: nothing was sent.", "not found"},
	}
	for _, outcome := range outcomes() {
		h := open(t, socks(), false)
		h.dialog.SetOutcome(outcome)
		for _, text := range want[outcome.Verdict] {
			h.sees(text)
		}
		for _, line := range []string{"It failed", "✓"} {
			if outcome.Verdict == confirm.Unknown && strings.Contains(h.screen(), line) {
				t.Errorf("an unknown outcome says %q", line)
			}
		}
	}
}

func TestAConfirmThatDidNotGoOutForAnEarlierOneIsNotSafeToTryAgain(t *testing.T) {
	h := open(t, socks(), false)
	h.dialog.SetOutcome(confirm.Outcome{Verdict: confirm.NotSent, Unsettled: true, Err: &confirm.UnsettledError{Earlier: confirm.Line{At: opened}}})
	h.sees("Nothing was sent: the outcome of an earlier confirm is not known yet.")
	h.sees(opened.Add(3 * time.Minute).Local().Format(time.DateTime))
	if strings.Contains(h.screen(), "safe to try again") || strings.Contains(h.screen(), "nothing was placed") {
		t.Errorf("it promises too much:\n%s", h.screen())
	}
}

func TestAnOrderAtAnotherTotalIsNoPlainSuccess(t *testing.T) {
	h := open(t, socks(), false)
	h.dialog.SetOutcome(confirm.Outcome{Verdict: confirm.Accepted, Differences: []confirm.Difference{{What: "total", Seen: "44.52 USD", Now: "99.00 USD"}}})
	h.sees("! Confirmed: the service accepted it.")
	h.sees("99.00 USD")
}

func TestAnOrderThatFailedAtOnceIsNoSuccess(t *testing.T) {
	h := open(t, socks(), false)
	h.dialog.SetOutcome(confirm.Outcome{Verdict: confirm.Accepted, Intent: &api.Intent{State: api.Failed, Failure: &api.FailureReason{Code: "payment_failed"}}})
	h.sees("✕ Confirmed, but the order failed.")
	h.sees("It failed: payment failed. ")
}

func TestGoldens(t *testing.T) {
	typed := func(live bool, keys ...string) *Confirm {
		d := NewConfirm(socks(), live, quiet(), opened)
		for i, name := range keys {
			keyAt(d, actiontest.Press(name), opened.Add(time.Duration(i+1)*calm))
		}
		d.SetNow(opened)
		return d
	}
	staged := typed(false)
	staged.SetProgress(confirm.Progress{Stage: confirm.Settling, Why: errors.New("POST /api/v1/checkout-intents/ci_779d/confirm: 404 not found"), By: opened.Add(2 * time.Minute), Until: opened.Add(150 * time.Second)})
	palette := NewPalette(action.Default(), action.Board, action.Default().ReadOnly(nil))
	for _, name := range []string{"c", "o", "n"} {
		palette.Key(actiontest.Press(name), opened)
	}
	blocks := map[string]Dialog{
		"test":    typed(false),
		"live":    typed(true, "tab", "2", "e"),
		"armed":   typed(true, "2", "e", "d", "7", "tab"),
		"stage":   staged,
		"help":    NewHelp(action.Default(), action.Default().ReadOnly(nil)),
		"palette": palette,
	}
	expired := typed(false)
	expired.SetNow(opened.Add(time.Hour))
	blocks["expired"] = expired
	for _, outcome := range outcomes() {
		d := typed(false)
		d.SetOutcome(outcome)
		blocks[string(outcome.Verdict)] = d
	}
	for name, b := range blocks {
		for _, size := range [][2]int{{116, 34}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", strings.ReplaceAll(name, " ", "-"), size[0], size[1]), func(t *testing.T) {
				w, h := b.Size(size[0], size[1])
				golden.RequireEqual(t, plain(b.View(ink(), w, h)))
			})
		}
	}
}

func TestTheWayOutIsWholeOnTheSmallestScreen(t *testing.T) {
	for name, b := range map[string]Dialog{
		"confirm":        NewConfirm(socks(), true, quiet(), opened),
		"an own command": NewProgram(own.Command{Name: "Note", Program: "note"}, []string{"note", "add"}, false),
	} {
		t.Run(name, func(t *testing.T) {
			if got := plain(sized(b, 40, 12)); !strings.Contains(got, "esc cancel ") {
				t.Errorf("cut:\n%s", got)
			}
		})
	}
}

func TestWithoutColoursNoneIsDrawn(t *testing.T) {
	table := action.Default()
	palette := NewPalette(table, action.Board, nil)
	for _, b := range []Dialog{NewConfirm(socks(), true, quiet(), opened), NewHelp(table, nil), palette} {
		for _, l := range b.View(paint.NewLine(paint.NewBrush(themes.Theme{}, false)), 80, 30) {
			for _, colour := range []string{"\x1b[3", ";3", "\x1b[4", ";48", ";38"} {
				if strings.Contains(strings.ReplaceAll(l, "\x1b[4m", ""), colour) {
					t.Fatalf("%T draws a colour: %q", b, l)
				}
			}
		}
	}
}
