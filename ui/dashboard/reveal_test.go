package dashboard

import (
	"strings"
	"testing"
	"time"
)

func TestPersonalDataIsHiddenAgainWhenTheDetailIsLeft(t *testing.T) {
	for _, leave := range []string{"esc", "tab"} {
		m := boardOf(t, typicalShop(time.Now()), 200, 55)
		press(m, "4", "enter", "esc", "1", "enter")
		if got := screen(m); strings.Contains(got, "Austin") {
			t.Fatalf("personal data is shown at first:\n%s", got)
		}
		press(m, "p")
		if got := screen(m); !strings.Contains(got, "Austin") || !strings.Contains(got, "PERSONAL DATA SHOWN") || strings.Contains(got, "tok_live") {
			t.Errorf("after p:\n%s", got)
		}
		press(m, leave)
		if got := screen(m); strings.Contains(got, "Austin") || strings.Contains(got, "PERSONAL DATA SHOWN") || strings.Contains(got, "personal data is shown") {
			t.Errorf("%s leaves personal data on the screen:\n%s", leave, got)
		}
		press(m, "0")
		if strings.Contains(screen(m), "Austin") {
			t.Errorf("%s: it is shown again without being asked for", leave)
		}
	}
}

func TestCopyingAValueDoesNotEchoWhatIsPersonal(t *testing.T) {
	m := boardOf(t, typicalShop(time.Now()), 200, 55)
	press(m, "enter", "p")
	for range 60 {
		if value, _ := m.board.detail.Value(); value == "Ann" {
			break
		}
		press(m, "j")
	}
	if value, private := m.board.detail.Value(); value != "Ann" || !private {
		t.Fatalf("the cursor does not come to the buyer's name, but to %q", value)
	}
	if cmd := press(m, "y"); cmd == nil || !strings.Contains(screen(m), "asked the terminal to copy the value of this line") || strings.Contains(screen(m), "copy Ann") {
		t.Errorf("after y:\n%s", screen(m))
	}
}

func TestSecretsInAnAddressAreHiddenUntilTheyAreAskedFor(t *testing.T) {
	const secret = "https://us:opensesame@evil.example/p?token=abcdef"
	shop := typicalShop(time.Now())
	for _, in := range shop.reads {
		in.ProductURL = secret
	}
	m := boardOf(t, shop, 200, 55)
	press(m, "4", "enter", "esc", "1", "enter")
	if got := screen(m); strings.Contains(got, "opensesame") || strings.Contains(got, "abcdef") || !strings.Contains(got, "https://[masked]@evil.example/p?token=[masked]") {
		t.Errorf("at first:\n%s", got)
	}
	press(m, "p")
	if got := screen(m); !strings.Contains(got, secret) {
		t.Errorf("after p:\n%s", got)
	}
}
