package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// TestScripts runs testdata/script/*.txtar: what commands print, write and exit with. Each script
// has a folder of its own, without the settings of whoever runs the tests; tillwatch is this test
// binary. testdata/script/example.txtar shows what a script can do:
//
//	tillwatch ARG…           runs it; it must exit 0 (! tillwatch: anything else)
//	exits CODE PROGRAM ARG…  runs a program that must exit with that code
//	run NAME PROGRAM ARG…    leaves a program running; ends with the script
//	serve NAME PROGRAM ARG…  the same, for a server: waits for its ready line, and sets $NAME to where
//	                         it listens and $NAME_FIELD to each field of the line
//	until NAME REGEXP        waits until a running program has printed this
//	interrupt NAME [CODE]    ends it so, with that code or 0; stdout and stderr then are what it printed
//	account [FLAG…]          serves a quiet stand-in with these flags, its webhooks going to a relay,
//	                         as $service and $relay, and sets TILLWATCH_… to use both
//	json PATH [VALUE]        the value at this path (of gjson) of the last stdout must be that, or there
//	let NAME PATH            sets $NAME to the value at this path of the last stdout
//	target NAME              listens at $NAME and answers 200
//	target NAME answers CODE         answers something else from now on
//	target NAME got N                waits until it has got N requests; the newest is kept in NAME.http,
//	                                 its body in NAME.body
//
// The rest is in https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Values[programs{}], env.Values[endpoints{}] = map[string]*scriptProgram{}, map[string]*scriptEndpoint{}
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			env.Setenv("TERM", "xterm-256color")
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "run": scriptRun, "serve": scriptServe, "until": scriptUntil, "interrupt": scriptInterrupt,
			"account": scriptAccount, "json": scriptJSON, "let": scriptLet, "target": scriptTarget,
		},
	})
}

// runTests is the tests as [testscript.Main] runs them.
type runTests struct{ *testing.M }

func (m runTests) Run() int { return runApart(m.M) }

// asCommands are the programs that scripts can run: this test binary under another name.
func asCommands() map[string]func() {
	return map[string]func(){"tillwatch": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }}
}

func want(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "exits CODE PROGRAM ARG…")
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	code := 0
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
	for _, secret := range []string{"TILLWATCH_API_KEY", "TILLWATCH_RELAY_TOKEN", "TILLWATCH_SIGNING_SECRET"} {
		text := ts.Getenv(secret)
		if text != "" && strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), text) {
			ts.Fatalf("it prints %s", secret)
		}
	}
}

// scriptProgram is one that runs beside a script.
type scriptProgram struct {
	command    *exec.Cmd
	out, words heard
	first      chan string   // its first line on stdout
	gone       chan struct{} // closed at its end
}

type (
	programs  struct{}
	endpoints struct{}
)

// heard is what a program has printed so far.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(text)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func scriptRun(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "run NAME PROGRAM ARG…")
	startProgram(ts, args[0], args[1:])
}

func startProgram(ts *testscript.TestScript, name string, line []string) *scriptProgram {
	ts.Check(ts.Exec("env")) // the only way to what the script has set
	p := &scriptProgram{command: exec.Command(line[0], line[1:]...), first: make(chan string, 1), gone: make(chan struct{})}
	p.command.Dir, p.command.Env = ts.MkAbs("."), strings.Split(ts.ReadFile("stdout"), "\n")
	p.command.Stderr = &p.words
	out, err := p.command.StdoutPipe()
	ts.Check(err)
	ts.Check(p.command.Start())
	go func() {
		defer close(p.gone)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			_, _ = p.out.Write([]byte(line))
			select {
			case p.first <- line:
			default:
			}
			if err != nil {
				break
			}
		}
		_ = p.command.Wait() // its state has the code
	}()
	ts.Defer(func() {
		_ = p.command.Process.Kill()
		<-p.gone
		ts.Logf("%s printed:\n%s%s", name, &p.out, &p.words)
	})
	ts.Value(programs{}).(map[string]*scriptProgram)[name] = p
	return p
}

func scriptServe(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "serve NAME PROGRAM ARG…")
	p := startProgram(ts, args[0], append(args[1:], "--json"))
	var ready map[string]any
	select {
	case line := <-p.first:
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			<-p.gone
			ts.Fatalf("%q is no ready line: %s", line, &p.words)
		}
	case <-time.After(patience):
		ts.Fatalf("it does not get ready: %s", &p.words)
	}
	for field, value := range ready {
		ts.Setenv(args[0]+"_"+field, fmt.Sprint(value))
	}
	ts.Setenv(args[0], fmt.Sprint(ready["listen"]))
}

func programNamed(ts *testscript.TestScript, name string) *scriptProgram {
	p := ts.Value(programs{}).(map[string]*scriptProgram)[name]
	if p == nil {
		ts.Fatalf("no program runs as %s", name)
	}
	return p
}

func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "until NAME REGEXP")
	p, pattern := programNamed(ts, args[0]), regexp.MustCompile("(?m)"+args[1])
	for late := time.After(patience); !pattern.MatchString(p.out.String() + p.words.String()); {
		select {
		case <-p.gone:
			if !pattern.MatchString(p.out.String() + p.words.String()) {
				ts.Fatalf("it ends without that")
			}
		case <-late:
			ts.Fatalf("it does not print that")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "interrupt NAME [CODE]")
	p := programNamed(ts, args[0])
	_ = p.command.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-p.gone:
	case <-time.After(patience):
		ts.Fatalf("it does not end")
	}
	fmt.Fprint(ts.Stdout(), &p.out)
	fmt.Fprint(ts.Stderr(), &p.words)
	if code := p.command.ProcessState.ExitCode(); strconv.Itoa(code) != strings.Join(append(args[1:], "0")[:1], "") {
		ts.Fatalf("exit code %d", code)
	}
}

func scriptAccount(ts *testscript.TestScript, neg bool, flags []string) {
	want(ts, neg, flags, 0, "account [FLAG…]")
	ts.Setenv("TILLWATCH_SIGNING_SECRET", "signing-secret-of-the-test")
	ts.Setenv("TILLWATCH_RELAY_TOKEN", "token-of-the-test")
	ts.Setenv("TILLWATCH_API_KEY", "key-of-the-test")
	data := "relay"
	if n := len(ts.Value(programs{}).(map[string]*scriptProgram)); n > 0 { // the folder of an earlier one is in use
		data += strconv.Itoa(n)
	}
	scriptServe(ts, false, []string{"relay", "tillwatch", "relay", "--listen", "127.0.0.1:0", "--data", ts.MkAbs(data)})
	ts.Setenv("TILLWATCH_RELAY_URL", ts.Getenv("relay"))
	scriptServe(ts, false, append([]string{"service", "tillwatch", "simulate", "--listen", "127.0.0.1:0", "--seed", "7",
		"--history", "0", "--intents-per-minute", "0", "--auto-confirm", "0", "--failure-share", "0", "--product-events-per-minute", "0",
		"--limits", "none", "--offer-after", "50ms", "--placing-takes", "50ms", "--shipment-step", "1h",
		"--webhook-url", ts.Getenv("relay") + "/webhooks"}, flags...))
	ts.Setenv("TILLWATCH_API_URL", ts.Getenv("service"))
}

// valueAt is the value at a path of the last stdout, which is one JSON object or one a line.
func valueAt(ts *testscript.TestScript, path string) gjson.Result {
	out := ts.ReadFile("stdout")
	if strings.Count(strings.TrimSpace(out), "\n") > 0 && !strings.HasPrefix(path, "..") {
		path = "..0." + path
	}
	return gjson.Get(out, path)
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: [!] json PATH [VALUE]")
	}
	value := valueAt(ts, args[0])
	is := value.Exists() && value.Type != gjson.Null
	if len(args) == 2 {
		is = value.Exists() && cmp.Or(value.String(), value.Raw) == args[1]
	}
	if is == neg {
		ts.Fatalf("%s is %s", args[0], value.Raw)
	}
}

func scriptLet(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "let NAME PATH")
	value := valueAt(ts, args[1])
	if value.String() == "" {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], value.String())
}

// scriptEndpoint is an endpoint that keeps what it gets.
type scriptEndpoint struct {
	mu     sync.Mutex
	status int
	got    int
	http   bytes.Buffer // the newest request
	body   bytes.Buffer
}

func (e *scriptEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got++
	e.http.Reset()
	e.body.Reset()
	_, _ = e.body.ReadFrom(r.Body) // what is missing, a script misses
	_ = r.Header.Write(&e.http)
	fmt.Fprintf(&e.http, "\r\n%s", &e.body)
	w.WriteHeader(e.status)
}

func scriptTarget(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "target NAME [answers CODE | got N]")
	all := ts.Value(endpoints{}).(map[string]*scriptEndpoint)
	e := all[args[0]]
	if len(args) == 1 {
		e = &scriptEndpoint{status: http.StatusOK}
		listener, err := listen("--listen", "127.0.0.1:0")
		ts.Check(err)
		server := &http.Server{Handler: e}
		go func() { _ = server.Serve(listener) }()
		ts.Defer(func() { _ = server.Shutdown(context.Background()) })
		all[args[0]] = e
		ts.Setenv(args[0], address(listener))
		return
	}
	want(ts, e == nil, args, 3, "target NAME [answers CODE | got N]")
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	late := time.Now().Add(patience)
	for {
		e.mu.Lock()
		if args[1] == "answers" {
			e.status = n
		}
		if args[1] == "answers" || e.got >= n {
			break
		}
		e.mu.Unlock()
		if time.Now().After(late) {
			ts.Fatalf("it got %d requests", e.got)
		}
		time.Sleep(5 * time.Millisecond)
	}
	defer e.mu.Unlock()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".http"), e.http.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".body"), e.body.Bytes(), 0o600))
}
