package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// quickStart plays testdata/quickstart.txt, whose beginning says what its lines
// mean. Every command gets the same tillwatch.toml.
type quickStart struct {
	*testing.T
	config  string
	target  *endpoint
	names   map[string]string // what stands for $name
	running map[string]*leftRunning
}

// step is a command of the script, and what is expected of it.
type step struct {
	line   int
	typed  string
	wanted []string
}

// leftRunning is a command that was started with &.
type leftRunning struct {
	interrupt context.CancelFunc
	ready     chan string // its first line
	out, said *utterances
	code      chan int
}

func TestTheQuickStartsOfOtherCommandLinesWorkHere(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	q := &quickStart{T: t, target: newEndpoint(t), running: map[string]*leftRunning{}}
	q.config = configFile(t, "signing_secret", oldSecret, "relay_token", eventsToken, "api_key", "key-of-the-quick-start", "state_dir", filepath.Join(work, "state"))
	q.names = map[string]string{"work": work, "target": q.target.url}
	t.Cleanup(func() {
		for _, r := range q.running {
			r.interrupt()
			<-r.code
		}
	})
	for _, s := range quickStartSteps(t) {
		q.play(s)
		if t.Failed() {
			t.Fatalf("line %d: $ %s", s.line, s.typed)
		}
	}
	if len(q.running) > 0 {
		t.Errorf("the script leaves %d commands running", len(q.running))
	}
}

// TestTheTableForThoseWhoComeFromOtherCommandLines holds WORKBENCH.md to commands
// that exist, with those flags, and that the script has tried.
func TestTheTableForThoseWhoComeFromOtherCommandLines(t *testing.T) {
	workbench, err := os.ReadFile("WORKBENCH.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, s := range quickStartSteps(t) {
		if args, ours := strings.CutPrefix(s.typed, "tillwatch "); ours {
			args, _, _ = strings.Cut(args, " > ")
			tried[accepted(t, "testdata/quickstart.txt", typedWords(strings.TrimSuffix(args, "&")))] = true
		}
	}
	_, table, _ := strings.Cut(string(workbench), "## From the Stripe, Hookdeck or Svix CLI")
	named := regexp.MustCompile("`tillwatch ([^`]*)`").FindAllStringSubmatch(table, -1)
	if len(named) == 0 {
		t.Error("WORKBENCH.md has no such table")
	}
	for _, command := range named {
		if path := accepted(t, "WORKBENCH.md", typedWords(command[1])); !tried[path] {
			t.Errorf("%s is in the table, and testdata/quickstart.txt does not try it", path)
		}
	}
}

func quickStartSteps(t *testing.T) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "quickstart.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		typed, isTyped := strings.CutPrefix(line, "$ ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isTyped:
			steps = append(steps, step{line: n, typed: typed})
		default:
			last := &steps[len(steps)-1]
			last.wanted = append(last.wanted, line)
		}
	}
	return steps
}

// typedWords are those of a typed line, as a shell has them, but with its $names.
func typedWords(typed string) (all []string) {
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(typed, -1) {
		all = append(all, strings.Trim(word, "'"))
	}
	return all
}

func (q *quickStart) play(s step) {
	all := typedWords(s.typed)
	for i, word := range all {
		all[i] = q.filled(word)
	}
	switch program, args := all[0], all[1:]; program {
	case "tillwatch":
		q.run(args, s.wanted)
	case "^C":
		q.end(args[0], s.wanted)
	case "set":
		q.set(args[0], args[1])
	case "target":
		q.useTarget(args[0], args[1])
	default:
		q.Errorf("there is no %s", program)
	}
}

// filled is a text of the script with what its $names stand for.
func (q *quickStart) filled(text string) string {
	return os.Expand(text, func(name string) string {
		value, known := q.names[name]
		if !known {
			q.Errorf("$%s stands for nothing yet", name)
		}
		return value
	})
}

func (q *quickStart) run(args, wanted []string) {
	into, background := "", false
	switch last := len(args) - 1; {
	case args[last] == "&":
		args, background = args[:last], true
	case last > 0 && args[last-1] == ">":
		args, into = args[:last-1], args[last]
	}
	args = append(args, "--config", q.config)
	if background {
		q.start(args, wanted)
		return
	}
	var out, said bytes.Buffer
	ctx, cancel := context.WithTimeout(q.Context(), patience)
	defer cancel()
	code := run(ctx, args, strings.NewReader(""), &out, &said)
	q.expect(code, out.String(), said.String(), wanted)
	if into != "" {
		q.write(into, out.String())
	}
}

// start leaves a command running. Where something is expected of it, that is in
// its first line, which a server prints once it is ready.
func (q *quickStart) start(args, wanted []string) {
	ctx, interrupt := context.WithCancel(q.Context())
	r := &leftRunning{interrupt: interrupt, ready: make(chan string, 1), out: &utterances{}, said: &utterances{}, code: make(chan int, 1)}
	q.running[args[0]] = r
	read, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), write, r.said)
		_ = write.Close()
	}()
	go func() {
		lines := bufio.NewScanner(read)
		for first := true; lines.Scan(); first = false {
			fmt.Fprintln(r.out, lines.Text())
			if first {
				r.ready <- lines.Text()
			}
		}
		r.code <- <-code
	}()
	if len(wanted) == 0 {
		return
	}
	select {
	case line := <-r.ready:
		q.expect(exitDone, line, "", wanted)
	case code := <-r.code:
		r.code <- code
		q.Errorf("it ends with %d: %s", code, r.said)
	case <-time.After(patience):
		q.Errorf("it does not get ready: %s", r.said)
	}
}

// end interrupts a command that runs.
func (q *quickStart) end(name string, wanted []string) {
	r := q.running[name]
	delete(q.running, name)
	r.interrupt()
	select {
	case code := <-r.code:
		q.expect(code, r.out.String(), r.said.String(), wanted)
	case <-time.After(patience):
		q.Errorf("it does not end: %s", r.said)
	}
}

// expect compares what a command said with what the script has below it.
func (q *quickStart) expect(code int, out, said string, wanted []string) {
	q.Helper()
	wantedCode := exitDone
	for _, line := range wanted {
		number, isCode := strings.CutPrefix(line, "exit ")
		path, name, isName := strings.Cut(line, " -> ")
		switch {
		case isCode:
			wantedCode, _ = strconv.Atoi(number) // another word is no code, and so not that of the command
		case isName:
			q.names[name] = gjson.Get(out, path).String()
			if q.names[name] == "" {
				q.Errorf("there is no %s", path)
			}
		case !strings.Contains(out+said, q.filled(line)):
			q.Errorf("it does not say %q", q.filled(line))
		}
	}
	if code != wantedCode {
		q.Errorf("exit code %d, not %d", code, wantedCode)
	}
	if strings.Contains(out+said, oldSecret) || strings.Contains(out+said, eventsToken) {
		q.Error("it prints a secret")
	}
	if q.Failed() {
		q.Logf("it said\n%s%s", out, said)
	}
}

// set adds a setting to tillwatch.toml.
func (q *quickStart) set(name, value string) {
	before, err := os.ReadFile(q.config)
	if err != nil {
		q.Fatal(err)
	}
	q.write(q.config, fmt.Sprintf("%s%s = %q\n", before, name, value))
}

func (q *quickStart) useTarget(verb, object string) {
	switch verb {
	case "answers":
		status, err := strconv.Atoi(object)
		if err != nil {
			q.Fatal(err)
		}
		q.target.answer(status)
	case "got":
		n, err := strconv.Atoi(object)
		if err != nil {
			q.Fatal(err)
		}
		q.target.await(q.T, n)
	case "keeps":
		request, body := q.target.last()
		var headers strings.Builder
		if err := request.Header.Write(&headers); err != nil {
			q.Fatal(err)
		}
		q.write(object, headers.String()+"\r\n"+body)
	case "saves":
		_, body := q.target.last()
		q.write(object, body)
	case "parses": // and writes it again, as a framework does before it is verified
		_, body := q.target.last()
		var again bytes.Buffer
		if err := json.Indent(&again, []byte(body), "", "  "); err != nil {
			q.Fatal(err)
		}
		q.write(object, again.String())
	default:
		q.Errorf("the target %s nothing", verb)
	}
}

// last is the newest request, with its body.
func (e *endpoint) last() (request *http.Request, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests[len(e.requests)-1], e.bodies[len(e.bodies)-1]
}

func (q *quickStart) write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		q.Fatal(err)
	}
}
