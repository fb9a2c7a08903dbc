package dialog

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
)

func newPalette(t *testing.T, typed string) *Palette {
	table := action.Default()
	p := NewPalette(table, action.Board, table.ReadOnly(nil))
	for _, letter := range typed {
		p.Key(actiontest.Press(string(letter)), opened)
	}
	return p
}

func TestPaletteRanksTheLikeliestFirst(t *testing.T) {
	for typed, want := range map[string]action.ID{
		"zoom": action.Zoom, "zp": action.Zoom, "nt": action.NextTheme, "conf": action.Confirm, "HELP": action.Help,
		"theme": action.NextTheme, "cf": action.ClearFilter, "quota": action.FocusPane3, "pup": action.PageUp, "": action.Open,
	} {
		p := newPalette(t, typed)
		if len(p.hits) == 0 || p.hits[0].action.ID != want {
			t.Errorf("%q finds %v, want %q first", typed, p.hits, want)
		}
	}
}

func TestPaletteReturnsTheChoice(t *testing.T) {
	if got := newPalette(t, "zoom").Key(actiontest.Press("enter"), opened); got != (Answer{Kind: Closed, Do: action.Zoom}) {
		t.Errorf("enter answered %+v", got)
	}
	p := newPalette(t, "")
	p.Key(actiontest.Press("down"), opened)
	p.Key(actiontest.Press("down"), opened)
	third := p.hits[2].action.ID
	if got := p.Key(actiontest.Press("enter"), opened); got.Do != third || got.Kind != Closed {
		t.Errorf("the third is %q, enter answered %+v", third, got)
	}
}

func TestPaletteAnswersADisabledActionWithItsReason(t *testing.T) {
	p := newPalette(t, "confirm")
	if got := p.Key(actiontest.Press("enter"), opened); got != (Answer{}) {
		t.Errorf("enter answered %+v", got)
	}
	if screen := plain(p.View(ink(), 66, 20)); !strings.Contains(screen, "Not now: read-only: start with --allow-confirm.") {
		t.Errorf("the reason is not on\n%s", screen)
	}
}

func TestPaletteIsLeft(t *testing.T) {
	for _, key := range []tea.KeyPressMsg{actiontest.Press("esc"), {Code: 'c', Mod: tea.ModCtrl}, actiontest.Press("backspace")} {
		if got := newPalette(t, "").Key(key, opened); got != (Answer{Kind: Closed}) {
			t.Errorf("%q answered %+v", key, got)
		}
	}
	p := newPalette(t, "z")
	if got := p.Key(actiontest.Press("backspace"), opened); got.Kind != None || p.field.Value() != "" {
		t.Errorf("backspace with text answered %+v and left %q", got, p.field.Value())
	}
}

func TestPaletteCursorGoesRoundAndStaysInView(t *testing.T) {
	p := newPalette(t, "")
	p.Key(actiontest.Press("up"), opened)
	if p.at != len(p.hits)-1 {
		t.Fatalf("up from the first is %d of %d", p.at, len(p.hits))
	}
	for range 3 * len(p.hits) {
		p.Key(actiontest.Press("down"), opened)
		if screen := plain(p.View(ink(), 66, 18)); !strings.Contains(screen, "▸ "+p.hits[p.at].action.Title) {
			t.Fatalf("%q is under the cursor and not on\n%s", p.hits[p.at].action.Title, screen)
		}
	}
	p.Key(actiontest.Press("pgdown"), opened)
	p.Key(actiontest.Press("pgdown"), opened)
	p.Key(actiontest.Press("pgdown"), opened)
	if p.at != len(p.hits)-1 {
		t.Errorf("pages end at %d of %d", p.at, len(p.hits))
	}
}

func TestPalettePromisesEnterOnlyUntilItIsRefused(t *testing.T) {
	p := newPalette(t, "")
	p.SetVerbs([]Verb{{Name: "filter", Argument: "TEXT", Free: true}})
	for _, letter := range "filter age>x" {
		p.Key(actiontest.Press(string(letter)), opened)
	}
	const promise = "enter does it"
	if screen := plain(p.View(ink(), 66, 20)); !strings.Contains(screen, promise) {
		t.Errorf("before enter, %q is not on\n%s", promise, screen)
	}
	p.Refuse("write a time with its unit")
	if screen := plain(p.View(ink(), 66, 20)); strings.Contains(screen, promise) || !strings.Contains(screen, "No: write a time") {
		t.Errorf("once refused, it says\n%s", screen)
	}
}
