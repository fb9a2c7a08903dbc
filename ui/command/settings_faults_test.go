package command

import (
	"errors"
	"strings"
	"testing"
)

func TestSeveralFaultsAreListedBelowEachOther(t *testing.T) {
	got := inLines(errors.Join(errors.New("the first \x1b[31mof them"), errors.New("another")))
	if first, second, _ := strings.Cut(got, "\n  "); !strings.HasPrefix(first, "the first ") || strings.Contains(first, "\x1b") || second != "another" {
		t.Errorf("reported as %q", got)
	}
}
