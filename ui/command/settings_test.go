package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tillwatch/ui/dashboard/action"
)

// isolate hides the settings of whoever runs the tests and returns a folder for a configuration file.
func isolate(t *testing.T) string {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "TILLWATCH_") {
			t.Setenv(name, "") // so that the old value comes back afterwards
			os.Unsetenv(name)
		}
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("HOME", dir)
	return dir
}

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tillwatch.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, args ...string) (settings, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	accountFlags(flags)
	flags.Bool("allow-confirm", false, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return loadSettings(t.Context(), flags)
}

func TestACommandRefusesAVariableThatNothingReads(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_APIURL", "https://api.example")
	var out, words bytes.Buffer
	code := run(t.Context(), []string{"status"}, nil, &out, &words)
	const want = "tillwatch: TILLWATCH_APIURL is set, but there is no such setting: did you mean TILLWATCH_API_URL?"
	if code != exitUsage || !strings.HasPrefix(words.String(), want) {
		t.Errorf("it ends with %d and says %q", code, words.String())
	}
}

func TestActionsHaveTheConfiguredKeys(t *testing.T) {
	isolate(t)
	s, err := load(t, "--config", writeConfig(t, "[keys]\nzoom = 'Z'\ncopy-id = ['f6', 'ctrl+y']\nnext-theme = []\n"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := actionsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	for id, keys := range map[action.ID][]string{action.Zoom: {"Z"}, action.CopyID: {"f6", "ctrl+y"}, action.NextTheme: {}} {
		if a, ok := table.Action(id); !ok || !slices.Equal(a.Keys, keys) {
			t.Errorf("%s has the keys %v, want %v", id, a.Keys, keys)
		}
	}
}

func TestKeysAndCommandsThatCannotBeMeantAreRefused(t *testing.T) {
	isolate(t)
	const note = "[[command]]\nname = 'Note'\nprogram = 'note'\n"
	for name, c := range map[string]struct{ config, says string }{
		"two actions on one key":      {"[keys]\nzoom = 'c'", `key "c" is on two actions, "confirm" and "zoom"`},
		"no such action":              {"[keys]\nzoomm = 'Z'", `there is no action "zoomm": did you mean zoom?`},
		"no such key":                 {"[keys]\nzoom = 'hyperdrive'", `action "zoom": "hyperdrive" is not a key`},
		"no way to quit":              {"[keys]\nquit = []", `action "quit" needs a key`},
		"a quit that no one can type": {"[keys]\nquit = 'ctrl+shift+hyper+z'", `which many terminals cannot send`},
		"a command on a taken key":    {note + "key = 'x'", `key "x" is on two actions, "mark" and "command-note"`},
		"a command on the quit key":   {note + "key = 'ctrl+c'", `key "ctrl+c" is on two actions, "quit" and "command-note"`},
		"two commands of a name":      {note + note, `action "command-note" is defined twice`},
		"a command without a name":    {"[[command]]\nprogram = 'note'", `command 1, "": it has no name`},
		"a command without program":   {note + "[[command]]\nname = 'Note'", `command 2, "Note": it has no program`},
		"an unknown place":            {note + "args = ['{buyer}']", `there is no {buyer} to fill in`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := load(t, "--config", writeConfig(t, c.config)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

func TestTheCommandOfTheExampleLoads(t *testing.T) {
	isolate(t)
	text, err := os.ReadFile("../config/tillwatch.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "\n# [[command]]\n")
	if !found {
		t.Fatal("the example shows no command")
	}
	block, _, _ = strings.Cut(block, "\n\n")
	s, err := load(t, "--config", writeConfig(t, "[[command]]\n"+strings.ReplaceAll("\n"+block, "\n# ", "\n")))
	if err != nil {
		t.Fatal(err)
	}
	_, commands, err := actionsOf(s)
	if err != nil || len(commands) != 1 {
		t.Fatalf("%+v, %v", commands, err)
	}
	argv, err := commands[0].Argv(map[string]string{"order": "-7", "merchant": "acme.example"})
	want := []string{"note", "add", "--order=-7", "bought at acme.example"}
	if err != nil || !slices.Equal(argv, want) || commands[0].Unguarded {
		t.Errorf("it runs %q, %v; want %q", argv, err, want)
	}
}
