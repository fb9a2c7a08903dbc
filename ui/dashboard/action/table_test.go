package action

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestEveryActionIsComplete(t *testing.T) {
	groups := map[Group]bool{}
	for _, g := range Groups() {
		groups[g] = true
	}
	for _, a := range Default().Actions() {
		if a.ID == "" || len(a.Keys) == 0 || a.Title == "" || a.Tooltip == "" {
			t.Errorf("%q lacks a key, a title or a tooltip: %+v", a.ID, a)
		}
		if !groups[a.Group] {
			t.Errorf("%q stands in no group of the help", a.ID)
		}
		if !strings.HasSuffix(a.Tooltip, ".") {
			t.Errorf("the tooltip of %q is no sentence", a.ID)
		}
	}
}

func TestConfirmingAloneIsDangerous(t *testing.T) {
	for _, a := range Default().Actions() {
		if a.Dangerous != (a.ID == Confirm || a.ID == ConfirmMarked) {
			t.Errorf("%q: dangerous is %v", a.ID, a.Dangerous)
		}
	}
}

func TestNewTableNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name    string
		actions []Action
		want    []string
	}{
		{"two actions on one key", []Action{{ID: "one", Keys: []string{"x"}}, {ID: "two", Keys: []string{"y", "x"}}}, []string{`"x"`, `"one"`, `"two"`}},
		{"everywhere meets a scope", []Action{{ID: "one", Keys: []string{"x"}}, {ID: "two", Keys: []string{"x"}, Scope: Detail}}, []string{`"one"`, `"two"`}},
		{"one key written in two ways", []Action{{ID: "one", Keys: []string{"Escape"}}, {ID: "two", Keys: []string{"esc"}}}, []string{`"esc"`}},
		{"an action twice", []Action{{ID: "one"}, {ID: "one"}}, []string{`"one" is defined twice`}},
		{"no key", []Action{{ID: "one", Keys: []string{"ctrl+banana"}}}, []string{`"one"`, `"ctrl+banana" is not a key`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewTable(c.actions)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %s", err, want)
				}
			}
		})
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name  string
		scope Scope
		key   tea.KeyPressMsg
		want  ID
	}{
		{"letter", Board, tea.KeyPressMsg{Code: 'q', Text: "q"}, Quit},
		{"shifted letter", Board, tea.KeyPressMsg{Code: 'g', ShiftedCode: 'G', Text: "G", Mod: tea.ModShift}, Bottom},
		{"question mark of an enhanced keyboard", Board, tea.KeyPressMsg{Code: '/', ShiftedCode: '?', Text: "?", Mod: tea.ModShift}, Help},
		{"space", Board, tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}, Freeze},
		{"tab", Board, tea.KeyPressMsg{Code: tea.KeyTab}, FocusNext},
		{"shift tab", Board, tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, FocusPrevious},
		{"arrow", Detail, tea.KeyPressMsg{Code: tea.KeyDown}, Down},
		{"control", Detail, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, Quit},
		{"enter of the number block", Board, tea.KeyPressMsg{Code: tea.KeyKpEnter}, Open},
		{"escape on the board", Board, tea.KeyPressMsg{Code: tea.KeyEscape}, ClearFilter},
		{"escape in the detail", Detail, tea.KeyPressMsg{Code: tea.KeyEscape}, Back},
		{"the place of a key on a Cyrillic keyboard", Board, tea.KeyPressMsg{Code: 'й', BaseCode: 'q', Text: "й"}, Quit},
		{"its shifted place", Board, tea.KeyPressMsg{Code: 'п', BaseCode: 'g', Text: "П", Mod: tea.ModShift}, Bottom},
		{"the place of a vowel sign on a Thai keyboard", Board, tea.KeyPressMsg{Code: 'ี', BaseCode: 'u', Text: "ี"}, Usage},
		{"never the place of a dangerous one", Board, tea.KeyPressMsg{Code: 'с', BaseCode: 'c', Text: "с"}, ""},
		{"nor a place on another Latin keyboard", Board, tea.KeyPressMsg{Code: 'ä', BaseCode: 'q', Text: "ä"}, ""},
		{"no action", Board, tea.KeyPressMsg{Code: '%', Text: "%"}, ""},
		{"held alt", Board, tea.KeyPressMsg{Code: 'c', Mod: tea.ModAlt}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a, ok := Default().Lookup(c.scope, c.key); a.ID != c.want || ok != (c.want != "") {
				t.Errorf("%q is %q, want %q", c.key, a.ID, c.want)
			}
		})
	}
}

func TestReadOnlyDisablesTheDangerousAndNothingElse(t *testing.T) {
	table := Default()
	disabled := table.ReadOnly(func(id ID) string {
		if id == Refresh {
			return "no quota"
		}
		return ""
	})
	for _, a := range table.Actions() {
		want := ""
		if a.Dangerous {
			want = ReadOnlyReason
		} else if a.ID == Refresh {
			want = "no quota"
		}
		if got := disabled(a.ID); got != want {
			t.Errorf("%q: %q, want %q", a.ID, got, want)
		}
	}
	if got := table.ReadOnly(nil)(Confirm); got != ReadOnlyReason {
		t.Errorf("without other reasons: %q", got)
	}
}

func TestHelpListsEveryActionOnce(t *testing.T) {
	seen := map[ID]int{}
	for _, section := range Default().Help() {
		for _, a := range section.Actions {
			seen[a.ID]++
		}
	}
	for _, a := range Default().Actions() {
		if seen[a.ID] != 1 {
			t.Errorf("%q is there %d times", a.ID, seen[a.ID])
		}
	}
}

func TestActionsAreNotSharedWithTheCaller(t *testing.T) {
	table := Default()
	table.Actions()[0].ID = "changed"
	if _, ok := table.Action("changed"); ok || table.Actions()[0].ID == "changed" {
		t.Error("the table changed with the caller's copy")
	}
}
