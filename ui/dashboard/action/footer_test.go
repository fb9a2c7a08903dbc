package action

import (
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
