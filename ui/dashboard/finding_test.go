package dashboard

import (
	"strings"
	"testing"
	"time"

	"tillwatch/ui/dashboard/pane"
)

// rawShop is a shop of one completed intent whose body has branches and a buyer.
func rawShop() *shop {
	s := typicalShop(time.Now())
	for _, in := range s.reads {
		in.Raw = []byte(`{"id":"` + string(in.ID) + `","state":"` + string(in.State) + `","offer":{"lines":[{"sku":"gel-pen-1","note":"Gel pen"},{"sku":"mug-7"}],"cost":{"total":{"currencyCode":"USD"}}},` +
			`"buyer":{"firstName":"Ann","email":"ann@buyer.example"},"paymentMethod":{"token":"tok_live_1"}}`)
	}
	return s
}

func TestATextIsFoundInTheDetailAndItsRawBody(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}} {
		m := boardOf(t, rawShop(), size[0], size[1])
		press(m, "enter", "/")
		write(m, "gel")
		if got := screen(m); !strings.Contains(got, "find gel▏") || !strings.Contains(got, "1 of 2") {
			t.Fatalf("%v: while it is typed:\n%s", size, got)
		}
		press(m, "enter") // the sixth key
		d := m.board.detail
		first := d.Line()
		if value, _ := d.Value(); value != "gel-pen-1" || !strings.Contains(screen(m), "/ gel  1 of 2") || !strings.Contains(drawing(m), "gel") {
			t.Errorf("%v: the cursor is on %q:\n%s", size, value, screen(m))
		}
		press(m, "n")
		if value, _ := d.Value(); value != "Gel pen" || !strings.Contains(screen(m), "/ gel  2 of 2") {
			t.Errorf("%v: n leads to %q:\n%s", size, value, screen(m))
		}
		if press(m, "n"); d.Line() != first || !strings.Contains(screen(m), "past the end: 1 of 2 from the top") {
			t.Errorf("%v: past the end, the cursor is on line %d, want %d:\n%s", size, d.Line(), first, screen(m))
		}
		if press(m, "N"); d.Line() == first || !strings.Contains(screen(m), "past the top: 2 of 2 from the end") {
			t.Errorf("%v: before the first, the cursor is on line %d:\n%s", size, d.Line(), screen(m))
		}
		if press(m, "esc"); !m.board.detailOpen || strings.Contains(screen(m), "/ gel") || strings.Contains(screen(m), "past the top") {
			t.Errorf("%v: esc does not end it:\n%s", size, screen(m))
		}
		if press(m, "esc"); m.board.detailOpen {
			t.Errorf("%v: esc does not close the detail once nothing is looked for", size)
		}
	}
}

func TestWhatIsMaskedIsNotFound(t *testing.T) {
	m := boardOf(t, rawShop(), 200, 55)
	press(m, "enter")
	for _, secret := range []string{"Ann", "buyer.example", "tok_live", "Austin"} {
		press(m, "/")
		write(m, secret)
		if got := screen(m); !strings.Contains(got, "nothing found") {
			t.Errorf("%q is found although it is masked:\n%s", secret, got)
		}
		press(m, "esc")
	}
	press(m, "p", "/")
	write(m, "Ann")
	if got := screen(m); strings.Contains(got, "nothing found") {
		t.Errorf("what is shown is not found:\n%s", got)
	}
	press(m, "enter", "p")
	if got := screen(m); !strings.Contains(got, "/ Ann  nothing found") {
		t.Errorf("it is still found once it is hidden again:\n%s", got)
	}
	press(m, "p", "/", "ctrl+u")
	write(m, "tok_live")
	if got := screen(m); !strings.Contains(got, "nothing found") {
		t.Errorf("a token is found:\n%s", got)
	}
}

func TestEscapeTakesBackWhatIsLookedFor(t *testing.T) {
	m := boardOf(t, rawShop(), 160, 45)
	press(m, "enter", "/")
	write(m, "mug")
	press(m, "enter")
	at := m.board.detail.Line()
	press(m, "/")
	write(m, "gel")
	press(m, "esc")
	if text, _ := m.board.detail.Sought(); text != "mug" || m.board.detail.Line() != at {
		t.Errorf("after esc, %q is looked for on line %d, want mug on %d", text, m.board.detail.Line(), at)
	}
	press(m, "esc", "n")
	if got := screen(m); !strings.Contains(got, "there is no text to find: / finds a text in the detail") {
		t.Errorf("n says nothing:\n%s", got)
	}
	press(m, "/")
	write(m, "zzz")
	press(m, "enter", "n")
	if got := screen(m); !strings.Contains(got, "no line of the detail contains zzz") {
		t.Errorf("n does not say that there is none:\n%s", got)
	}
	m.details.open(pane.Subject{Kind: pane.OfIntent, ID: m.board.detail.Subject().ID})
	if text, _ := m.board.detail.Sought(); text != "" {
		t.Errorf("%q is still looked for in another detail", text)
	}
}

func TestAFoundTextStandsOutWithoutColour(t *testing.T) {
	m := boardOf(t, rawShop(), 120, 36)
	press(m, "enter", "/")
	write(m, "gel-pen")
	press(m, "enter")
	for line := range strings.SplitSeq(drawing(m), "\n") {
		if at := strings.Index(line, "gel-pen-1"); at >= 0 {
			t.Errorf("it is drawn as the rest of its line: %q", line)
		}
	}
	if !strings.Contains(drawing(m), "gel-pen\x1b[m") {
		t.Errorf("the text is not drawn by itself")
	}
}
