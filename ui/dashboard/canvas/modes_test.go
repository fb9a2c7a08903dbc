package canvas

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi"
)

var question = regexp.MustCompile(`\x1b\[\?\d+\$p`)

// told is what was written to a terminal beside cells that stays: modes by their number,
// and others by their name.
func told(written string) map[string]bool {
	state := map[string]bool{}
	for _, mode := range regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`).FindAllStringSubmatch(written, -1) {
		for number := range strings.SplitSeq(mode[1], ";") {
			state["mode "+number] = mode[2] == "h"
		}
	}
	for name, sequences := range map[string][2]string{
		"keys of xterm": {ansi.SetModifyOtherKeys2, ansi.ResetModifyOtherKeys},
		"keys of kitty": {ansi.PushKittyKeyboard(5), ansi.PopKittyKeyboard(1)},
		"places":        {ansi.PushKittyKeyboard(29), ansi.PopKittyKeyboard(1)},
		"kept title":    {ansi.WindowOp(22, 2), ansi.WindowOp(23, 2)},
		"title":         {ansi.SetWindowTitle("tillwatch"), ansi.SetWindowTitle("")},
	} {
		if on := strings.LastIndex(written, sequences[0]); on >= 0 {
			state[name] = strings.LastIndex(written, sequences[1]) < on
		}
	}
	return state
}

func TestATerminalIsLeftAsItWasTaken(t *testing.T) {
	all := Modes{Title: "tillwatch", Mouse: true, Focus: true, Places: true}
	cases := []struct {
		name string
		do   func(c *Canvas)
	}{
		{"at once", func(*Canvas) {}},
		{"with all modes", func(c *Canvas) { c.Set(all) }},
		{"with fewer modes at its end", func(c *Canvas) { c.Set(all); c.Set(Modes{Title: "tillwatch"}) }},
		{"measuring by graphemes", func(c *Canvas) { c.Learn(ansi.ModeUnicodeCore, ansi.ModeReset) }},
		{"taken twice", func(c *Canvas) { c.Set(all); give(c); take(c) }},
		{"in a panic", func(c *Canvas) {
			c.Set(all)
			defer func() {
				if recover() != "torn" {
					panic("the panic does not go on")
				}
			}()
			defer c.Rescue()
			panic("torn")
		}},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			screen := newTerminal(40, 5)
			c := open(screen)
			take(c)
			c.Show(numbered(5, 0))
			test.do(c)
			give(c)
			for what, on := range told(screen.all) {
				if on != (what == "mode 25" || what == "mode 7") { // the cursor, and that lines wrap
					t.Errorf("%s is left %t", what, on)
				}
			}
			if len(told(screen.all)) < 5 {
				t.Errorf("hardly anything was written: %q", screen.all)
			}
			after := screen.all
			give(c)
			c.Set(Modes{Title: "later"})
			c.Tell("\a")
			if screen.all != after {
				t.Errorf("written after it was given back: %q", screen.all[len(after):])
			}
		})
	}
}

func TestModesOfTheUserAreLeftAsTheyWereFound(t *testing.T) {
	usual := map[ansi.Mode]bool{ansi.ModeAutoWrap: true, ansi.ModeTextCursorEnable: true}
	for _, mode := range []ansi.Mode{
		ansi.ModeCursorKeys, ansi.DECMode(5), ansi.ModeAutoWrap, ansi.ModeTextCursorEnable, ansi.ModeFocusEvent,
		ansi.ModeBracketedPaste, ansi.ModeUnicodeCore,
	} {
		for found := ansi.ModeNotRecognized; found <= ansi.ModePermanentlyReset; found++ {
			screen := newTerminal(40, 5)
			c := open(screen)
			for range 2 { // the second time after a shell had the terminal
				take(c)
				changed := strings.Index(screen.last, ansi.SetModeAltScreenSaveCursor)
				if asked := strings.LastIndex(screen.last, ansi.RequestMode(mode)); asked < 0 || asked > changed {
					t.Errorf("mode %d is not asked for before anything is changed: %q", mode.Mode(), screen.last)
				}
				c.Learn(mode, found)
				c.Set(Modes{Focus: true})
				c.Show(numbered(5, 0))
				give(c)
				want := usual[mode]
				if found != ansi.ModeNotRecognized {
					want = found.IsSet()
				}
				if is := told(screen.all)[fmt.Sprintf("mode %d", mode.Mode())]; is != want {
					t.Errorf("mode %d, found in setting %d, is left %t", mode.Mode(), found, is)
				}
			}
		}
	}
}

// A program that is lent the terminal may be killed before it has put that in order.
func TestATerminalIsTakenBackInOrderWhateverAProgramHasLeft(t *testing.T) {
	for _, c := range []struct{ name, left string }{
		{"nothing", ""},
		{"a scroll region", "\x1b[2;4r"},
		{"margins on the left and the right", "\x1b[?69h\x1b[5;20s"},
		{"origins within the region", "\x1b[2;4r\x1b[?6h"},
		{"a colour", "\x1b[31;44;7m"},
		{"insert mode", "\x1b[4h"},
		{"the characters of lines", "\x1b(0"},
		{"the characters of lines, shifted out", "\x1b)0\x0e"},
		{"no wrapping", "\x1b[?7l"},
		{"the mouse reported", "\x1b[?9h\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1015h"},
		{"all in reverse", "\x1b[?5h"},
		{"keys of an application", "\x1b[?1h\x1b="},
		{"a frame that does not end", "\x1b[?2026h"},
		{"much of it, on the other screen", "\x1b[?1000h\x1b[?25l\x1b[31m\x1b[?1049hmess\x1b[2;4r\x1b[?6h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			screen := newTerminal(40, 5)
			screen.WriteString("\x1b[3;7H")
			at := screen.CursorPosition()
			canvas := open(screen)
			canvas.Set(Modes{Focus: true})
			take(canvas)
			canvas.Show(numbered(5, 0))
			give(canvas)
			if got := screen.CursorPosition(); got != at {
				t.Errorf("the cursor is at %v, and was at %v", got, at)
			}
			screen.Write([]byte(c.left))
			take(canvas)
			for _, reset := range []string{ansi.ResetStyle, ansi.ResetModeInsertReplace, "\x1b[r", "\x0f", "\x1b(B", "\x1b>"} { // not all are emulated
				if !strings.Contains(screen.last, reset) {
					t.Errorf("%q is not written: %q", reset, screen.last)
				}
			}
			if got, want := screen.looks(), asPrinted(numbered(5, 0), 40, 5); got != want {
				t.Errorf("the screen is\n%s, want\n%s", got, want)
			}
			canvas.Show(numbered(5, 1)) // scrolls
			if got, want := screen.looks(), asPrinted(numbered(5, 1), 40, 5); got != want {
				t.Errorf("the next frame is\n%s, want\n%s", got, want)
			}
			on := []string{"mode 7", "mode 1004", "mode 1049", "mode 2004"}
			for what, is := range told(screen.all) {
				if strings.HasPrefix(what, "mode ") && is != slices.Contains(on, what) {
					t.Errorf("%s is %t", what, is)
				}
			}
		})
	}
}

func TestATerminalIsToldWhatIsNewInItsModes(t *testing.T) {
	screen := newTerminal(40, 5)
	c := open(screen)
	c.Set(Modes{Title: "tillwatch", Mouse: true})
	if screen.all != "" {
		t.Errorf("written before it was taken: %q", screen.all)
	}
	take(c)
	defer give(c)
	if !strings.Contains(screen.last, ansi.SetWindowTitle("tillwatch")) || !strings.Contains(screen.last, ansi.SetModeMouseButtonEvent) {
		t.Errorf("it begins with %q", screen.last)
	}
	for _, step := range []struct {
		modes Modes
		want  string
	}{
		{Modes{Title: "tillwatch", Mouse: true}, ""},
		{Modes{Title: "1 awaiting", Mouse: true}, ansi.SetWindowTitle("1 awaiting")},
		{Modes{Title: "1 awaiting"}, ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr},
		{Modes{Title: "1 awaiting", Focus: true}, ansi.SetModeFocusEvent},
		{Modes{Title: "1 awaiting", Focus: true, Places: true}, ansi.ResetModifyOtherKeys + ansi.PushKittyKeyboard(29)},
		{Modes{Title: "1 awaiting", Focus: true}, ansi.PopKittyKeyboard(1)},
	} {
		screen.last = ""
		if c.Set(step.modes); screen.last != step.want {
			t.Errorf("%+v: got %q, want %q", step.modes, screen.last, step.want)
		}
	}
}

func TestATerminalIsAskedWhatItWillAnswer(t *testing.T) {
	for _, c := range []struct {
		environ string
		asked   bool
	}{
		{"TERM=xterm-256color", true},
		{"TERM=xterm-256color TERM_PROGRAM=vscode", true},
		{"TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", false},
		{"TERM=xterm-256color SSH_TTY=/dev/pts/3", false},
		{"TERM=xterm-ghostty SSH_TTY=/dev/pts/3", true},
		{"TERM=vt100", false},
		{"", false},
	} {
		screen := newTerminal(40, 5)
		canvas := New(Config{Out: screen, Environ: strings.Fields(c.environ)})
		take(canvas)
		give(canvas)
		if got := strings.Contains(screen.all, ansi.RequestModeUnicodeCore); got != c.asked {
			t.Errorf("%q: asked %t, want %t", c.environ, got, c.asked)
		}
	}
}

// GNU Screen passes on only what is marked for the terminal around it, and only short sequences.
func TestATextForTheClipboardPassesScreen(t *testing.T) {
	for _, n := range []int{1, 300, 5000} {
		asks := ansi.SetSystemClipboard(strings.Repeat("x", n))
		for environ, want := range map[string]string{
			"TERM=screen STY=1.pts": asks,
			"TERM=xterm":            "",
			"TERM=screen TMUX=/tmp/tmux-0/default,1,0 STY=1.pts": "",
		} {
			screen := newTerminal(40, 5)
			c := New(Config{Out: screen, Environ: strings.Fields(environ)})
			take(c)
			screen.last = ""
			c.Tell(asks)
			var passed string
			for part := range strings.SplitSeq(screen.last, "\x1b\\") {
				if sequence, ok := strings.CutPrefix(part, "\x1bP"); ok && len(sequence) <= 256 {
					passed += sequence
				}
			}
			if passed != want || want == "" && screen.last != asks {
				t.Errorf("%s, %d bytes: it gets %q", environ, n, screen.last)
			}
		}
	}
}

// An old terminal passes over modes that it does not know, and prints what it takes
// for no sequence.
func TestAnOldTerminalIsToldNothingThatItMayPrint(t *testing.T) {
	modes := regexp.MustCompile(`\x1b\[\?[0-9;]+[hl]|\x1b\[(\d+;\d+|)H|\x1b\[(m|4l|r)`)
	for _, term := range []string{"", "dumb", "vt100", "vt220", "ansi"} {
		screen := newTerminal(40, 5)
		c := New(Config{Out: screen, Environ: []string{"TERM=" + term}})
		take(c)
		c.Set(Modes{Title: "tillwatch", Mouse: true, Focus: true, Places: true})
		c.Tell(ansi.SetSystemClipboard("ci_1"))
		give(c)
		if left := modes.ReplaceAllString(screen.all, ""); left != "" {
			t.Errorf("TERM=%s gets %q", term, left)
		}
		if screen.all == "" {
			t.Errorf("TERM=%s gets nothing", term)
		}
	}
}

func TestATerminalThatGrewUnnoticedIsDrawnOnWhole(t *testing.T) {
	frame := func(first, height int) []string {
		lines := make([]string, height)
		for y := range lines {
			lines[y] = fmt.Sprintf("line %-15d", first+y)
		}
		return lines
	}
	synctest.Test(t, func(t *testing.T) {
		terminal := newTerminal(20, 10)
		c := open(terminal)
		take(c)
		c.Show(frame(0, 10))
		terminal.Resize(20, 24) // and nobody knows yet
		c.Show(frame(2, 10))    // which scrolls
		if !strings.Contains(terminal.last, "\x1b[1;10r") {
			t.Fatalf("nothing is scrolled: %q", terminal.last)
		}
		c.Resize(20, 24)
		lines := frame(3, 24)
		c.Show(lines)
		if got, want := terminal.looks(), asPrinted(lines, 20, 24); got != want {
			t.Errorf("it shows\n%s\nwant\n%s", terminal.String(), strings.Join(lines, "\n"))
		}
	})
}
