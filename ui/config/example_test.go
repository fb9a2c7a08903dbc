package config

import (
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/notify"
)

const exampleFile = "tillwatch.example.toml"

var update = flag.Bool("update", false, "write the example anew")

const exampleHead = `# All settings with their defaults, made of their declarations. Copy what you change to tillwatch.toml in your
# configuration folder (~/.config/tillwatch on Linux), or give the file with --config. Flags and TILLWATCH_… variables
# win over it. Durations have a unit, as in "45m" or "1h30m".
`

const exampleTail = `
# Keys of your own; "?" in the dashboard lists the actions.
[keys]
# zoom = "Z"
# copy-id = ["y", "ctrl+y"]
# next-theme = []

# Commands of your own on the row under the cursor. No shell runs them: each argument reaches the program as it is, with
# {id}, {merchant}, {reference}, {order}, {tracking} and {url} filled in. A row without the value is refused, and so is
# a value that begins with "-" at the start of an argument. The dialog shows what will run.
# [[command]]
# key = "alt+n"
# name = "Note the order"
# program = "note"           # in PATH, or a path
# args = ["add", "--order={order}", "bought at {merchant}"]
# confirm = true             # false: run without asking, except where money is real
# live = false               # true: may run where money is real

# A profile overrides any of the above: tillwatch --profile staging
# default_profile = "staging"
[profile.staging]
api_url = "https://api.staging.example"
relay_url = "https://relay.staging.example"
allow_confirm = true

[profile.live]
api_url = "https://api.example"
theme = "light"
confirm_body = '{"paymentMethod":{"type":"drawdown"}}'
`

// example is the file with every setting.
func example() string {
	s, tables := Defaults(), false
	text := &strings.Builder{}
	text.WriteString(exampleHead)
	for _, f := range fields(&s) {
		name, inTable := strings.CutPrefix(f.key, "alerts.")
		if f.section != "" {
			fmt.Fprintf(text, "\n# %s\n", f.section)
		}
		if inTable && !tables {
			tables = true
			text.WriteString("\n# When an alert is raised; 0 switches it off.\n[alerts]\n")
		}
		value := ""
		switch usual := f.value.Interface().(type) {
		case api.Secret:
			commented(text, "# "+name+` = ""`, f.help)
			fmt.Fprintf(text, "# %s_file = %q\n", name, "/run/secrets/"+name)
			continue
		case time.Duration:
			value = strconv.Quote(api.Span(usual))
		case string:
			value = strconv.Quote(usual)
			if name == "state_dir" { // it depends on the machine
				name, value = "# "+name, `"/var/lib/tillwatch"`
			}
		case []string, Program:
			value = "[]"
		case float64:
			value = strconv.FormatFloat(usual, 'f', 1, 64)
		case int, bool:
			value = fmt.Sprint(usual)
		default:
			continue // tables of their own
		}
		commented(text, name+" = "+value, f.help)
	}
	return text.String() + exampleTail
}

// commented writes a line with a comment, in columns.
func commented(to io.Writer, line, comment string) {
	const column, width = 28, 90
	for _, words := range strings.Split(ansi.Wordwrap(comment, width, ""), "\n") {
		fmt.Fprintf(to, "%-*s # %s\n", column, line, words)
		line = ""
	}
}

func TestTheExampleIsMadeOfTheDeclarations(t *testing.T) {
	want := example()
	if *update {
		writeFile(t, exampleFile, want)
	}
	if got, err := os.ReadFile(exampleFile); err != nil || string(got) != want {
		t.Errorf("%s is not what the tags say (%v): go test ./ui/config -run Example -update", exampleFile, err)
	}
}

func TestTheExampleLoads(t *testing.T) {
	isolate(t)
	got := mustLoad(t, "", nil, "--config", exampleFile)
	want := Defaults()
	want.WatchIDs, want.AlertCommand, want.Keys = []string{}, Program{}, map[string]Shortcuts{}
	want.Profiles, want.SecretFiles = []string{"live", "staging"}, map[string]string{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the example says\n%+v\nand the defaults are\n%+v", got, want)
	}
	if s := mustLoad(t, "", nil, "--config", exampleFile, "--profile", "staging"); !s.AllowConfirm {
		t.Errorf("staging is %+v", s)
	}
}

func TestEachSettingSaysWhatItIs(t *testing.T) {
	for _, f := range fields(new(Settings)) {
		if f.help == "" && f.key != "keys" && f.key != "command" {
			t.Errorf("%s says %q and must be %q", f.key, f.help, f.must)
		}
		if f.key != "notify" {
			continue
		}
		for _, method := range notify.Methods() {
			if !strings.Contains(f.help, string(method)) || !strings.Contains(f.must, string(method)) {
				t.Errorf("notify does not say %s", method)
			}
		}
	}
}
