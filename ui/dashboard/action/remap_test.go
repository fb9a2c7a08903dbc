package action

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestRemapReplacesKeys(t *testing.T) {
	table, err := Default().Remap(map[ID][]string{Zoom: {"Z", "Ctrl+X"}, NextTheme: {}, Quit: {"Q"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  tea.KeyPressMsg
		want ID
	}{
		{tea.KeyPressMsg{Code: 'Z', Text: "Z"}, Zoom},
		{tea.KeyPressMsg{Code: 'x', Mod: tea.ModCtrl}, Zoom},
		{tea.KeyPressMsg{Code: 'z', Text: "z"}, ""},
		{tea.KeyPressMsg{Code: 't', Text: "t"}, ""},
		{tea.KeyPressMsg{Code: 'Q', Text: "Q"}, Quit},
		{tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, Quit},
	} {
		if a, _ := table.Lookup(Board, c.key); a.ID != c.want {
			t.Errorf("%q is %q, want %q", c.key, a.ID, c.want)
		}
	}
	if a, _ := Default().Action(Zoom); !slices.Equal(a.Keys, []string{"z"}) {
		t.Errorf("the default table changed: %v", a.Keys)
	}
}

func TestRemapSwapsKeys(t *testing.T) {
	if _, err := Default().Remap(map[ID][]string{Zoom: {"t"}, NextTheme: {"z"}}); err != nil {
		t.Error(err)
	}
}

func TestRemapSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		keys map[ID][]string
		want []string
	}{
		{"unknown action with a likely one", map[ID][]string{"zoomm": {"x"}}, []string{`no action "zoomm"`, "did you mean zoom?"}},
		{"unknown action without", map[ID][]string{"buy": {"x"}}, []string{`no action "buy"`, "the actions are", "confirm"}},
		{"no key", map[ID][]string{Zoom: {"hyperdrive"}}, []string{`"zoom"`, `"hyperdrive" is not a key`}},
		{"empty key", map[ID][]string{Zoom: {""}}, []string{`"zoom"`, `"" is not a key`}},
		{"conflict", map[ID][]string{Zoom: {"c"}}, []string{`key "c"`, `"confirm"`, `"zoom"`}},
		{"shift with a letter", map[ID][]string{Zoom: {"shift+z"}}, []string{`"Z"`}},
		{"ctrl+c", map[ID][]string{Zoom: {"Ctrl+C"}}, []string{`"zoom"`, `"ctrl+c" always quits`}},
		{"no way to quit", map[ID][]string{Quit: {}}, []string{`"quit" needs a key`}},
		{"a way to quit that few terminals have", map[ID][]string{Quit: {"ctrl+shift+hyper+z"}}, []string{`"quit" is only on "ctrl+shift+hyper+z"`, `such as "q"`}},
		{"a way to the palette that arrives as another key", map[ID][]string{Palette: {"ctrl+i"}}, []string{`"palette" is only on "ctrl+i"`, `such as ":"`}},
		{"all at once", map[ID][]string{Zoom: {"nope"}, "what": {"x"}}, []string{`"nope"`, `"what"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := Default().Remap(c.keys)
			if err == nil || table != nil {
				t.Fatal("it was taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %s", err, want)
				}
			}
		})
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]string{
		"q": "q", "G": "G", "?": "?", "+": "+", " ": "space", "Space": "space", "RETURN": "enter", "escape": "esc",
		"shift+ctrl+up": "ctrl+shift+up", "ctrl++": "ctrl++", "f12": "f12", "PageUp": "pgup", "ü": "ü", "alt+ü": "alt+ü",
	} {
		if got, err := ParseKey(text); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\x1b", "\x00", "ctrl+", "+c", "ctrl+alt", "qq", "f99", "\xff", "ctrl c"} {
		if got, err := ParseKey(text); err == nil {
			t.Errorf("%q was taken as %q", text, got)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"q", "ctrl+c", "shift+tab", "++", "ctrl++", "", "\xff", "Escape"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey(text)
		if err != nil {
			return
		}
		if again, err := ParseKey(key); err != nil || again != key {
			t.Errorf("%q became %q, and that %q (%v)", text, key, again, err)
		}
	})
}

func TestAWayToQuitThatFewTerminalsHaveIsTakenBesideOneThatAllHave(t *testing.T) {
	if _, err := Default().Remap(map[ID][]string{Quit: {"hyper+q", "Q"}, Zoom: {"super+z"}}); err != nil {
		t.Error(err)
	}
}

func TestEveryTerminalSendsSomeKeysAlone(t *testing.T) {
	for key, want := range map[string]bool{
		"q": true, "?": true, "+": true, "ü": true, "space": true, "esc": true, "pgup": true, "f1": true, "f12": true, "f13": false,
		"ctrl+x": true, "ctrl+i": false, "ctrl+m": false, "ctrl+1": false, "ctrl++": false, "ctrl+up": false, "alt+x": true, "alt++": true, "alt+enter": false,
		"shift+tab": true, "shift+up": false, "ctrl+alt+x": false, "super+q": false, "meta+q": false,
	} {
		if got := mayBeTyped(key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}
