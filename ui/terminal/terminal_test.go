package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
)

// TestMain plays the program that the tests run on a terminal.
func TestMain(m *testing.M) {
	if os.Getenv("TERMINAL_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	fmt.Print("\x1b[1mready\x1b[0m\n")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "wait for a resize":
			<-resized
			fmt.Println("was resized")
		case "end":
			os.Exit(3)
		default:
			fmt.Printf("read %q\n", line)
		}
	}
}

func startTestProgram(t *testing.T, o Options) (*Terminal, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	o.Env = append(o.Env, "TERMINAL_TEST_PROGRAM=1")
	program, err := Start(ctx, o, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return program, ctx
}

func sees(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}

func TestAProgramIsTypedAtAndResized(t *testing.T) {
	program, ctx := startTestProgram(t, Options{Width: 40, Height: 8})
	for _, act := range []struct {
		typed  string
		resize bool
		shown  string
	}{
		{"", false, "ready"},
		{"hello\r", false, `read "hello"`},
		{"wait for a resize\r", true, "was resized"},
	} {
		if act.typed != "" {
			if err := program.Type(act.typed); err != nil {
				t.Fatal(err)
			}
		}
		if act.resize {
			if err := program.Resize(60, 10); err != nil {
				t.Fatal(err)
			}
		}
		if err := program.WaitFor(ctx, sees(act.shown)); err != nil {
			t.Fatalf("waiting for %q: %v; the screen shows:\n%s", act.shown, err, program.Text())
		}
	}
	if chunks, _ := program.Chunks(); len(chunks) == 0 || chunks[0].At <= 0 {
		t.Errorf("chunks are %v", chunks)
	}
	if err := program.Type("end\r"); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err == nil || err.Error() != "exit status 3" {
		t.Errorf("the program ended with %v", err)
	}
}

func TestAProgramThatEndsIsNotWaitedFor(t *testing.T) {
	program, ctx := startTestProgram(t, Options{})
	if err := program.Type("end\r"); err != nil {
		t.Fatal(err)
	}
	if err := program.WaitFor(ctx, sees("what never comes")); err == nil || ctx.Err() != nil {
		t.Errorf("waiting ended with %v", err)
	}
	_ = program.Wait()
}

func TestWhatIsNoProgramIsRefused(t *testing.T) {
	if _, err := Start(t.Context(), Options{}, "/nonexistent/program"); err == nil {
		t.Error("it was started")
	}
}

func TestAPictureShowsWhatTheScreenShows(t *testing.T) {
	e := newScreen(24, 4, io.Discard)
	defer e.close()
	e.write([]byte("\x1b[48;2;10;20;30m\x1b[2J\x1b[H" +
		"\x1b[1;38;2;200;100;0mbold\x1b[22m <&> \x1b[3mitalic\x1b[23m\r\n" +
		"◆ 日本 \x1b[4munder\x1b[24m\r\n" +
		"\x1b[7mreverse\x1b[27m \x1b[48;2;40;50;60mother ground"))
	golden.RequireEqual(t, e.svg(`a "title" & more`))
}

func chunk(at time.Duration, text string) Chunk { return Chunk{At: at, Bytes: []byte(text)} }

func TestDrawingIsCountedInFramesAndCells(t *testing.T) {
	const second = time.Second
	chunks := []Chunk{
		chunk(0, "\x1b[Hbefore"),
		chunk(second, "\x1b[Hbef"), // the same again
		chunk(2*second, "\x1b[H"),
		chunk(2*second+time.Millisecond, "X"), // of the same frame
		chunk(3*second, "\x1b[31mYZ"),
	}
	for name, want := range map[string]struct {
		after time.Duration
		drawn Drawn
	}{
		"all but the first":        {0, Drawn{For: 3 * second, Bytes: 17, Frames: 3, Cells: 3}},
		"only the last":            {2*second + time.Millisecond, Drawn{For: second - time.Millisecond, Bytes: 7, Frames: 1, Cells: 2}},
		"nothing is left to count": {4 * second, Drawn{}},
	} {
		if got := Count(chunks, want.after, 20, 3); got != want.drawn {
			t.Errorf("%s: got %+v, want %+v", name, got, want.drawn)
		}
	}
}

func TestTheFirstPaintIsNoEscapeSequence(t *testing.T) {
	program := Terminal{screen: newScreen(20, 8, io.Discard), arrived: make(chan struct{})}
	defer program.screen.close()
	for i, text := range []string{"\x1b[?1049h\x1b[2J", "   \r\n", "\x1b[5;5Hx", "y"} {
		program.keep(chunk(time.Duration(i+1), text))
		if at, want := program.FirstPaint(), time.Duration(max(0, min(i-1, 1))*3); at != want {
			t.Errorf("after %q it was painted at %d, not %d", text, at, want)
		}
	}
}
