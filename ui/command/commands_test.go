package command

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tillwatch/ui/dashboard/own"
)

func TestCommandsOfTheConfigurationAreTaken(t *testing.T) {
	isolate(t)
	path := writeConfig(t, `
[[command]]
key = "alt+n"
name = "Note the order"
program = "note"
args = ["add", "{order}"]
confirm = false
live = true

[[command]]
name = "Follow"
program = "less"

[profile.staging]
[[profile.staging.command]]
name = "Another"
program = "true"
`)
	s, err := load(t, "--config", path)
	want := commandList{
		{Key: "alt+n", Name: "Note the order", Program: "note", Args: []string{"add", "{order}"}, Unguarded: true, Live: true},
		{Name: "Follow", Program: "less"},
	}
	if err != nil || !slices.EqualFunc(s.Commands, want, sameCommand) {
		t.Errorf("%+v, %v; want %+v", s.Commands, err, want)
	}
	table, err := s.actions()
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := table.Action("command-note-the-order"); !ok || a.Key() != "alt+n" {
		t.Errorf("its action is %+v, %t", a, ok)
	}
	if s, err := load(t, "--config", path, "--profile", "staging"); err != nil || len(s.Commands) != 1 || s.Commands[0].Name != "Another" {
		t.Errorf("of the profile: %+v, %v", s.Commands, err)
	}
}

func sameCommand(a, b own.Command) bool {
	args := slices.Equal(a.Args, b.Args)
	a.Args, b.Args = nil, nil
	return args && a.Key == b.Key && a.Name == b.Name && a.Program == b.Program && a.Live == b.Live && a.Unguarded == b.Unguarded
}

func TestACommandThatCannotBeMeantIsRefusedAtTheStart(t *testing.T) {
	isolate(t)
	cases := []struct{ name, config, says string }{
		{"a key that an action has", "[[command]]\nkey = 'x'\nname = 'Note'\nprogram = 'note'", `key "x" is on two actions, "mark" and "command-note"`},
		{"a key that another has", "[[command]]\nkey = 'alt+n'\nname = 'Note'\nprogram = 'note'\n[[command]]\nkey = 'alt+n'\nname = 'Follow'\nprogram = 'x'", `key "alt+n" is on two actions, "command-note" and "command-follow"`},
		{"a key that an action was given", "[keys]\nmark = 'alt+m'\n[[command]]\nkey = 'alt+m'\nname = 'Note'\nprogram = 'note'", `key "alt+m" is on two actions, "mark" and "command-note"`},
		{"a key that quits", "[[command]]\nkey = 'ctrl+c'\nname = 'Note'\nprogram = 'note'", `key "ctrl+c" is on two actions, "quit" and "command-note"`},
		{"no key", "[[command]]\nkey = 'nokey'\nname = 'Note'\nprogram = 'note'", `nokey`},
		{"two of a name", "[[command]]\nname = 'Note it'\nprogram = 'a'\n[[command]]\nname = 'note  it'\nprogram = 'b'", `action "command-note-it" is defined twice`},
		{"no name", "[[command]]\nprogram = 'note'", `command 1, "": it has no name`},
		{"no program", "[[command]]\nname = 'Note'", `command 1, "Note": it has no program`},
		{"a line for a shell", "[[command]]\nname = 'Note'\nprogram = 'note'\nargs = 'add {id}'\nshell = true", `command 1: there is no setting "shell"`},
		{"an unknown place", "[[command]]\nname = 'Note'\nprogram = 'note'\nargs = ['{buyer}']", `there is no {buyer} to fill in`},
		{"a table", "[command]\nname = 'Note'", `command`},
		{"another kind", "[[command]]\nname = 'Note'\nprogram = 'note'\nlive = 'maybe'", `command 1: live is "maybe"; it must be true or false`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, "--config", writeConfig(t, c.config))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

func TestTheCommandOfTheExampleLoads(t *testing.T) {
	isolate(t)
	text, err := os.ReadFile(exampleSettings)
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "\n# [[command]]\n")
	if !found {
		t.Fatal("the example shows no command")
	}
	block, _, _ = strings.Cut(block, "\n\n")
	s, err := load(t, "--config", writeConfig(t, "[[command]]\n"+strings.ReplaceAll("\n"+block, "\n# ", "\n")))
	if err != nil || len(s.Commands) != 1 {
		t.Fatalf("%+v, %v", s.Commands, err)
	}
	argv, err := s.Commands[0].Argv(map[string]string{"order": "-7", "merchant": "acme.example"})
	if want := []string{"note", "add", "--order=-7", "bought at acme.example"}; err != nil || !slices.Equal(argv, want) || s.Commands[0].Unguarded {
		t.Errorf("it runs %q, %v; want %q", argv, err, want)
	}
}

func TestACommandIsToldNoSecret(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_API_KEY", "key-of-the-account")
	t.Setenv("TILLWATCH_API_URL", "https://api.example")
	t.Setenv("TILLWATCH_RELAY_TOKEN", "token-of-the-relay")
	s, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	got := s.programEnvironment([]string{
		"PATH=/bin", "TILLWATCH_API_KEY=key-of-the-account", "TILLWATCH_RELAY_TOKEN_FILE=/run/token", "MY_KEY=key-of-the-account",
		"CURL=--header 'Authorization: Bearer token-of-the-relay'", "EMPTY=",
	})
	if want := []string{"PATH=/bin", "EMPTY="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
