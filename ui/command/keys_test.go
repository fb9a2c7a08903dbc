package command

import (
	"slices"
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action"
)

func TestKeysAreRemappedInTheConfiguration(t *testing.T) {
	isolate(t)
	path := writeConfig(t, `
[keys]
zoom = "Z"
copy-id = ["f6", "ctrl+y"]
next-theme = []

[profile.phone]
[profile.phone.keys]
zoom = "f5"
`)
	for profile, want := range map[string][]string{"": {"Z"}, "phone": {"f5"}} {
		s, err := load(t, "--config", path, "--profile", profile)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.actions()
		if err != nil {
			t.Fatal(err)
		}
		for id, keys := range map[action.ID][]string{action.Zoom: want, action.CopyID: {"f6", "ctrl+y"}, action.NextTheme: {}} {
			if a, ok := table.Action(id); !ok || !slices.Equal(a.Keys, keys) {
				t.Errorf("profile %q: %s has the keys %v, want %v", profile, id, a.Keys, keys)
			}
		}
	}
}

func TestKeysThatCannotBeAreRefused(t *testing.T) {
	isolate(t)
	for name, c := range map[string]struct{ keys, want string }{
		"two actions on one key": {`zoom = "c"`, `key "c" is on two actions, "confirm" and "zoom"`},
		"no such action":         {`zoomm = "Z"`, `there is no action "zoomm": did you mean zoom?`},
		"no such key":            {`zoom = "hyperdrive"`, `action "zoom": "hyperdrive" is not a key`},
		"no way to quit":         {`quit = []`, `action "quit" needs a key`},
		"no key at all":          {`zoom = 7.5`, `keys.zoom is 7.5; it must be a key such as "q", or a list of keys`},
	} {
		_, err := load(t, "--config", writeConfig(t, "[keys]\n"+c.keys+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

func TestAVariableForKeysIsSomebodyElses(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_KEYS", "x")
	if _, err := load(t); err != nil {
		t.Error(err)
	}
}
