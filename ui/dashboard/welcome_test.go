package dashboard

import (
	"testing"

	"tillwatch/ui/dashboard/action"
)

func TestTheHintsGoAfterAFewKeysOrWithTheHelp(t *testing.T) {
	for _, c := range []struct {
		name       string
		acquainted bool
		keys       int
		helped     bool
		new, kept  bool
	}{
		{"at first", false, 0, false, true, false},
		{"after a key", false, 1, false, true, false},
		{"after a few", false, hintKeys, false, false, true},
		{"with the help", false, 1, true, false, true},
		{"in the next run", true, 3, false, false, false},
	} {
		kept := false
		remember := func(Layout) { kept = true }
		w := &welcome{cfg: &Config{Actions: action.Default(), Remember: remember}, preferences: newPreferences(Layout{Acquainted: c.acquainted}, remember)}
		for range c.keys {
			w.press(c.helped)
		}
		if w.isNew() != c.new || kept != c.kept {
			t.Errorf("%s: the hints are shown: %t, want %t; it is remembered: %t, want %t", c.name, w.isNew(), c.new, kept, c.kept)
		}
	}
}
