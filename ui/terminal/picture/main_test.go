package main

import (
	"strings"
	"testing"
)

func TestSizesAreColumnsByRows(t *testing.T) {
	for _, bad := range []string{"", "120", "x36", "0x5", "120x36x2", "12000x5"} {
		err := run(t.Context(), []string{"-size", bad, "true"})
		if err == nil || !strings.Contains(err.Error(), "120x36") {
			t.Errorf("%q is taken, or refused with %v", bad, err)
		}
	}
}

func TestStepsAreWhatAPersonDoes(t *testing.T) {
	steps, err := parseSteps("wait:2s keys:c see:Confirm")
	if len(steps) != 3 || err != nil {
		t.Errorf("%d steps, %v", len(steps), err)
	}
	for _, bad := range []string{"wait:long", "keys:", "see:(", "dance"} {
		if _, err := parseSteps(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q is taken, or refused with %v", bad, err)
		}
	}
}

func TestAPictureOfNothingIsRefused(t *testing.T) {
	if err := run(t.Context(), []string{"-size", "10x10"}); err == nil {
		t.Error("a picture was made of no program")
	}
}
