package canvas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

// terminal emulates one, and counts how often it is written to.
type terminal struct {
	*vt.Emulator
	writes, bytes int
	last, all     string
}

func newTerminal(width, height int) *terminal {
	return &terminal{Emulator: vt.NewEmulator(width, height)}
}

func (t *terminal) Write(p []byte) (int, error) {
	t.writes++
	t.bytes += len(p)
	t.last = string(p)
	t.all += t.last
	_, err := t.Emulator.Write(question.ReplaceAll(p, nil)) // nobody reads the answers
	return len(p), err
}

// looks describes every cell as one sees it: of a blank, the ground.
func (t *terminal) looks() string {
	var b strings.Builder
	for y := range t.Height() {
		for x := range t.Width() {
			if c := t.CellAt(x, y); c != nil {
				style := c.Style
				if c.Content == " " && style.Underline == ansi.UnderlineNone && style.Attrs&uv.AttrReverse == 0 {
					style = uv.Style{Bg: style.Bg}
				}
				fmt.Fprintf(&b, "%s%s%s%s", style.String(), c.Content, c.Link.URL, c.Link.Params)
			}
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// asPrinted is how a terminal looks that is sent the lines as they are.
func asPrinted(lines []string, width, height int) string {
	t := newTerminal(width, height)
	for y, line := range lines {
		fmt.Fprintf(t, "\x1b[%d;1H\x1b[m%s", y+1, line)
	}
	return t.looks()
}

func open(t *terminal, environ ...string) *Canvas {
	c := New(Config{Out: t, Environ: append([]string{"TERM=xterm-256color"}, environ...)})
	c.Resize(t.Width(), t.Height())
	return c
}

// take has a canvas take its terminal over, and give gives it back.
func take(c *Canvas) {
	if err := c.Enter(); err != nil {
		panic(err)
	}
}

func give(c *Canvas) {
	if err := c.Leave(); err != nil {
		panic(err)
	}
}

// shop is a word that leads somewhere.
func shop(word string) string {
	return ansi.SetHyperlink("https://shop.example/"+word) + word + ansi.ResetHyperlink()
}

// aLine is a line of a width in several styles.
func aLine(t *rapid.T, width int) string {
	styles := []string{"\x1b[0m", "\x1b[0;1;38;2;215;220;230;48;2;25;30;40m", "\x1b[0;7m", "\x1b[0;4;31m", "\x1b[0;38;5;12;100m", "\x1b[0;2m"}
	pieces := []string{"x", "wool socks", "日", "é", " ", strings.Repeat(" ", 14), strings.Repeat(" ", 40), "12 s", "│", shop("socks"), shop("socks"), shop("mug")}
	var b strings.Builder
	for at := 0; at < width; {
		piece := rapid.SampledFrom(pieces).Draw(t, "piece")
		if at+ansi.StringWidth(piece) > width {
			piece = strings.Repeat("-", width-at)
		}
		b.WriteString(rapid.SampledFrom(styles).Draw(t, "style") + piece)
		at += ansi.StringWidth(piece)
	}
	return b.String() + "\x1b[m"
}

func aFrame(t *rapid.T, before []string, width, height int) []string {
	lines := make([]string, height)
	copy(lines, before)
	switch rapid.IntRange(0, 6).Draw(t, "how") {
	case 0: // all is new
		for y := range lines {
			lines[y] = aLine(t, width)
		}
	case 1: // it has scrolled
		by := rapid.IntRange(1, height).Draw(t, "by")
		copy(lines, lines[by%height:])
		lines[height-1] = aLine(t, width)
	case 2: // its end is empty
		for y := height - rapid.IntRange(1, height).Draw(t, "empty"); y < height; y++ {
			lines[y] = strings.Repeat(" ", width)
		}
	case 3: // a word has become longer or shorter, and what stands behind it moves
		word := rapid.SampledFrom([]string{"", "now ", "10s ago ", "wool socks ×2 "}).Draw(t, "word")
		for y := range lines {
			lines[y] = fmt.Sprintf("%-*.*s", width, width, strconv.Itoa(y)+" read "+word+"by age")
		}
	case 4: // some of its lines have moved down or up, and others are where they were
		top := rapid.IntRange(0, height-1).Draw(t, "top")
		part := lines[top:rapid.IntRange(top+1, height).Draw(t, "bottom")]
		if by := rapid.IntRange(0, len(part)-1).Draw(t, "by"); rapid.Bool().Draw(t, "down") {
			copy(part[by:], part)
		} else {
			copy(part, part[by:])
		}
		part[rapid.IntRange(0, len(part)-1).Draw(t, "new")] = aLine(t, width)
	default:
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			lines[rapid.IntRange(0, height-1).Draw(t, "line")] = aLine(t, width)
		}
	}
	for y := range lines {
		if ansi.StringWidth(lines[y]) != width {
			lines[y] = aLine(t, width)
		}
	}
	return lines
}

func TestTheTerminalShowsTheLastFrameWhateverCameBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
		screen := newTerminal(width, height)
		c := open(screen)
		defer give(c)
		take(c)
		var lines []string
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			switch rapid.IntRange(0, 9).Draw(t, "between") {
			case 0:
				before := [2]int{width, height}
				width, height = rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
				screen.Resize(width, height)
				if height >= before[1] && rapid.Bool().Draw(t, "unnoticed at first") { // the emulator cannot bear margins beyond its end
					c.Show(aFrame(t, lines, before[0], before[1]))
				}
				c.Resize(width, height)
			case 1:
				give(c)
				_, _ = screen.WriteString("$ ls\r\n")
				take(c)
			case 2:
				c.Set(Modes{Title: "tillwatch", Mouse: true})
			case 3:
				c.Learn(ansi.ModeSynchronizedOutput, ansi.ModeReset)
			case 4:
				c.Tell(ansi.SetSystemClipboard("ci_1"))
			}
			lines = aFrame(t, lines, width, height)
			c.Show(lines)
		}
		c.drawLate() // does not wait for the pause
		if got, want := screen.looks(), asPrinted(lines, width, height); got != want {
			t.Fatalf("the terminal shows\n%s\nwant\n%s", got, want)
		}
	})
}

func numbered(height, from int) []string {
	lines := make([]string, height)
	for y := range lines {
		lines[y] = fmt.Sprintf("%-40s", fmt.Sprintf("line %d", from+y))
	}
	return lines
}

func TestAFewFramesAreDrawnAtOnceAndTheNextAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := newTerminal(40, 5)
		c := open(screen)
		defer give(c)
		take(c)
		writes := func() int { // beside what is drawn late
			c.mu.Lock()
			defer c.mu.Unlock()
			return screen.writes
		}
		before := writes()
		for n := range burst { // as keys that come right behind data
			c.Show(numbered(5, 50*n))
		}
		if writes() != before+burst {
			t.Fatalf("%d writes for the first frames", writes()-before)
		}
		for n := range 100 { // within a hundredth of a second
			c.Show(numbered(5, n))
			time.Sleep(100 * time.Microsecond)
		}
		if writes() != before+burst {
			t.Errorf("%d frames within a pause", writes()-before)
		}
		time.Sleep(Pause)
		synctest.Wait()
		if writes() != before+burst+1 || !strings.Contains(screen.String(), "line 99") {
			t.Errorf("after the pause there were %d frames, and it shows\n%s", writes()-before, screen.String())
		}
		time.Sleep(time.Second)
		c.Show(numbered(5, 99))
		if writes() != before+burst+1 {
			t.Error("a frame like the last one is written")
		}
	})
}

func TestNothingIsDrawnOffTheOtherScreen(t *testing.T) {
	screen := newTerminal(40, 5)
	c := open(screen)
	c.Show(numbered(5, 0))
	if screen.writes != 0 {
		t.Errorf("drawn before the other screen: %q", screen.last)
	}
	take(c)
	if screen.writes != 1 || !strings.Contains(screen.last, "line 4") {
		t.Errorf("the frame does not come with the screen: %d writes, the last %q", screen.writes, screen.last)
	}
	give(c)
	c.Show(numbered(5, 10))
	if strings.Contains(screen.last, "line 1") {
		t.Errorf("drawn after the other screen was left: %q", screen.last)
	}
	take(c)
	if !strings.Contains(screen.last, "line 14") {
		t.Errorf("the newest frame does not come with the screen: %q", screen.last)
	}
}

func TestAFrameInBracketsEndsWithThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := newTerminal(40, 5)
		c := open(screen)
		defer give(c)
		c.Learn(ansi.ModeSynchronizedOutput, ansi.ModeReset)
		take(c)
		for n := range 3 {
			c.Show(slices.Repeat([]string{strings.Repeat(strconv.Itoa(n), 40)}, 5))
			if !strings.HasPrefix(screen.last, "\x1b[?2026h") || !strings.HasSuffix(screen.last, "\x1b[?2026l") {
				t.Errorf("frame %d is %q", n, screen.last)
			}
			time.Sleep(Pause) // of the bubble's clock
		}
		c.Show(append(slices.Repeat([]string{strings.Repeat("2", 40)}, 4), "little"+strings.Repeat("2", 34)))
		if strings.Contains(screen.last, "\x1b[?2026") {
			t.Errorf("the little that comes at once is in brackets: %q", screen.last)
		}
	})
}
