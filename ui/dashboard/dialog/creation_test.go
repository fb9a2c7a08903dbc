package dialog

import (
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action/actiontest"
)

func magicOfTheTest() []string {
	return []string{"sold-out", "unpublished", "partial-stock", "many-variants", "high-value", "on-sale", "slow-offer", "payment_failed"}
}

func TestADraftIsTypedFieldByField(t *testing.T) {
	cases := []struct {
		name  string
		keys  []string
		paste string // before the keys
		want  Draft
		kind  Kind
		shows string
	}{
		{"nothing but enter", []string{"enter"}, "", Draft{Quantity: 1}, Submitted, "creating…"},
		{"a magic product", []string{"s", "o", "enter"}, "", Draft{Product: "so", Quantity: 1}, Submitted, "magic product: sold-out "},
		{"a URL that is pasted", []string{"tab", "backspace", "3", "tab", "o", "7", "enter"}, " https://shop.example/p\x1b[2J\n", Draft{"https://shop.example/p[2J", 3, "o7"}, Submitted, "a URL of any shop"},
		{"backwards", []string{"up", "o", "shift+tab", "2", "enter"}, "", Draft{Quantity: 12, Reference: "o"}, Submitted, "Reference  o"},
		{"no number", []string{"tab", "x", "enter"}, "", Draft{}, None, "The quantity must be a whole number."},
		{"left", []string{"x", "esc"}, "", Draft{Product: "x", Quantity: 1}, Closed, "x▏"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := NewCreation(magicOfTheTest())
			if c.paste != "" {
				m.Paste(c.paste)
			}
			var last Answer
			for _, name := range c.keys {
				last = m.Key(actiontest.Press(name), opened)
			}
			if got, err := m.Draft(); last.Kind != c.kind || c.kind != None && (err != nil || got != c.want) {
				t.Errorf("%v, %+v, %v", last, got, err)
			}
			w, h := m.Size(116, 34)
			if text := plain(m.View(ink(), w, h)); !strings.Contains(text, c.shows) || strings.Contains(text, "\x1b") {
				t.Errorf("no %q in\n%s", c.shows, text)
			}
		})
	}
}

func TestADraftIsSubmittedOnceUntilItIsAnswered(t *testing.T) {
	m := NewCreation(nil)
	for i, want := range []Kind{Submitted, None} {
		if got := m.Key(actiontest.Press("enter"), opened); got.Kind != want {
			t.Errorf("enter %d: %v", i+1, got)
		}
	}
	m.Key(actiontest.Press("x"), opened)
	m.Refuse("no such product")
	if got, _ := m.Draft(); got.Product != "" {
		t.Errorf("what is typed while it is sent is taken: %+v", got)
	}
	if got := m.Key(actiontest.Press("enter"), opened); got.Kind != Submitted {
		t.Errorf("again: %v", got)
	}
}

func TestFieldsOfADraftTakeClicks(t *testing.T) {
	m := NewCreation(nil)
	w, h := m.Size(116, 34)
	at := func(text string) (x, y int) {
		for y, line := range strings.Split(plain(m.View(ink(), w, h)), "\n") {
			if before, _, found := strings.Cut(line, text); found {
				return len([]rune(before)) + 1, y
			}
		}
		t.Fatalf("%q is not there", text)
		return 0, 0
	}
	x, y := at("Reference")
	m.Click(x, y, opened)
	m.Key(actiontest.Press("o"), opened)
	if got, _ := m.Draft(); got.Reference != "o" {
		t.Errorf("typed after a click: %+v", got)
	}
	for text, want := range map[string]Kind{"enter create": Submitted, "esc cancel": Closed, "tab next": None} {
		x, y := at(text)
		if got := m.Click(x, y, opened); got.Kind != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
