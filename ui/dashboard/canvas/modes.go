package canvas

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Modes are the settings of a terminal that a dashboard changes. [Canvas.Leave] restores
// them.
type Modes struct {
	Title  string // of the window; "": the terminal's own
	Mouse  bool   // the terminal reports clicks, drags and the wheel
	Focus  bool   // the terminal reports when it gets or loses the focus
	Places bool   // the terminal reports the places of letters, if it can
}

// change returns the sequences that change a terminal from m to other modes.
func (m Modes) change(to Modes) string {
	var b strings.Builder
	if m.Mouse != to.Mouse {
		b.WriteString(either(to.Mouse, ansi.SetModeMouseButtonEvent+ansi.SetModeMouseExtSgr, ansi.ResetModeMouseButtonEvent+ansi.ResetModeMouseExtSgr))
	}
	if m.Focus != to.Focus {
		b.WriteString(either(to.Focus, ansi.SetModeFocusEvent, ansi.ResetModeFocusEvent))
	}
	if m.Places != to.Places {
		b.WriteString(either(to.Places, ansi.ResetModifyOtherKeys+places, popKeys))
	}
	if m.Title != to.Title {
		b.WriteString(ansi.SetWindowTitle(to.Title))
	}
	return b.String()
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// Every terminal gets these: the alternate screen without a cursor, and bracketed paste.
// One that does not know such a mode ignores it.
const (
	enter = afresh + ansi.SetModeAltScreenSaveCursor + inOrder + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste
	leave = ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable
)

// A program that used the terminal before may have been killed and have left its modes
// on. afresh resets the style and insert mode, which the terminal saves with the cursor.
// inOrder comes after that, as parts of it move the cursor: it resets application cursor
// keys, reverse video, origin mode, margins, mouse reports and synchronized output.
const (
	afresh  = ansi.ResetStyle + ansi.ResetModeInsertReplace
	inOrder = "\x1b[?1;5;6;69;2026l" + unbound + "\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016l"
)

// unbound makes the whole screen the scroll region.
const unbound = "\x1b[r"

// usual selects the default character set and the numeric keypad. Old terminals do not
// get it.
const usual = "\x0f\x1b(B\x1b>"

// Old terminals do not get these either. enhance saves the window's title and turns on
// two protocols that report keys unambiguously, the second with their places; reduce turns
// those off, and retitle restores the title.
//
// The second protocol reports the places of letters only if it reports every key. After a
// kill, nobody could type "reset", so it does that only for those who need it. The first
// protocol knows no places: without it, the terminal sends the key of ctrl+c as it always did.
const (
	enhance = "\x1b[22;2t" + ansi.SetModifyOtherKeys2 + "\x1b[>5u"
	reduce  = ansi.ResetModifyOtherKeys + popKeys
	retitle = "\x1b[23;2t"
	places  = "\x1b[>29u"
	popKeys = "\x1b[<1u"
)

// Enter takes over the terminal's keyboard, alternate screen and modes, and draws the
// newest frame. The terminal may be left and entered again.
func (c *Canvas) Enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.console.raw(); err != nil {
		return fmt.Errorf("setting up the terminal: %w", err)
	}
	c.open, c.damaged, c.entered = true, true, time.Now()
	c.frame.Reset()
	if c.asks {
		for _, mode := range usersModes() {
			c.frame.WriteString(ansi.RequestMode(mode))
		}
	}
	if !c.old {
		c.frame.WriteString(usual)
	}
	c.frame.WriteString(enter)
	if !c.old {
		c.frame.WriteString(enhance)
	}
	if c.asks {
		c.frame.WriteString(ansi.RequestModeSynchronizedOutput)
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

// Retake is [Canvas.Enter] after another program has used the terminal. It first undoes
// what that program changed of the keyboard, so that [Canvas.Leave] does not restore it.
func (c *Canvas) Retake() error {
	return errors.Join(c.console.asBefore(), c.Enter())
}

// Leave restores the terminal. Nothing is drawn until it is entered again. Nobody else may
// read the terminal meanwhile.
func (c *Canvas) Leave() error { return c.leave(true) }

// LeaveAtOnce is [Canvas.Leave] while somebody may read the terminal. It does not wait for
// answers that are on their way.
func (c *Canvas) LeaveAtOnce() error { return c.leave(false) }

func (c *Canvas) leave(calmly bool) error {
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
	c.frame.WriteString(c.modes.change(Modes{}))
	if !c.old {
		c.frame.WriteString(reduce)
	}
	// A terminal without an alternate screen goes on below the last frame.
	c.frame.WriteString(ansi.ResetModeBracketedPaste + ansi.CursorPosition(1, max(c.height, 1)) + leave)
	if !c.old {
		c.frame.WriteString(retitle)
	}
	awaits := calmly && c.console.readable() && (c.answers || c.unanswered > 0 || time.Since(c.entered) < c.patience)
	if awaits {
		c.frame.WriteString(ansi.RequestPrimaryDeviceAttributes)
	}
	err := c.send()
	if awaits && err == nil {
		answers, _ := c.console.await(c.unanswered+1, c.patience)
		c.find(answers)
	}
	c.unanswered = 0
	for mode, setting := range c.found {
		switch {
		case setting.IsSet():
			c.frame.WriteString(ansi.SetMode(mode))
		case setting.IsReset():
			c.frame.WriteString(ansi.ResetMode(mode))
		}
	}
	return errors.Join(err, c.send(), c.console.restore())
}

// find notes what the last answers say of the user's modes.
func (c *Canvas) find(answers []uv.Event) {
	for _, answer := range answers {
		if report, ok := answer.(uv.ModeReportEvent); ok && slices.Contains(usersModes(), report.Mode) {
			c.found[report.Mode] = report.Value
		}
	}
}

// Abandon restores only the keyboard, without writing: for a terminal that no longer
// reads what is written to it.
func (c *Canvas) Abandon() { _ = c.console.restore() }

// Rescue leaves the terminal if the goroutine panics, so that the panic's message can be
// read. Call it with defer.
func (c *Canvas) Rescue() {
	if r := recover(); r != nil {
		_ = c.LeaveAtOnce()
		panic(r)
	}
}

// Set changes the terminal's modes.
func (c *Canvas) Set(modes Modes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.old {
		modes.Title, modes.Places = "", false
	}
	change := c.modes.change(modes)
	c.modes = modes
	c.tell(change)
}

// Tell sends a sequence that changes neither cells nor modes: a question, a text for the
// clipboard, a notification.
func (c *Canvas) Tell(sequence string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inScreen && strings.HasPrefix(sequence, clipboard) {
		sequence = ansi.ScreenPassthrough(sequence, longestInScreen)
	}
	if !c.old || !strings.HasPrefix(sequence, "\x1b]") {
		c.tell(sequence)
	}
}

const (
	clipboard       = "\x1b]52;" // begins a sequence with a text for the clipboard
	longestInScreen = 256        // the bytes of a sequence that every GNU Screen passes on
)

// Old reports whether the terminal may print sequences that it does not know: it then gets none
// with a text for the clipboard or a notification.
func (c *Canvas) Old() bool { return c.old }

func (c *Canvas) tell(sequence string) {
	if sequence == "" || !c.open {
		return
	}
	c.unanswered += strings.Count(sequence, ansi.RequestPrimaryDeviceAttributes)
	c.pen.leaveLink(&c.frame)
	c.frame.WriteString(sequence)
	_ = c.send()
}

// Learn notes the terminal's answer about a mode, which [Canvas.Enter] asks for.
func (c *Canvas) Learn(mode ansi.Mode, setting ansi.ModeSetting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	if slices.Contains(usersModes(), mode) {
		c.found[mode] = setting
	}
	switch {
	case mode == ansi.ModeSynchronizedOutput && setting == ansi.ModeReset:
		c.bracket = true
	case mode == ansi.ModeUnicodeCore && (setting.IsSet() || setting == ansi.ModeReset):
		c.graphemes = true
		c.tell(ansi.SetModeUnicodeCore)
	}
}

// Answered notes that the terminal has told its attributes, which [Canvas.Tell] asked for.
func (c *Canvas) Answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unanswered = max(c.unanswered-1, 0)
	c.answered()
}

// answered notes that the terminal answers, and by its first answer how long that takes.
func (c *Canvas) answered() {
	if !c.answers {
		c.answers, c.patience = true, min(max(c.patience, 3*time.Since(c.entered)), longestAnswer)
	}
}

// usersModes are the modes that a dashboard changes, and that somebody may have set for the
// shell. Others, such as reports of the mouse, are of no use to a shell: where they are
// found, a program was killed.
func usersModes() []ansi.Mode {
	const reverseVideo = ansi.DECMode(5)
	return []ansi.Mode{
		ansi.ModeCursorKeys, reverseVideo, ansi.ModeAutoWrap, ansi.ModeTextCursorEnable, ansi.ModeFocusEvent,
		ansi.ModeBracketedPaste, ansi.ModeUnicodeCore,
	}
}

// family returns the name in TERM without its variant: "xterm" for "xterm-256color".
func family(term string) string {
	name, _, _ := strings.Cut(term, "-")
	return name
}

// likeXterm reports whether a terminal is known to erase and scroll cells as xterm does,
// filling them with the current background. With others only the cursor is moved and text
// printed.
func likeXterm(term string) bool {
	return slices.Contains([]string{
		"alacritty", "contour", "foot", "ghostty", "kitty", "linux", "rio", "screen", "st", "tmux", "wezterm", "xterm",
	}, family(term))
}

// oldTerminal reports whether a terminal may print the sequences of titles and questions
// instead of obeying them. On Windows, terminals set no TERM and are not old.
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

// answersFast reports whether a terminal may be asked whether it can show a frame as a whole
// and measure text by graphemes, and how the user's modes are. Apple's terminal prints the
// questions, and over a slow line an answer could come after the program's end.
func answersFast(environ uv.Environ) bool {
	_, remote := environ.LookupEnv("SSH_TTY")
	quick := []string{"alacritty", "ghostty", "kitty", "rio", "wezterm"}
	if oldTerminal(environ) || strings.Contains(environ.Getenv("TERM_PROGRAM"), "Apple") {
		return false
	}
	isTerm := func(name string) bool { return strings.Contains(environ.Getenv("TERM"), name) }
	return !remote || slices.ContainsFunc(quick, isTerm)
}
