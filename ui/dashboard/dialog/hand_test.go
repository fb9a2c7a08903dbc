package dialog

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/themes"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/paint"
)

var opened = time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC)

const calm = 2 * time.Second

func usd(subunits int64) *api.Money { return &api.Money{Currency: "USD", Subunits: subunits} }

func socks() confirm.Proposal {
	return confirm.Proposal{
		ID: "ci_779d1ba1900f41e1ace4536c64382ed7", Environment: "staging",
		Product: "Wool Socks", ProductURL: "https://acme.example/products/wool-socks", Merchant: "acme.example", Quantity: 2,
		Cost:      api.Cost{Subtotal: usd(3490), Shipping: usd(599), Tax: usd(363), Discount: usd(1290), Surcharge: usd(1290), Total: usd(4452)},
		Total:     *usd(4452),
		ExpiresAt: opened.Add(6*time.Minute + 12*time.Second),
	}
}

// ink draws in the theme dark.
func ink() *paint.Line {
	theme, _ := themes.Find("dark")
	return paint.NewLine(paint.NewBrush(theme, false))
}

// sized draws a dialog in the size that it wants.
func sized(d Dialog, width, height int) []string {
	w, h := d.Size(width, height)
	return d.View(ink(), w, h)
}

// hand opens a dialog, shows it once and presses keys on it at chosen moments.
type hand struct {
	t      *testing.T
	dialog *Confirm
	at     time.Time
}

func open(t *testing.T, seen confirm.Proposal, live bool) *hand {
	h := &hand{t: t, dialog: NewConfirm(seen, live, quiet(), opened), at: opened}
	h.dialog.View(ink(), 80, 40)
	return h
}

// quiet is that of a terminal on which a dialog was just opened.
func quiet() *Quiet {
	q := &Quiet{}
	q.Begin(opened)
	return q
}

// answer has the terminal answer, if the keys have been quiet by then.
func answer(q *Quiet, at time.Time) {
	if q.Waited(at).Ask {
		q.Answered(at, true)
	}
}

// key presses a key so long after the one before, on a terminal that answers at
// once.
func (h *hand) key(name string, after time.Duration) Kind {
	h.at = h.at.Add(after)
	return h.press(actiontest.Press(name))
}

func (h *hand) press(key tea.KeyPressMsg) Kind { return keyAt(h.dialog, key, h.at).Kind }

// keyAt presses a key on a terminal that answers at once.
func keyAt(d *Confirm, key tea.KeyPressMsg, at time.Time) Answer {
	answer(d.quiet, at)
	return d.Key(key, at)
}

// paste is what the root makes of one.
func (h *hand) paste(text string) {
	h.dialog.Paste(text)
	h.dialog.quiet.Begin(h.at)
}

func (h *hand) write(text string) {
	h.t.Helper()
	for _, letter := range text {
		if got := h.key(string(letter), calm); got != None {
			h.t.Fatalf("typing %q answered %v", letter, got)
		}
	}
}

func (h *hand) screen() string {
	w, height := h.dialog.Size(80, 50)
	return plain(h.dialog.View(ink(), w, height))
}

func plain(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) + "\n" }

func (h *hand) sees(text string) {
	h.t.Helper()
	screen := h.screen()
	unwrapped := strings.Join(strings.Fields(strings.ReplaceAll(screen, "│", " ")), " ")
	if !strings.Contains(screen, text) && !strings.Contains(unwrapped, text) {
		h.t.Errorf("%q is not on\n%s", text, screen)
	}
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b
}
