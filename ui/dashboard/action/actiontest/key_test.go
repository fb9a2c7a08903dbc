package actiontest

import (
	"testing"

	"tillwatch/ui/dashboard/action"
)

func TestEveryKeyOfTheTablesCanBePressed(t *testing.T) {
	for _, table := range []*action.Table{action.Default(), action.Replay()} {
		for _, a := range table.Actions() {
			for _, key := range a.Keys {
				if got := Press(key).String(); got != key {
					t.Errorf("%s: the key %q is pressed as %q", a.ID, key, got)
				}
				if Bytes(key) == "" {
					t.Errorf("%s: nothing says what a terminal sends for the key %q", a.ID, key)
				}
			}
		}
	}
}

func TestWhatATerminalSendsForKeys(t *testing.T) {
	for key, want := range map[string]string{"q": "q", "ctrl+c": "\x03", "alt+1": "\x1b1", "esc": "\x1b", "shift+tab": "\x1b[Z", "日": "日", "meta+f19": ""} {
		if got := Bytes(key); got != want {
			t.Errorf("%q sends %q, want %q", key, got, want)
		}
	}
}
