package command

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tillwatch/relay"
)

const (
	// testSettings begins the names of what the tests themselves are told, such as
	// a database.
	testSettings = "TILLWATCH_TEST_"
	// asProgram makes the test binary the program, with its arguments: tests that
	// kill, signal or starve a process run it as a child.
	asProgram = testSettings + "AS_PROGRAM"
	// interruptedAtItsEnd has such a process get a SIGTERM when its command is done.
	interruptedAtItsEnd = testSettings + "INTERRUPTED_AT_ITS_END"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		code := Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		endPlayed()
		os.Exit(code)
	}
	testscript.Main(runTests{m}, asCommands())
}

// endPlayed interrupts a process that has done its work, where a test asks for
// that by the variable.
func endPlayed() {
	if os.Getenv(interruptedAtItsEnd) == "" {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(syscall.SIGTERM)
	}
}

// runApart runs the tests without the settings, the memory and the terminal of the
// user who runs them.
func runApart(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // tests with a screen wait for clocks and compute little
		panic(err)
	}
	dir, err := os.MkdirTemp("", "tillwatch-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		ours := strings.HasPrefix(name, "TILLWATCH_") && !strings.HasPrefix(name, testSettings)
		if ours || slices.Contains(looks, name) {
			os.Unsetenv(name)
		}
	}
	os.Setenv("TERM", "xterm-256color")
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	code := m.Run()
	return code
}

// looks are variables that change what programs draw.
var looks = []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TERM_PROGRAM", "TMUX", "STY", "LANG", "LC_ALL", "LC_CTYPE"}

// configFile writes settings, each a name and its value, to a file for --config.
// Unlike the environment, tests that run side by side can each have their own.
func configFile(t testing.TB, settings ...string) (path string) {
	t.Helper()
	var lines strings.Builder
	for i := 0; i < len(settings); i += 2 {
		fmt.Fprintf(&lines, "%s = %q\n", settings[i], settings[i+1])
	}
	path = filepath.Join(t.TempDir(), "tillwatch.toml")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// relayConfig is the configuration of a relay that the tests post to and read.
func relayConfig(t testing.TB) (path string) {
	t.Helper()
	return configFile(t, "signing_secret", oldSecret, "relay_token", eventsToken)
}

// process is tillwatch relay as a process of its own.
type process struct {
	relayed
	command *exec.Cmd
	gone    chan struct{} // closed when the process has ended
}

// spawnRelay starts tillwatch relay in a process of its own, which is killed at
// the end of the test if it still runs. It does not wait until that is ready.
func spawnRelay(t testing.TB, data string, args ...string) (p *process, output io.Reader) {
	t.Helper()
	return spawnProgram(t, os.Args[0], data, args...)
}

// spawnProgram is spawnRelay with another program than this one.
func spawnProgram(t testing.TB, program, data string, args ...string) (p *process, output io.Reader) {
	t.Helper()
	return spawn(t, relayProgram(program, data, args...), data)
}

// relayProgram is the command that runs program as a relay.
func relayProgram(program, data string, args ...string) *exec.Cmd {
	args = append([]string{"relay", "--json", "--listen", "127.0.0.1:0", "--data", data}, args...)
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	return command
}

func spawn(t testing.TB, command *exec.Cmd, data string) (p *process, output io.Reader) {
	t.Helper()
	p = &process{command: command, gone: make(chan struct{})}
	p.data, p.said = data, &utterances{}
	p.command.Stderr = p.said
	read, write, err := os.Pipe() // unlike the command's own, it is not closed by its end
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stdout = write
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	go func() {
		_ = p.command.Wait() // how it ended is not asked
		close(p.gone)
	}()
	p.stop = sync.OnceFunc(func() {
		_ = p.command.Process.Kill()
		<-p.gone
		_ = read.Close()
	})
	t.Cleanup(p.stop)
	return p, read
}

// awaitReady reads the ready line; it returns false when the process ends first.
func (p *process) awaitReady(t testing.TB, output io.Reader) bool {
	t.Helper()
	lines := bufio.NewScanner(output)
	if !lines.Scan() {
		return false
	}
	if err := json.Unmarshal(lines.Bytes(), &p.ready); err != nil {
		t.Fatal(err)
	}
	return true
}

// startRelayProcess is spawnRelay that waits until it is ready.
func startRelayProcess(t testing.TB, data string, args ...string) *process {
	t.Helper()
	p, output := spawnRelay(t, data, args...)
	p.mustGetReady(t, output)
	return p
}

// startRelayService is startRelayProcess without a terminal, whatever the tests
// run in: it reads everything again on SIGHUP.
func startRelayService(t testing.TB, data string, args ...string) *process {
	t.Helper()
	command := relayProgram(os.Args[0], data, args...)
	withoutTerminal(command)
	p, output := spawn(t, command, data)
	p.mustGetReady(t, output)
	return p
}

func (p *process) mustGetReady(t testing.TB, output io.Reader) {
	t.Helper()
	if !p.awaitReady(t, output) {
		<-p.gone
		t.Fatalf("the relay does not get ready: %s", p.said)
	}
}

// kept is what the reading side of a relay holds of one id.
type kept struct {
	times, dups, conflicts int
	origin                 string
}

// everything pages through /v1/events and expects one unbroken row from 1 on.
func (r *relayed) everything(t *testing.T, token string) (found map[string]kept, epoch string) {
	t.Helper()
	found = map[string]kept{}
	type page struct {
		Epoch, Next string
		Head        int64
		Events      []struct {
			Seq             int64
			ID, Src         string
			Dups, Conflicts int
		}
	}
	for seq, after := int64(0), "0"; ; {
		var p page
		r.getJSON(t, relay.EventsPath+"?limit=1000&after="+after, token, &p)
		if len(p.Events) == 0 {
			if seq != p.Head {
				t.Errorf("the row ends at %d, the head is %d", seq, p.Head)
			}
			return found, p.Epoch
		}
		for _, e := range p.Events {
			if seq++; e.Seq != seq {
				t.Fatalf("event %d stands where %d should", e.Seq, seq)
			}
			k := found[e.ID]
			found[e.ID] = kept{k.times + 1, e.Dups, e.Conflicts, e.Src}
		}
		after = p.Next
	}
}
