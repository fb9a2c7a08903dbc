package dialog

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action/actiontest"
)

func TestConfirmInATestEnvironmentTakesNoOtherKey(t *testing.T) {
	for _, name := range []string{"c", "y", "Y", " ", "tab", "right", "down", "1"} {
		h := open(t, socks(), false)
		if got := h.key(name, calm); got != None {
			t.Errorf("%q answered %v", name, got)
		}
	}
	for _, mod := range []tea.KeyMod{tea.ModAlt, tea.ModCtrl, tea.ModMeta} {
		h := open(t, socks(), false)
		if got := keyAt(h.dialog, tea.KeyPressMsg{Code: 'C', Text: "C", Mod: mod}, opened.Add(calm)).Kind; got != None {
			t.Errorf("C with %v answered %v", mod, got)
		}
	}
}

func TestConfirmSaysThatTheNumberIsNotKnown(t *testing.T) {
	seen := socks()
	seen.Quantity = 0 // the contract does not promise it
	several := basket(2)
	several[0].Product, several[0].Quantity, several[1].Quantity = seen.Product, 0, 0
	for name, h := range map[string]*hand{"one": open(t, seen, false), "several": openBatch(t, several, false, 40)} {
		view := ansi.Strip(strings.Join(h.dialog.View(ink(), 78, 40), "\n"))
		if !strings.Contains(view, string(seen.Product)+", how many is not known") || strings.Contains(view, "×") {
			t.Errorf("%s:\n%s", name, view)
		}
	}
}

func TestConfirmShowsAllThatIsBoughtOrTakesNoYes(t *testing.T) {
	seen := socks()
	seen.Product = "Merino Hiking Socks for Long Days in Wet Boots, Reinforced at Heel and Toe, in a Gift Box with a Card that is Written by Hand"
	seen.Variant = "Colour Heather Grey / Size XL, extra long / Pack of three pairs in a tin"
	seen.Merchant = "the-outfitters-of-the-northern-mountains-and-the-far-islands.example"
	for _, width := range []int{40, 66} {
		for height := range 40 {
			h := open(t, seen, false)
			view := ansi.Strip(strings.Join(h.dialog.View(ink(), width, height), "\n"))
			shown := strings.Join(strings.Fields(strings.ReplaceAll(view, "│", "")), " ")
			packed := strings.ReplaceAll(shown, " ", "")
			whole := true
			for _, text := range []string{string(seen.Product) + " ×2", string(seen.Variant), string(seen.Merchant)} {
				whole = whole && strings.Contains(packed, strings.ReplaceAll(text, " ", ""))
			}
			if yes := h.key("C", calm) == Confirmed; yes && !whole {
				t.Errorf("%dx%d takes a yes without all of it:\n%s", width, height, shown)
			}
			if height == 39 && !whole {
				t.Errorf("%d columns: it is not all shown:\n%s", width, view)
			}
		}
	}
}

func TestConfirmOpensOnCancel(t *testing.T) {
	for _, live := range []bool{false, true} {
		h := open(t, socks(), live)
		h.sees("[ Cancel ]")
		if got := h.key("enter", calm); got != Closed {
			t.Errorf("enter, live %v, answered %v", live, got)
		}
	}
}

func TestConfirmIsLeftByKeysThatSayNo(t *testing.T) {
	for _, live := range []bool{false, true} {
		for _, name := range []string{"esc", "q", "n"} {
			h := open(t, socks(), live)
			if got := h.key(name, calm); got != Closed {
				t.Errorf("%q, live %v, answered %v", name, live, got)
			}
		}
	}
}

func TestConfirmIgnoresKeysUntilTheyAreQuiet(t *testing.T) {
	for _, name := range []string{"C", "enter", "q", "n", "x"} {
		h := open(t, socks(), false)
		for range 5 {
			if got := h.key(name, quietFor-time.Millisecond); got != None {
				t.Fatalf("%q before the quiet answered %v", name, got)
			}
		}
		h.dialog.SetNow(h.at.Add(quietSame))
		h.sees(tooSoon)
		answer(h.dialog.quiet, h.at.Add(quietSame))
		h.sees(soonOver)
	}
	h := open(t, socks(), false)
	h.key("x", quietFor-time.Millisecond)
	if got := h.key("C", quietFor-time.Millisecond); got != None {
		t.Errorf("a key in the quiet time does not begin it anew: %v", got)
	}
	if got := h.key("q", quietFor); got != Closed {
		t.Errorf("after the quiet q answered %v", got)
	}
}

func TestEscapeLeavesAtOnce(t *testing.T) {
	if got := open(t, socks(), false).key("esc", time.Millisecond); got != Closed {
		t.Errorf("a hurried escape answered %v", got)
	}
}

func TestConfirmAcceptsNoTimeBeforeItsOpening(t *testing.T) {
	h := open(t, socks(), false)
	if got := h.key("C", -time.Hour); got != None {
		t.Errorf("a key from before the opening answered %v", got)
	}
}

func TestConfirmIgnoresAHeldKey(t *testing.T) {
	h := open(t, socks(), false)
	h.key("C", 10*time.Millisecond)
	for _, after := range []time.Duration{660 * time.Millisecond, 30 * time.Millisecond, 500 * time.Millisecond} {
		if got := h.key("C", after); got != None {
			t.Fatalf("a C held down answered %v", got)
		}
	}
	if got := h.key("C", quietSame); got != Confirmed {
		t.Errorf("a C pressed anew answered %v", got)
	}

	repeat := actiontest.Press("C")
	repeat.IsRepeat = true
	h = open(t, socks(), false)
	h.at = opened.Add(calm)
	if got := h.press(repeat); got != None {
		t.Errorf("a repeat that says so answered %v", got)
	}
}

func TestConfirmIgnoresATypedAheadSequence(t *testing.T) {
	h := open(t, socks(), true)
	h.key("x", calm)
	h.key("backspace", calm)
	for _, name := range []string{"2", "e", "d", "7", "tab", "enter", "enter", "y", "C"} {
		if got := h.key(name, 5*time.Millisecond); got == Confirmed {
			t.Fatalf("%q in a burst confirmed", name)
		}
	}
}

func TestConfirmIgnoresPastes(t *testing.T) {
	for _, content := range []string{"C", "2ed7", "44.52", "2ed7\t\r", "y\n"} {
		for _, live := range []bool{false, true} {
			h := open(t, socks(), live)
			h.at = opened.Add(calm)
			h.paste(content)
			if h.dialog.armed() || h.dialog.field.Value() != "" {
				t.Errorf("pasting %q reached the field", content)
			}
			h.sees("Pasted text is ignored")
		}
	}
}

func TestConfirmAfterAPasteWaitsForQuiet(t *testing.T) {
	h := open(t, socks(), false)
	h.key("x", calm)
	h.at = h.at.Add(calm)
	h.paste("C")
	if got := h.key("C", quietFor-time.Millisecond); got != None {
		t.Errorf("right after a paste C answered %v", got)
	}
}

func TestConfirmKeyOfTheClipboardDoesNothing(t *testing.T) {
	h := open(t, socks(), true)
	h.key("tab", calm)
	h.at = opened.Add(2 * calm)
	h.press(tea.KeyPressMsg{Code: 'v', Mod: tea.ModCtrl})
	if h.dialog.field.Value() != "" || h.dialog.field.KeyMap.Paste.Enabled() {
		t.Error("ctrl+v reads the clipboard")
	}
}

func TestConfirmFocusGoesRound(t *testing.T) {
	h := open(t, socks(), true)
	for _, want := range []focus{onField, onCancel, onField} {
		h.key("tab", calm)
		if h.dialog.focus != want {
			t.Fatalf("focus %v, want %v", h.dialog.focus, want)
		}
	}
	h.write("2ed7")
	for _, want := range []focus{onConfirm, onCancel} {
		h.key("tab", calm)
		if h.dialog.focus != want {
			t.Fatalf("armed: focus %v, want %v", h.dialog.focus, want)
		}
	}
	h.key("shift+tab", calm)
	if h.dialog.focus != onConfirm {
		t.Error("it does not go back")
	}
}

func TestConfirmWindowThatEndedWhileOpen(t *testing.T) {
	for _, live := range []bool{false, true} {
		h := open(t, socks(), live)
		if live {
			h.write("2ed7")
			h.key("tab", calm)
		}
		h.at = socks().ExpiresAt
		for _, name := range []string{"C", "2", "tab", "y"} {
			if got := h.key(name, calm); got != None {
				t.Errorf("%q after the end, live %v, answered %v", name, live, got)
			}
		}
		h.sees("It can no longer be confirmed.")
		h.sees("[ Close ]")
		if got := h.key("enter", calm); got != Closed {
			t.Errorf("enter after the end answered %v", got)
		}
	}
}

func TestConfirmCountsDown(t *testing.T) {
	h := open(t, socks(), false)
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{3*time.Hour + 5*time.Minute, "closes in 3h5m"},
		{6*time.Minute + 12*time.Second, "closes in 6m12s"},
		{119 * time.Second, "! closes in 1m59s"},
		{time.Second, "! closes in 1s"},
		{time.Millisecond, "! closes in 1s"},
		{0, "✕ closed"},
		{-time.Hour, "✕ closed"},
	} {
		h.dialog.SetNow(socks().ExpiresAt.Add(-c.left))
		h.sees(c.want)
	}
	seen := socks()
	seen.ExpiresAt = time.Time{}
	h = open(t, seen, false)
	h.sees("Window        not known")
	if got := h.key("C", 100*time.Hour); got != Confirmed {
		t.Errorf("without a known end C answered %v", got)
	}
}

func TestConfirmAnswersWithWhatWasSeen(t *testing.T) {
	seen := socks()
	h := open(t, seen, false)
	seen.Cost.Total.Subunits = 999999
	*seen.Cost.Shipping = *usd(1)
	answer := keyAt(h.dialog, actiontest.Press("C"), opened.Add(calm))
	bound := h.dialog.Proposal()
	if answer.Kind != Confirmed || bound.ID != "ci_779d1ba1900f41e1ace4536c64382ed7" {
		t.Fatalf("answered %v for %q", answer.Kind, bound.ID)
	}
	if got := *bound.Cost.Total; got != *usd(4452) {
		t.Errorf("the total moved under the dialog: %v", got)
	}
	if got := *bound.Cost.Shipping; got != *usd(599) {
		t.Errorf("the shipping moved under the dialog: %v", got)
	}
}

func TestConfirmIsNeverConfirmedTwice(t *testing.T) {
	h := open(t, socks(), false)
	if got := h.key("C", calm); got != Confirmed {
		t.Fatal(got)
	}
	for _, name := range []string{"C", "enter", "y", " "} {
		if got := h.key(name, calm); got == Confirmed {
			t.Errorf("%q confirmed again", name)
		}
	}
	h.dialog.SetOutcome(confirm.Outcome{Verdict: confirm.NotSent})
	if got := h.key("C", calm); got == Confirmed {
		t.Error("C confirmed again after the outcome")
	}
	if got := h.key("esc", calm); got != Closed {
		t.Errorf("esc answered %v", got)
	}
}

func TestConfirmNeedsToBeSeenInFull(t *testing.T) {
	d := NewConfirm(socks(), false, quiet(), opened)
	if got := keyAt(d, actiontest.Press("C"), opened.Add(calm)).Kind; got != None {
		t.Errorf("before it was drawn C answered %v", got)
	}
	for _, size := range [][2]int{{80, 6}, {20, 30}, {0, 0}} {
		d.View(ink(), size[0], size[1])
		if got := keyAt(d, actiontest.Press("C"), opened.Add(3*calm)).Kind; got != None {
			t.Errorf("drawn %v C answered %v", size, got)
		}
	}
	d.View(ink(), 40, 12)
	if got := keyAt(d, actiontest.Press("C"), opened.Add(9*calm)).Kind; got != Confirmed {
		t.Errorf("drawn 40x12 C answered %v", got)
	}
}

func TestConfirmLeavesAbsentAmountsOut(t *testing.T) {
	seen := socks()
	seen.Cost = api.Cost{Subtotal: usd(4452), Total: usd(4452), Tax: usd(0)}
	h := open(t, seen, false)
	screen := h.screen()
	for _, label := range []string{"Shipping", "Discount", "Surcharge"} {
		if strings.Contains(screen, label) {
			t.Errorf("%s is absent and stands there", label)
		}
	}
	h.sees("Tax")
	h.sees("0.00 USD")
}

func TestConfirmScrubsRemoteText(t *testing.T) {
	seen := socks()
	seen.Product = "Socks\r\x1b]52;c;aGk=\x07TOTAL 1 USD\u202e"
	seen.Merchant = "\x1b[2Jacme\u200b"
	seen.ID = "ci_\x1b[31m\u009b2ed7"
	seen.Environment = "sta\x07ging"
	d := NewConfirm(seen, true, quiet(), opened)
	d.SetOutcome(confirm.Outcome{Verdict: confirm.Changed, Differences: []confirm.Difference{{What: "to\rtal", Seen: "\x1b[1m1", Now: "\u202e2"}}})
	for _, d := range []*Confirm{d, NewConfirm(seen, true, quiet(), opened)} {
		w, h := d.Size(80, 50)
		if bad := strings.IndexFunc(plain(d.View(ink(), w, h)), isControl); bad >= 0 {
			t.Errorf("a control character is drawn at byte %d", bad)
		}
	}
}
