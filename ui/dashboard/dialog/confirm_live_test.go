package dialog

import (
	"testing"
	"time"
)

func TestConfirmLiveIsArmedByTheEndOfTheIDOrTheTotal(t *testing.T) {
	for text, armed := range map[string]bool{
		"2ed7": true, "44.52": true, "44.52 USD": true, "44.52usd": true,
		"2ED7": false, "2ed": false, "2ed77": false, "44.5": false, "44,52": false, "4452": false, "44.52 EUR": false, "yes": false,
	} {
		h := open(t, socks(), true)
		h.key("tab", calm)
		h.write(text)
		if got := h.dialog.armed(); got != armed {
			t.Errorf("%q: armed is %v", text, got)
		}
		h.key("tab", calm)
		want := Closed
		if armed {
			want = Confirmed
		}
		if got := h.key("enter", calm); got != want {
			t.Errorf("%q, tab, enter answered %v, want %v", text, got, want)
		}
	}
}

func TestConfirmLiveNeedsTheButton(t *testing.T) {
	h := open(t, socks(), true)
	h.write("2ed7")
	h.sees("✓ armed")
	if got := h.key("enter", calm); got != None {
		t.Errorf("enter in the field answered %v", got)
	}
	h.sees("Armed: tab")
	h.key("tab", calm)
	h.sees("[ Confirm 44.52 USD ]")
	for _, name := range []string{" ", "y", "C"} {
		h := open(t, socks(), true)
		h.write("2ed7")
		h.key("tab", calm)
		if got := h.key(name, calm); got != None {
			t.Errorf("%q on the button answered %v", name, got)
		}
		if h.dialog.armed() {
			t.Errorf("%q after the right text leaves it armed", name)
		}
	}
}

func TestConfirmLiveNeedsAQuietEnter(t *testing.T) {
	h := open(t, socks(), true)
	h.write("2ed7")
	h.key("tab", calm)
	if got := h.key("enter", quietFor-time.Millisecond); got != None {
		t.Errorf("a hasty enter answered %v", got)
	}
	h.sees(tooSoon)
	if got := h.key("enter", quietSame); got != Confirmed {
		t.Errorf("a calm enter answered %v", got)
	}
}

func TestConfirmLiveSaysWhatDoesNotMatch(t *testing.T) {
	h := open(t, socks(), true)
	h.write("2ed8")
	h.sees("Neither the id's end nor the total.")
	h.key("backspace", calm)
	h.write("7")
	h.sees("✓ armed")
}

func TestConfirmLiveLettersThatCancelAreTextInTheField(t *testing.T) {
	seen := socks()
	seen.ID = "ci_noqn"
	h := open(t, seen, true)
	h.key("tab", calm)
	h.write("noqn")
	h.key("tab", calm)
	if got := h.key("enter", calm); got != Confirmed {
		t.Errorf("an id that ends in such letters answered %v", got)
	}
}
