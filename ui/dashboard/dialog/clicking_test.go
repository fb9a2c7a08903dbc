package dialog

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/action"
)

// TestWhatTakesClicksIsWhatStandsThere looks at the cells of each target as they
// are drawn.
func TestWhatTakesClicksIsWhatStandsThere(t *testing.T) {
	names := []string{"Wool Socks", "長い商品名の靴下", "e\u0301\u0301", "👩‍👩‍👧‍👦", strings.Repeat("wide 幅 ", 40), "[ Confirm 44.52 USD ]"}
	words := map[string][]string{clicksClose: {"esc", "Cancel", "…"}, clicksYes: {"C", "…"}, clicksButton: {"Close", "…"}, clicksDo: {"enter", "…"}}
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 90).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		seen := socks()
		seen.Product = api.Text(rapid.SampledFrom(names).Draw(t, "product"))
		live := rapid.Bool().Draw(t, "live")
		d := NewConfirm(seen, live, quiet(), opened)
		switch rapid.IntRange(0, 4).Draw(t, "phase") {
		case 1:
			d.SetProgress(confirm.Progress{Stage: confirm.Sending})
		case 2:
			d.SetOutcome(rapid.SampledFrom(outcomes()).Draw(t, "outcome"))
		case 3:
			d.SetNow(opened.Add(time.Hour))
		case 4:
			d, _ = NewBatch([]confirm.Proposal{seen, socks()}, live, quiet(), opened)
		}
		lines := d.View(ink(), width, height)
		for _, s := range d.spots {
			if s.target == clicksField {
				continue
			}
			drawn := ansi.Cut(ansi.Strip(lines[s.y]), s.x, s.x+s.width)
			if !containsOne(drawn, words[s.target]) && s.width > 3 {
				t.Fatalf("%q takes clicks for %s:\n%s", drawn, s.target, plain(lines))
			}
		}
		p := NewPalette(action.Default(), action.Board, nil)
		lines = p.View(ink(), width, height)
		for _, s := range p.spots {
			drawn := ansi.Cut(ansi.Strip(lines[s.y]), s.x, s.x+s.width)
			want := words[s.target]
			if at, err := strconv.Atoi(s.target); err == nil {
				want = []string{p.hits[at].action.Title, p.hits[at].action.Key(), "▸", "…"}
			}
			if strings.TrimSpace(drawn) != "" && !containsOne(strings.TrimSpace(drawn), want) && !containsOne(want[0], []string{strings.TrimSpace(drawn)}) {
				t.Fatalf("%q takes clicks for %s:\n%s", drawn, want, plain(lines))
			}
		}
	})
}

func containsOne(text string, words []string) bool {
	for _, w := range words {
		if w != "" && strings.Contains(text, w) {
			return true
		}
	}
	return false
}

func TestACellBesideAButtonTakesNoClick(t *testing.T) {
	d := NewConfirm(socks(), false, quiet(), opened)
	lines := d.View(ink(), 66, 30)
	yes := 0
	for y := range lines {
		for x := range 66 {
			if d.spots.at(x, y) == clicksYes {
				yes++
			}
		}
	}
	if want := len("C  Confirm 44.52 USD"); yes != want {
		t.Errorf("%d cells confirm, want the %d of the button:\n%s", yes, want, plain(lines))
	}
	if got := d.spots.at(-1, -1); got != "" {
		t.Errorf("%q outside", got)
	}
}

func TestWhatWasNotDrawnTakesNoClick(t *testing.T) {
	d := NewConfirm(socks(), false, quiet(), opened)
	answer(d.quiet, opened.Add(time.Minute))
	for y := range 40 {
		for x := range 80 {
			if got := d.Click(x, y, opened.Add(time.Hour)); got.Kind != None {
				t.Fatalf("a click at %d, %d answers %v", x, y, got.Kind)
			}
		}
	}
}
