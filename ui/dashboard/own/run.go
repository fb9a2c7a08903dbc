package own

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/api"
	"tillwatch/ui/process"
)

// Result is the outcome of a command.
type Result struct {
	Lines   []string // of its output, safe to draw
	Dropped int      // bytes of output that were not kept
	Code    int      // its exit code; -1: it did not end by itself
	Took    time.Duration
	Err     error // why it did not run to its end; nil if it did
}

const (
	// mostKept bounds the kept output, in bytes.
	mostKept = 64 << 10
	// longestLine is the most bytes of a line: a longer one is divided.
	longestLine = 2 << 10
	// endsWithin is how long a cancelled command may take to end, and how long other
	// processes may hold its output open after its end.
	endsWithin = time.Second
)

// ErrCancelled says that a person cancelled a command, or that the dashboard ended.
var ErrCancelled = errors.New("cancelled")

// Run runs a command without terminal and input until it ends. If ctx ends first, Run
// ends all processes of the command's group. Processes that a command leaves behind when
// it ends by itself go on.
func Run(ctx context.Context, argv, environ []string) Result {
	var output bounded
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env, command.Stdout, command.Stderr, command.WaitDelay = environ, &output, &output, endsWithin
	process.Apart(command, endsWithin)
	began := time.Now()
	err := command.Run()
	r := Result{Code: -1, Took: time.Since(began), Lines: output.lines(), Dropped: output.dropped}
	if command.ProcessState != nil {
		r.Code = command.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.Err = ErrCancelled
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
	case errors.As(err, &exit) && exit.Exited():
	default:
		r.Err = err
	}
	return r
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	mu      sync.Mutex
	kept    bytes.Buffer
	dropped int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(p), mostKept-b.kept.Len())
	b.kept.Write(p[:n])
	b.dropped += len(p) - n
	return len(p), nil
}

// lines returns the lines of the output without control characters.
func (b *bounded) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.kept.String()
	if b.dropped > 0 {
		kept = kept[:wholeCharacters(kept, len(kept))]
	}
	text := strings.TrimRight(ansi.Strip(kept), "\r\n\t ")
	if text == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:] // as a terminal would show a progress bar
		for len(line) > longestLine {
			end := wholeCharacters(line, longestLine)
			lines = append(lines, string(api.Scrub(line[:end])))
			line = line[end:]
		}
		lines = append(lines, string(api.Scrub(line)))
	}
	return lines
}

// wholeCharacters returns the greatest length of at most n bytes at which text can be cut
// without breaking a character.
func wholeCharacters(text string, n int) int {
	for start := n - 1; start >= max(n-utf8.UTFMax, 0); start-- {
		if utf8.RuneStart(text[start]) {
			if utf8.FullRuneInString(text[start:n]) {
				return n
			}
			return start
		}
	}
	return n
}

// Taking runs a command that takes over the terminal.
type Taking struct {
	Context           context.Context
	Argv, Environ     []string
	In                io.Reader              // the terminal
	Out               io.Writer              // the terminal
	Leave, Enter      func() error           // give the terminal back, and take it again
	SuspendInterrupts func() (resume func()) // leaves signals from the keyboard to the command until resume; may be nil
}

// Run gives the command the terminal until it ends.
func (t *Taking) Run() error {
	if t.SuspendInterrupts != nil {
		defer t.SuspendInterrupts()()
	}
	if err := t.Leave(); err != nil {
		return errors.Join(err, t.Enter())
	}
	command := exec.CommandContext(t.Context, t.Argv[0], t.Argv[1:]...)
	command.Env, command.Stdin, command.Stdout, command.Stderr, command.WaitDelay = t.Environ, t.In, t.Out, t.Out, endsWithin
	return errors.Join(command.Run(), t.Enter())
}
