package canvas

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Modes are what a terminal is told beside cells. It is told when they change, and
// all of it is taken back when the terminal is left.
type Modes struct {
	Title    string // of the window; "": the terminal's own
	Progress string // the sequence that shows it in the terminal's own bar; "": none
	Mouse    bool   // clicks, drags and the wheel are reported
	Focus    bool   // so is that the terminal gets the focus or loses it
}

// change is what takes a terminal from these modes to others.
func (m Modes) change(to Modes) string {
	var b strings.Builder
	if m.Mouse != to.Mouse {
		b.WriteString(either(to.Mouse, ansi.SetModeMouseButtonEvent+ansi.SetModeMouseExtSgr, ansi.ResetModeMouseButtonEvent+ansi.ResetModeMouseExtSgr))
	}
	if m.Focus != to.Focus {
		b.WriteString(either(to.Focus, ansi.SetModeFocusEvent, ansi.ResetModeFocusEvent))
	}
	if m.Title != to.Title {
		b.WriteString(ansi.SetWindowTitle(to.Title))
	}
	if m.Progress != to.Progress {
		b.WriteString(either(to.Progress != "", to.Progress, ansi.ResetProgressBar))
	}
	return b.String()
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// Every terminal is asked for its other screen without a cursor, and for pasted
// text in brackets: one that knows none of these modes passes over them.
const (
	enter = afresh + ansi.SetModeAltScreenSaveCursor + inOrder + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste
	leave = ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable
)

// Whoever had the terminal before may have been killed. The style and insert mode
// are put right before the cursor is saved with them. What moves the cursor comes
// after: the keys of an application, reverse video, origins within the margins,
// those margins, each way to report the mouse and a frame that has not ended.
const (
	afresh  = ansi.ResetStyle + ansi.ResetModeInsertReplace
	inOrder = "\x1b[?1;5;6;69;2026l" + unbound + "\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016l"
)

// unbound has the whole screen scroll, whatever its size.
const unbound = "\x1b[r"

// All but old terminals are asked for their usual characters and the usual keypad,
// too.
const usual = "\x0f\x1b(B\x1b>"

// All but old terminals are asked to keep the title that they have, and for keys
// that can be told apart, by either of two protocols.
const (
	enhance = "\x1b[22;2t" + ansi.SetModifyOtherKeys2 + "\x1b[>1u"
	reduce  = ansi.ResetModifyOtherKeys + "\x1b[<1u"
	retitle = "\x1b[23;2t"
)

// Enter takes the terminal over: its keyboard, its other screen and its modes. What
// is to be shown comes with it. It may be left and entered again.
func (c *Canvas) Enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.console.raw(); err != nil {
		return fmt.Errorf("setting up the terminal: %w", err)
	}
	c.open, c.damaged = true, true
	c.frame.Reset()
	if !c.old {
		c.frame.WriteString(usual)
	}
	c.frame.WriteString(enter)
	if !c.old {
		c.frame.WriteString(enhance)
	}
	c.frame.WriteString(Modes{}.change(c.modes))
	if c.graphemes {
		c.frame.WriteString(ansi.SetModeUnicodeCore)
	}
	if c.ready() {
		return c.draw()
	}
	return c.send()
}

// Retake is [Canvas.Enter] after a program was lent the terminal that was left for
// it. However that has set it up: once it is left again it is as it was before.
func (c *Canvas) Retake() error {
	return errors.Join(c.console.asBefore(), c.Enter())
}

// Leave gives the terminal back as it was. Nothing is drawn any more, unless it is
// entered again.
func (c *Canvas) Leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		c.late.Stop()
	}
	c.waiting = false
	if !c.open {
		return nil
	}
	c.open = false
	c.frame.Reset()
	c.pen.reset(&c.frame)
	if c.graphemes {
		c.frame.WriteString(ansi.ResetModeUnicodeCore)
	}
	c.frame.WriteString(c.modes.change(Modes{}))
	if !c.old {
		c.frame.WriteString(reduce)
	}
	// A terminal without another screen goes on below the picture.
	c.frame.WriteString(ansi.ResetModeBracketedPaste + ansi.CursorPosition(1, max(c.height, 1)) + leave)
	if !c.old {
		c.frame.WriteString(retitle)
	}
	return errors.Join(c.send(), c.console.restore())
}

// Abandon gives back the keyboard of a terminal that takes nothing any more, and
// waits for nothing.
func (c *Canvas) Abandon() { _ = c.console.restore() }

// Rescue is to be deferred: it leaves the terminal before a panic goes on, so that
// what is printed of it can be read.
func (c *Canvas) Rescue() {
	if r := recover(); r != nil {
		_ = c.Leave()
		panic(r)
	}
}

// Set tells the terminal what is new in its modes.
func (c *Canvas) Set(modes Modes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.old {
		modes.Title, modes.Progress = "", ""
	}
	change := c.modes.change(modes)
	c.modes = modes
	c.tell(change)
}

// Tell sends the terminal what is no cell and stays no mode: a question, a text
// for the clipboard, a notification.
func (c *Canvas) Tell(sequence string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.old || !strings.HasPrefix(sequence, "\x1b]") {
		c.tell(sequence)
	}
}

func (c *Canvas) tell(sequence string) {
	if sequence == "" || !c.open {
		return
	}
	c.pen.leaveLink(&c.frame)
	c.frame.WriteString(sequence)
	_ = c.send()
}

// Questions is what the terminal will answer of itself, once somebody reads what it
// says.
func (c *Canvas) Questions() string { return c.asks }

// Learn takes the terminal's word for what it can do.
func (c *Canvas) Learn(mode ansi.Mode, setting ansi.ModeSetting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case mode == ansi.ModeSynchronizedOutput && setting == ansi.ModeReset:
		c.bracket = true
	case mode == ansi.ModeUnicodeCore && (setting.IsSet() || setting == ansi.ModeReset):
		c.graphemes = true
		c.tell(ansi.SetModeUnicodeCore)
	}
}

// family is what TERM names, without its variants.
func family(term string) string {
	name, _, _ := strings.Cut(term, "-")
	return name
}

// knownTerminal reports whether a terminal is known to erase and scroll cells as
// xterm does, and to leave the ground of the current style behind. Others get nothing
// of that: they are only asked to move the cursor and to print.
func knownTerminal(term string) bool {
	return slices.Contains([]string{
		"alacritty", "contour", "foot", "ghostty", "kitty", "linux", "rio", "screen", "st", "tmux", "wezterm", "xterm",
	}, family(term))
}

// oldTerminal reports whether a terminal may print what later ones take for a
// title, or for a question. Those of Windows name themselves nowhere.
func oldTerminal(environ uv.Environ) bool {
	switch name := family(environ.Getenv("TERM")); name {
	case "":
		return runtime.GOOS != "windows"
	case "dumb", "ansi", "cons25", "unknown":
		return true
	default:
		return strings.HasPrefix(name, "vt")
	}
}

// questions has a terminal that will answer say whether it shows a frame
// at once, and whether it measures by graphemes. Over a slow line the answers of
// most could come after the end; that of Apple prints the questions.
func questions(environ uv.Environ) string {
	_, remote := environ.LookupEnv("SSH_TTY")
	quick := []string{"alacritty", "ghostty", "kitty", "rio", "wezterm"}
	if oldTerminal(environ) || strings.Contains(environ.Getenv("TERM_PROGRAM"), "Apple") ||
		remote && !slices.ContainsFunc(quick, func(name string) bool { return strings.Contains(environ.Getenv("TERM"), name) }) {
		return ""
	}
	return ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore
}
