package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tillwatch/ui/terminal"
)

// readme is the shell blocks of a README, and where they are typed.
type readme struct {
	commands []*documented
	home     string
	vars     []string // of the shells, which get nothing else of this process's environment
	replaced []string // what stands in the README, each followed by what is typed instead
	context  context.Context
	fail     context.CancelCauseFunc // once a program has ended that should go on
}

// documented is a line of a block that does something.
type documented struct {
	line    string
	exports string // the lines of its block before it that set variables
	tried   bool
}

// typed is a command as somebody types it, on a terminal.
type typed struct {
	*terminal.Terminal
	t      *testing.T
	readme *readme
	line   string
	ending atomic.Bool // it may end, or should
}

// newReadme has a folder of its own for all that is written, and one for programs: tillwatch is this test binary, and
// so is what go run starts.
func newReadme(t *testing.T, path string) *readme {
	t.Helper()
	tillwatch, err := exec.LookPath("tillwatch")
	if err != nil {
		t.Fatal(err)
	}
	r := &readme{home: t.TempDir()}
	r.context, r.fail = context.WithCancelCause(t.Context())
	programs := t.TempDir()
	shim := "#!/bin/sh -e\nif [ \"$1 $2\" != 'run .' ]; then echo \"not here: go $*\" >&2; exit 1; fi\n" +
		"shift 2\nexec tillwatch \"$@\"\n"
	if err := os.WriteFile(filepath.Join(programs, "go"), []byte(shim), 0o700); err != nil {
		t.Fatal(err)
	}
	r.vars = []string{"HOME=" + r.home, "TMPDIR=" + t.TempDir(), "TERM=xterm-256color",
		"PATH=" + strings.Join([]string{programs, filepath.Dir(tillwatch), "/usr/bin", "/bin"}, ":")}
	for _, block := range codeBlock.FindAllStringSubmatch(readRoot(t, path), -1) {
		r.read(block[1])
	}
	return r
}

// read adds the commands of a block. Variables that no command follows are one that nothing tries.
func (r *readme) read(block string) {
	exports, unused := "", ""
	for line := range strings.Lines(block) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "export "):
			exports, unused = exports+line+"\n", line
		default:
			r.commands, unused = append(r.commands, &documented{line: line, exports: exports}), ""
		}
	}
	if unused != "" {
		r.commands = append(r.commands, &documented{line: unused})
	}
}

// find is the command that is written so or, where there is none, the only one that begins so. It counts as tried.
func (r *readme) find(t *testing.T, written string) *documented {
	t.Helper()
	var exact, beginning []*documented
	for _, command := range r.commands {
		if line, _, _ := strings.Cut(command.line, " #"); strings.TrimSpace(line) == written {
			exact = append(exact, command)
		} else if strings.HasPrefix(line, written) {
			beginning = append(beginning, command)
		}
	}
	if len(exact) == 0 {
		exact = beginning
	}
	if len(exact) != 1 {
		t.Fatalf("%d commands of the README begin with %q, want one", len(exact), written)
	}
	exact[0].tried = true
	return exact[0]
}

// run types a command that goes on until it is told to end, behind what its block exports and other exports before.
func (r *readme) run(t *testing.T, before, beginning string) *typed {
	t.Helper()
	return r.start(t, before, beginning, false)
}

// once types a command that ends by itself.
func (r *readme) once(t *testing.T, before, beginning string) *typed {
	t.Helper()
	return r.start(t, before, beginning, true)
}

// start has a shell that outlives a ctrl-c, to tell how the command ended.
func (r *readme) start(t *testing.T, before, beginning string, ends bool) *typed {
	t.Helper()
	command := r.find(t, beginning)
	t.Logf("$ %s", command.line)
	script := "cd\ntrap : INT\n" + strings.NewReplacer(r.replaced...).Replace(before+command.exports+command.line)
	args := append(append([]string{"-i"}, r.vars...), "sh", "-e", "-c", script)
	run, err := terminal.Start(t.Context(), terminal.Options{Width: 160, Height: 45}, "env", args...)
	if err != nil {
		t.Fatal(err)
	}
	c := &typed{Terminal: run, t: t, readme: r, line: command.line}
	c.ending.Store(ends)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if <-run.Done(); !c.ending.Load() {
			r.fail(fmt.Errorf("%s ended by itself and printed\n%s", c.line, c.said()))
		}
	}()
	t.Cleanup(func() {
		c.ending.Store(true)
		_ = c.Type(interruptKey) // a shell that is terminated tells its command nothing
		_ = c.Close()
		<-watched
	})
	return c
}

// said is all that was printed so far.
func (c *typed) said() string {
	var all strings.Builder
	chunks, _ := c.Chunks()
	for _, chunk := range chunks {
		all.Write(chunk.Bytes)
	}
	return all.String()
}

// shows waits until the screen shows all of these.
func (c *typed) shows(texts ...string) {
	c.t.Helper()
	c.await(c.Text, texts...)
}

// says waits until all of these were printed.
func (c *typed) says(texts ...string) {
	c.t.Helper()
	c.await(c.said, texts...)
}

func (c *typed) await(look func() string, texts ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.readme.context, patience)
	defer cancel()
	err := c.WaitFor(ctx, func(string) bool {
		seen := look()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(seen, text) })
	})
	if err != nil {
		c.t.Fatalf("%s: waited in vain for %q: %v\n%s", c.line, texts, cmp.Or(context.Cause(ctx), err), look())
	}
}

// ends presses keys, if there are any, and wants the command to end well and to have printed these texts.
func (c *typed) ends(keys string, texts ...string) (all string) {
	c.t.Helper()
	c.ending.Store(true)
	if keys != "" {
		if err := c.Type(keys); err != nil {
			c.t.Fatalf("%s: %v\n%s", c.line, err, c.said())
		}
	}
	err := c.Wait()
	all = c.said()
	for _, text := range texts {
		if err == nil && !strings.Contains(all, text) {
			err = fmt.Errorf("no %q", text)
		}
	}
	if err != nil {
		c.t.Errorf("%s ends with %v and\n%s", c.line, err, all)
	}
	return all
}

const interruptKey = "\x03"

func TestTheREADMEWorksAsItStands(t *testing.T) {
	r := newReadme(t, "README.md")
	simulate, relay := freePort(t), freePort(t)
	r.replaced = []string{":7430", relay, ":7440", freePort(t), ":7420", simulate,
		"go run . simulate ", "go run . simulate --listen 127.0.0.1" + simulate + " ", // they have their ports as defaults
		"go run . relay --data", "go run . relay --listen 127.0.0.1" + relay + " --data"}
	r.find(t, "go test ./...") // this test is of it
	demo := r.run(t, "", "go run . demo")
	headless := r.once(t, "", "go run . demo --headless")
	t.Run("three terminals", r.inThreeTerminals)
	t.Run("on a real account", r.onARealAccount)
	if t.Failed() {
		return
	}
	demo.shows("INTENTS", "awaiting", "live", "ARMED")
	demo.ends("q")
	const live = `"relay":{"state":"live"`
	said := headless.ends("")
	for again := 0; again < 3 && !strings.Contains(said, live); again++ { // a busy machine does little in 10 s
		said = r.once(t, "", "go run . demo --headless").ends("")
	}
	if !strings.Contains(said, live) {
		t.Errorf("no line of JSON with %s: %s", live, said)
	}
	r.expectAllTried(t)
}

func (r *readme) expectAllTried(t *testing.T) {
	t.Helper()
	for _, command := range r.commands {
		if !command.tried {
			t.Errorf("the README's %q is not tried here", command.line)
		}
	}
}

// inThreeTerminals is the service, the relay and the dashboard on this machine.
func (r *readme) inThreeTerminals(t *testing.T) {
	service := r.run(t, "", "go run . simulate")
	relay := r.run(t, "", `go run . relay --data "$(mktemp -d)"`)
	service.says("simulator ready on http://")
	relay.says("relay ready on http://")
	board := r.run(t, "", "go run . watch")
	board.shows("simulator · 127.0.0.1:", "live", "ARMED", "completed")
	board.ends("q")
	relay.ends(interruptKey)
	service.ends(interruptKey)
}

// local is the address on this machine that stands for one with a port of the README.
func (r *readme) local(port string) string {
	return "127.0.0.1" + strings.NewReplacer(r.replaced...).Replace(port)
}
