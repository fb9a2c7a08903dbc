package action

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestFooterFitsAnyWidth(t *testing.T) {
	table := Default()
	for _, disabled := range []func(ID) string{nil, table.ReadOnly(nil)} {
		for _, scope := range []Scope{Board, Detail, Everywhere} {
			for width := range 301 {
				var texts []string
				for _, hint := range table.Footer(scope, width, nil, disabled) {
					texts = append(texts, hint.String())
				}
				line := strings.Join(texts, strings.Repeat(" ", HintGap))
				if got := ansi.StringWidth(line); got > width {
					t.Fatalf("%d cells in %d: %q", got, width, line)
				}
			}
		}
	}
}

func TestFooterKeepsTheMostUsefulLongest(t *testing.T) {
	table := Default()
	ids := func(width int) []ID {
		var out []ID
		for _, hint := range table.Footer(Board, width, nil, nil) {
			out = append(out, hint.ID)
		}
		return out
	}
	if got := ids(8); !slices.Equal(got, []ID{Help}) {
		t.Errorf("in 8 cells: %v", got)
	}
	if got := ids(300); !slices.Contains(got, NextTheme) || !slices.Contains(got, Confirm) {
		t.Errorf("in 300 cells: %v", got)
	}
	if got := len(ids(0)); got != 0 {
		t.Errorf("%d hints in no cell", got)
	}
}

func TestFooterShowsADisabledActionWithItsReason(t *testing.T) {
	table := Default()
	confirm := func(width int, back bool) string {
		offers := func(id ID) bool { return id != ClearFilter || back }
		for _, hint := range table.Footer(Board, width, offers, table.ReadOnly(nil)) {
			if hint.ID == Confirm {
				return hint.String()
			}
		}
		return ""
	}
	const want = "c confirm — read-only"
	for width := range 301 {
		for back, from := range map[bool]int{false: 52, true: 63} { // the way back comes first
			if got := confirm(width, back); got != want && (got != "" || width >= from) {
				t.Errorf("in %d cells, with a way back %t: %q, want %q", width, back, got, want)
			}
		}
	}
}
