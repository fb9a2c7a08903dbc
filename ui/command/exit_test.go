package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/confirm"
)

func decodeReports(t *testing.T, raw []byte) []snapshot {
	t.Helper()
	var reports []snapshot
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		var r snapshot
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return reports
		} else if err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		reports = append(reports, r)
	}
}

// count is a number of a report; -1 for one that is not known.
func count[T int | int64](n *T) T {
	if n == nil {
		return -1
	}
	return *n
}

func TestASignalThatComesWhenACommandHasEndedDoesNotChangeItsCode(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0], "themes")
	command.Env = append(os.Environ(), asProgram+"=1", interruptedAtItsEnd+"=1")
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "dark\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNoFlagIsGivenInVain(t *testing.T) {
	isolate(t)
	var walk func(c *cobra.Command, path ...string)
	walk = func(c *cobra.Command, path ...string) {
		for _, inner := range c.Commands() {
			walk(inner, append(slices.Clone(path), inner.Name())...)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, list := f.Value.(pflag.SliceValue)
			if c.RunE == nil || !list && f.Value.Type() != "string" || isSetting(f) {
				return
			}
			if err := errors.Join(c.Flags().Set(f.Name, ""), checkGiven(c.Flags())); err == nil || !strings.Contains(err.Error(), "--"+f.Name+" is empty") {
				t.Errorf("%s --%s '': %v", strings.Join(path, " "), f.Name, err)
			}
			f.Changed = false // watch and the root share their flags
		})
	}
	walk(newRoot(), "tillwatch")
	for _, args := range [][]string{
		{"demo", "--headless", "--for", "1s", "--record", ""}, {"trigger", "--list", "--to", ""}, {"watch", "--at="}, {"events", "--type="},
	} {
		var out, said bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &said); code != exitUsage || !strings.Contains(said.String(), "is empty: give a value") {
			t.Errorf("%q: %d %s%s", args, code, &out, &said)
		}
	}
}

func TestWhatCannotWorkEndsWithOneSentenceAndItsExitCode(t *testing.T) {
	dir := isolate(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	notAFolder := filepath.Join(dir, "file")
	if err := os.WriteFile(notAFolder, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"TILLWATCH_SIGNING_SECRET": "sixteen-bytes-at-least", "TILLWATCH_API_KEY": "sk-tell-nobody"}
	account := map[string]string{"TILLWATCH_API_URL": "http://127.0.0.1:1", "TILLWATCH_API_KEY": "sk-tell-nobody"}
	relayed := map[string]string{"TILLWATCH_API_URL": "http://127.0.0.1:1", "TILLWATCH_API_KEY": "sk-tell-nobody", "TILLWATCH_RELAY_TOKEN": "tell-nobody-at-all"}
	cases := []struct {
		name string
		args string
		env  map[string]string
		code int
		want string
	}{
		{"no service", "status", nil, exitUsage, "no service is configured"},
		{"no key", "status --api-url http://127.0.0.1:1", nil, exitUsage, "no API key is configured"},
		{"a URL that is none", "status --api-url ://", account, exitUsage, "://"},
		{"a URL of another kind", "status --api-url ftp://127.0.0.1", account, exitUsage, "http"},
		{"a relay's URL that is none", "status --relay-url nowhere", relayed, exitUsage, "relay"},
		{"a relay without its token", "status --relay-url http://127.0.0.1:1", account, exitUsage, "TILLWATCH_RELAY_TOKEN"},
		{"a service that does not answer", "status --wait WAIT --watch-id ci_1", account, exitFailed, "does not answer"},
		{"a dashboard into a pipe", "watch", account, exitUsage, "not a terminal"},
		{"the default command into a pipe", "", account, exitUsage, "not a terminal"},
		{"a demo into a pipe", "demo", nil, exitUsage, "demo --headless"},
		{"a filter that means nothing", "watch --filter colour:red", account, exitUsage, `filter is "colour:red": there is no field colour`},
		{"a filter where nothing is drawn", "watch --json --filter wool", account, exitUsage, "there is no screen: leave out --filter"},
		{"a position that means nothing", "watch --at door:7", account, exitUsage, "--at: a position is intent:ID, shipment:ID"},
		{"a position where nothing is drawn", "demo --headless --at failures", nil, exitUsage, "--headless shows no screen"},
		{"a theme that does not exist", "demo --headless --for 1s --theme neon", nil, exitUsage, "neon"},
		{"a relay without a signing secret", "relay", nil, exitUsage, "TILLWATCH_SIGNING_SECRET"},
		{"a signing secret that is too short", "relay --listen 127.0.0.1:0 --data " + filepath.Join(dir, "a"), map[string]string{"TILLWATCH_SIGNING_SECRET": "short"}, exitUsage, "fewer than 16"},
		{"a relay's port that is taken", "relay --listen " + taken.Addr().String() + " --data " + filepath.Join(dir, "b"), secrets, exitFailed, "--listen"},
		{"a relay's address without a port", "relay --listen localhost --data " + filepath.Join(dir, "c"), secrets, exitUsage, "--listen localhost: listen tcp: address localhost: missing port in address (give a host and a port"},
		{"a stand-in's port too high", "simulate --listen 127.0.0.1:99999", secrets, exitUsage, "invalid port"},
		{"a relay's folder that is a file", "relay --listen 127.0.0.1:0 --data " + notAFolder, secrets, exitFailed, "file"},
		{"a simulator's port that is taken", "simulate --listen " + taken.Addr().String(), secrets, exitFailed, "--listen"},
		{"limits that are none", "simulate --limits reads=fast", secrets, exitUsage, "--limits"},
		{"a limit too high", "simulate --limits reads=2147483648", secrets, exitUsage, "--limits"},
		{"a limit named twice", "simulate --limits day=1,day=2", secrets, exitUsage, "--limits names day twice"},
		{"empty limits", "simulate --limits=", secrets, exitUsage, "--limits is empty"},
		{"a share above one", "simulate --lose 3", secrets, exitUsage, "lose"},
		{"a webhook URL that is none", "simulate --webhook-url nowhere", secrets, exitUsage, "webhook"},
		{"an unknown flag", "status --yes", nil, exitUsage, "--yes"},
		{"an unknown command", "stauts", nil, exitUsage, "stauts"},
		{"an argument too many", "status now", nil, exitUsage, `tillwatch status takes no arguments: leave out "now"`},
		{"a flag with a letter missing", "status --api-ul x", nil, exitUsage, "there is no flag --api-ul: did you mean --api-url?"},
		{"a flag like none", "demo --state-dir x", nil, exitUsage, "there is no flag --state-dir, nor one like it"},
		{"a flag of two letters", "demo --ui", nil, exitUsage, "there is no flag --ui, nor one like it"},
		{"a flag of one letter", "status -x", nil, exitUsage, "there is no flag -x"},
		{"two forms of lines", "watch --json --plain", nil, exitUsage, "choose one of --json and --plain"},
		{"a moment that is no number", "sign --timestamp x", nil, exitUsage, `--timestamp is "x"; it must be a whole number`},
		{"a snapshot that is none", "simulate --from exit_test.go", nil, exitUsage, "the snapshot cannot be read: it is not as GET /control/snapshot answers it"},
		{"a flag without its value", "status --wait", nil, exitUsage, "flag needs an argument: --wait"},
		{"a time without its unit", "status --wait 5", nil, exitUsage, `--wait is "5"; it must be a time with its unit, such as 90s or 45m`},
		{"a share that is no number", "demo --auto-confirm much", nil, exitUsage, `--auto-confirm is "much"; it must be a number`},
		{"an age that is none", "relay --retention x", nil, exitUsage, `--retention is "x": give a time such as 90d`},
		{"a command with its letters mixed up", "wacth", nil, exitUsage, `there is no command "wacth": did you mean watch?`},
		{"a command of a group with one missing", "tokens creat", nil, exitUsage, `there is no command "creat": did you mean create?`},
		{"a shell without completions", "completion tcsh", nil, exitUsage, `there is no command "tcsh"`},
		{"help about a command that is none", "help toknes", nil, exitUsage, `there is no command "toknes": did you mean tokens?`},
		{"help about a command of a group that is none", "help tokens creat", nil, exitUsage, `there is no command "creat": did you mean create?`},
		{"a command of the themes that is none", "themes shwo", nil, exitUsage, `there is no command "shwo": did you mean show?`},
		{"a token to revoke without its name", "tokens revoke", nil, exitUsage, "give one NAME: tillwatch tokens revoke NAME"},
		{"JSON where a board is drawn", "demo --json", nil, exitUsage, "--json needs --headless"},
		{"JSON of lines of text", "demo --plain --json --for 1s", nil, exitUsage, "--json needs --headless"},
		{"two forms of lines", "watch --json --plain", account, exitUsage, "choose one of --json and --plain"},
		{"a screen and none", "demo --plain --headless", nil, exitUsage, "plain"},
		{"a way to notify that is none", "demo --plain --for 1s --notify email", nil, exitUsage, `"email"`},
		{"a stand-in that stands still", "simulate --speed 0", nil, exitUsage, "--speed is 0; it must be above 0"},
		{"a history below none", "simulate --history -5", nil, exitUsage, "--history is -5; it must be 0 or more"},
		{"a demo that stands still", "demo --headless --speed 0", nil, exitUsage, "--speed is 0; it must be above 0"},
		{"a demo for less than no time", "demo --headless --for -1s", nil, exitUsage, "--for is -1s; it must be longer than 0"},
		{"two events", "events a b", nil, exitUsage, "give one ID"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			var out, words bytes.Buffer
			var code int
			for _, wait := range everLonger() {
				out.Reset()
				words.Reset()
				code = run(t.Context(), strings.Fields(strings.ReplaceAll(c.args, "WAIT", wait)), strings.NewReader(""), &out, &words)
				if !strings.Contains(c.args, "WAIT") || strings.Contains(words.String(), c.want) {
					break
				}
			}
			said := words.String()
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, said)
			}
			sentence, rest, _ := strings.Cut(said, "\n")
			if !strings.Contains(sentence, c.want) || rest != "" && rest != "Try --help.\n" {
				t.Errorf("said %q, want one sentence with %q", said, c.want)
			}
			for _, leak := range []string{"tell-nobody", "sixteen-bytes", "goroutine", ".go:"} {
				if strings.Contains(said+out.String(), leak) {
					t.Errorf("%q is in %q", leak, said+out.String())
				}
			}
		})
	}
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"themes"}, {"themes", "show", "dark"}} {
		var words bytes.Buffer
		if code := run(t.Context(), args, nil, full{}, &words); code != exitFailed || !strings.Contains(words.String(), "no space left") {
			t.Errorf("%v: exit code %d: %s", args, code, &words)
		}
	}
}

func TestAReplayReportsOnItsFileBeforeTheTerminal(t *testing.T) {
	t.Parallel()
	if r := runAs(t, "replay", filepath.Join(t.TempDir(), "none.tillwatch")); r.code != exitUsage || !strings.Contains(r.words, "none.tillwatch") {
		t.Errorf("exit code %d: %s", r.code, r.words)
	}
}

// What was bought and could not be printed must not look as if nothing was bought.
func TestAReportThatCannotBeWrittenNeverSaysThatNothingWasBought(t *testing.T) {
	t.Parallel()
	bought, notBought, tried := confirm.Outcome{Verdict: confirm.Accepted, Intent: &api.Intent{State: api.PlacingOrder}}, confirm.Outcome{Verdict: confirm.Refused}, confirmReport{Verdict: "dry_run"}
	report := func(o confirm.Outcome) *confirmReport {
		var r confirmReport
		r.end(o)
		return &r
	}
	for _, c := range []struct {
		name   string
		report *confirmReport
		code   int
	}{
		{"bought", report(bought), exitUnknown},
		{"refused", report(notBought), exitFailed},
		{"tried out", &tried, exitFailed},
	} {
		for _, asJSON := range []bool{true, false} {
			err := c.report.print(streams{out: full{}, json: asJSON})
			var exit *exitError
			code := exitFailed
			if errors.As(err, &exit) {
				code = exit.code
			}
			if err == nil || code != c.code {
				t.Errorf("%s, as JSON %t: exit code %d, want %d: %v", c.name, asJSON, code, c.code, err)
			}
		}
	}
}
