//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/ui/terminal"
)

// readme is the shell blocks of the README, and what of them was tried.
type readme struct {
	blocks  []string
	tried   map[string]bool
	home    string
	vars    []string // of the shell that runs them, and nothing else of this process's
	address map[string]string
}

// typed is a command of the README as somebody types it, on a terminal.
type typed struct {
	t    *testing.T
	line string
	*terminal.Terminal
}

func newReadme(t *testing.T, path string) *readme {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &readme{tried: map[string]bool{}, home: t.TempDir()}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		r.blocks = append(r.blocks, block[1])
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	r.vars = []string{"HOME=" + r.home, "TMPDIR=" + t.TempDir(), "TERM=xterm-256color", "PATH=" + filepath.Dir(goCommand) + ":/usr/bin:/bin"}
	known, err := exec.CommandContext(t.Context(), goCommand, "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOTOOLCHAIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]string
	if err := json.Unmarshal(known, &settings); err != nil {
		t.Fatal(err)
	}
	for name, value := range settings {
		r.vars = append(r.vars, name+"="+value)
	}
	r.vars = append(r.vars, "GOPROXY=off")
	return r
}

// commands are the lines of a block that do something, each behind what the block
// exports before it.
func commands(block string) (lines, scripts []string) {
	exports := ""
	for line := range strings.Lines(block) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "export "):
			exports += line + "\n"
		default:
			lines, scripts = append(lines, line), append(scripts, exports+"exec "+line+"\n")
		}
	}
	return lines, scripts
}

// find is the command that is written so or, where there is none, the only one that
// begins so, and what a shell has to run for it.
func (r *readme) find(t *testing.T, written string) (line, script string) {
	t.Helper()
	exact, beginning := [][2]string{}, [][2]string{}
	for _, block := range r.blocks {
		lines, scripts := commands(block)
		for i, line := range lines {
			command, _, _ := strings.Cut(line, " #")
			if strings.TrimSpace(command) == written {
				exact = append(exact, [2]string{line, scripts[i]})
			} else if strings.HasPrefix(command, written) {
				beginning = append(beginning, [2]string{line, scripts[i]})
			}
		}
	}
	if len(exact) == 0 {
		exact = beginning
	}
	if len(exact) != 1 {
		t.Fatalf("%d commands of the README begin with %q, want one", len(exact), written)
	}
	r.tried[exact[0][0]] = true
	return exact[0][0], exact[0][1]
}

// exports are those of the block of a command.
func (r *readme) exports(t *testing.T, beginning string) string {
	t.Helper()
	_, script := r.find(t, beginning)
	return script[:strings.LastIndex(script, "exec ")]
}

// run types a command into a shell that has read before, and what its block
// exports.
func (r *readme) run(t *testing.T, before, beginning string, environment ...string) *typed {
	t.Helper()
	line, script := r.find(t, beginning)
	t.Logf("$ %s", line)
	for printed, real := range r.address {
		script = strings.ReplaceAll(script, printed, real)
	}
	args := append([]string{"-i"}, append(r.vars, environment...)...)
	args = append(args, "sh", "-e", "-c", before+script)
	run, err := terminal.Start(t.Context(), terminal.Options{Width: 160, Height: 45, Emulate: true, Patience: patience}, "env", args...)
	if err != nil {
		t.Fatal(err)
	}
	typed := &typed{t, line, run}
	t.Cleanup(func() {
		_ = run.Type(interruptKey) // go run passes no signal on
		_ = run.Close()
	})
	return typed
}

// shows waits until the screen shows all of these.
func (c *typed) shows(texts ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	err := c.WaitFor(ctx, func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
	if err != nil {
		c.t.Fatalf("%s: %v while waiting for %q on\n%s", c.line, err, texts, c.Text())
	}
}

// prints waits until text was written in one piece, and returns all that was.
func (c *typed) prints(text string) string {
	c.t.Helper()
	limit := time.After(patience)
	for {
		chunks, more := c.Chunks()
		var all strings.Builder
		for _, chunk := range chunks {
			all.Write(chunk.Bytes)
		}
		if strings.Contains(all.String(), text) {
			return all.String()
		}
		select {
		case <-more:
		case <-limit:
			c.t.Fatalf("%s: waited in vain for %q in\n%s", c.line, text, all.String())
		}
	}
}

// ends presses keys, if there are any, and wants the command to end well. Of a
// program that was interrupted, go run tells by a line alone that it failed.
func (c *typed) ends(keys string) {
	c.t.Helper()
	if keys != "" {
		if err := c.Type(keys); err != nil {
			c.t.Fatal(err)
		}
	}
	err := c.Wait()
	said := c.prints("")
	if err != nil && keys != interruptKey || strings.Contains(said, "exit status") || strings.Contains(said, "signal:") {
		c.t.Errorf("%s ends with %v and\n%s", c.line, err, said)
	}
}

const interruptKey = "\x03"

func TestTheREADMEsBlocksWorkAsTheyStand(t *testing.T) {
	r := newReadme(t, "README.md")
	r.findAddresses(t)
	r.find(t, "go test ./...") // this test is of it
	demo := r.run(t, "", "go run . demo")
	headless := r.run(t, "", "go run . demo --headless")
	t.Run("on a real account", func(t *testing.T) { r.onARealAccount(t) })
	t.Run("three terminals", func(t *testing.T) { r.inThreeTerminals(t) })

	demo.shows("INTENTS", "awaiting", "live", "ARMED")
	demo.ends("q")
	const live = `"relay":{"state":"live"`
	headless.ends("")
	for range 2 { // in ten seconds a busy machine does little
		if !strings.Contains(headless.prints(""), live) {
			headless = r.run(t, "", "go run . demo --headless")
			headless.ends("")
		}
	}
	if said := headless.prints(""); !strings.Contains(said, live) || strings.Count(said, "\n") == 0 {
		t.Errorf("no line of JSON with %s: %s", live, said)
	}
	r.expectAllTried(t)
}

func (r *readme) expectAllTried(t *testing.T) {
	t.Helper()
	for _, block := range r.blocks {
		lines, _ := commands(block)
		for _, line := range lines {
			if !r.tried[line] {
				t.Errorf("the README's %q is not tried here", line)
			}
		}
	}
}

// inThreeTerminals is the service, the relay and the dashboard on this machine.
func (r *readme) inThreeTerminals(t *testing.T) {
	service := r.run(t, "", "go run . simulate")
	relay := r.run(t, "", `go run . relay --data "$(mktemp -d)"`)
	service.prints("simulator ready on http://")
	relay.prints("relay ready on http://")
	board := r.run(t, "", "go run . watch")
	board.shows("simulator · 127.0.0.1:", "live", "ARMED", "completed")
	board.ends("q")
	relay.ends(interruptKey)
	service.ends(interruptKey)
}

// onARealAccount has the addresses of the README lead to a stand-in and to the
// README's own relay.
func (r *readme) onARealAccount(t *testing.T) {
	secrets := filepath.Join(r.home, ".secrets")
	if err := os.Mkdir(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"checkout-key": accountKey, "relay-token": token, "signing-secret": secret} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	account := r.exports(t, "go run .")
	receiver := "http://127.0.0.1" + r.port(":7430")
	relay := r.run(t, "", "go run . relay --listen")
	relay.prints("relay ready on http://")
	internet := r.beOnline(t, receiver)

	board := r.run(t, "", "go run .", internet...)
	board.shows("api.example", "live", "READ-ONLY", "LIVE")
	follow := r.run(t, account, "go run . events --follow --json", internet...)
	follow.prints(`"type":"checkout_intent.`)
	follow.ends(interruptKey)
	one := r.run(t, account, "go run . events evt_ci_", internet...)
	one.prints("awaiting_confirmation")
	one.ends("")
	status := r.run(t, account, "go run . status --json", internet...)
	if said := status.prints(`"alerts":[`); !strings.Contains(said, `"settled":`) {
		t.Errorf("no snapshot: %s", said)
	}
	status.ends("")
	spent := r.run(t, account, "go run . quota --json", internet...)
	spent.prints(`"limits":[{"name":"reads"`)
	spent.ends("")
	proxy := r.run(t, account, "go run . proxy", internet...)
	proxy.prints("proxy ready on http://127.0.0.1" + r.port(":7440") + " for https://api.example")
	r.passes(t, "http://127.0.0.1"+r.port(":7440"))
	proxy.ends(interruptKey)
	forwarded := r.receive(t)
	forward := r.run(t, r.exports(t, "go run . relay --listen")+account, "go run . forward --to", internet...)
	select {
	case <-forwarded:
	case <-time.After(patience):
		t.Fatalf("nothing is forwarded:\n%s", forward.Text())
	}
	forward.ends(interruptKey)
	board.ends("q")
	relay.ends(interruptKey)
}

// passes asks the service through a proxy, and waits where the board has used up the second.
func (r *readme) passes(t *testing.T, base string) {
	t.Helper()
	client, err := api.New(api.Config{BaseURL: base, Key: api.NewSecret(accountKey), Retries: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, err := range client.Shipments(t.Context(), api.ShipmentQuery{}) {
		if err != nil {
			t.Errorf("through the proxy: %v", err)
		}
	}
}

// port is the port that stands for one of the README.
func (r *readme) port(printed string) string {
	if real, is := r.address[printed]; is {
		return real
	}
	return printed
}

// findAddresses replaces the ports of the README that somebody else has taken on
// this machine.
func (r *readme) findAddresses(t *testing.T) {
	t.Helper()
	r.address = map[string]string{}
	taken := false
	for _, port := range []int{7420, 7430, 7440, 3000} {
		printed := ":" + strconv.Itoa(port)
		free := listenOn(t, printed)
		taken = taken || free != printed
		r.address[printed] = free
	}
	if taken { // simulate and relay have two of them as their defaults
		r.address["go run . simulate "] = "go run . simulate --listen 127.0.0.1" + r.address[":7420"] + " "
		r.address[`go run . relay --data`] = "go run . relay --listen 127.0.0.1" + r.address[":7430"] + " --data"
	}
}
