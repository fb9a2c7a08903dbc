//go:build unix

package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	tty "tillwatch/ui/terminal"
)

// blow is what a monkey does to a terminal at once.
type blow struct {
	name, bytes   string
	width, height int  // what it becomes; 0: it stays
	mayEnd        bool // q may be among the keys, or quitting by its name
}

// monkeyBlows draws what a person may do to the program, beside what they see.
func monkeyBlows() *rapid.Generator[blow] {
	hand := actiontest.Hand{Actions: action.Default()}
	quit, _ := hand.Actions.Action(action.Quit)
	ends := append(slices.Clone(quit.Keys), hand.Key(action.Palette))
	moves := hand.Moves()
	names := append(slices.Sorted(maps.Keys(moves)), "a click", "the wheel", "a paste", "the focus", "a size")
	return rapid.Custom(func(t *rapid.T) blow {
		b := blow{name: rapid.SampledFrom(names).Draw(t, "move")}
		x, y := rapid.IntRange(1, 240).Draw(t, "x"), rapid.IntRange(1, 70).Draw(t, "y")
		switch b.name {
		case "a click":
			b.bytes = fmt.Sprintf("\x1b[<0;%[1]d;%[2]dM\x1b[<0;%[1]d;%[2]dm", x, y)
		case "the wheel":
			b.bytes = fmt.Sprintf("\x1b[<%d;%d;%dM", 64+x%2, x, y)
		case "a paste":
			b.bytes = "\x1b[200~" + actiontest.Text().Draw(t, "pasted") + "\x1b[201~"
		case "the focus":
			b.bytes = rapid.SampledFrom([]string{"\x1b[I", "\x1b[O"}).Draw(t, "comes or goes")
		case "a size":
			b.width, b.height = actiontest.Size(t)
		default:
			for _, key := range moves[b.name](t) {
				b.bytes += actiontest.Bytes(key)
				b.mayEnd = b.mayEnd || slices.Contains(ends, key)
			}
		}
		return b
	})
}

// TestAMonkeyAtTheProgram plays with the program as it is built, on a terminal of
// the system, for a few seconds. What it does follows from the seed that it reports.
func TestAMonkeyAtTheProgram(t *testing.T) {
	t.Parallel()
	seed := int(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	end := time.Now().Add(5 * time.Second)
	n := 0
	for time.Now().Before(end) {
		p := startCaged(t)
		for mayEnd := false; !p.over() && time.Now().Before(end); n++ {
			b := monkeyBlows().Example(seed + n)
			mayEnd = mayEnd || b.mayEnd
			p.take(t, b)
			if p.over() && !mayEnd {
				t.Fatalf("it has ended after %+v:\n%s", b, p.Text())
			}
		}
		p.leave(t)
	}
	t.Logf("%d moves", n)
}

// caged is the program on a terminal, from which nothing that is typed reaches a
// shell.
type caged struct {
	*tty.Terminal
	ctx  context.Context
	told string // the file for how the program ended, once it has
}

func startCaged(t *testing.T) *caged {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := &caged{ctx: ctx, told: filepath.Join(t.TempDir(), "told")}
	script := `trap : INT QUIT; before=$(stty -g); "$0" demo --speed 20 2>"$1.words"; code=$?; after=$(stty -g); echo "$code ${before}=${after}" >"$1"`
	terminal, err := tty.Start(ctx, tty.Options{Width: 120, Height: 36, Env: []string{asProgram + "=1", "NO_COLOR="}}, "sh", "-c", script, os.Args[0], p.told)
	if err != nil {
		t.Fatal(err)
	}
	p.Terminal = terminal
	if err := p.WaitFor(ctx, wholeBoard(36)); err != nil {
		t.Fatalf("no board (%v):\n%s", err, p.Text())
	}
	return p
}

// over reports whether the program has ended.
func (p *caged) over() bool {
	_, err := os.Stat(p.told)
	return err == nil
}

// take has the program take a blow, and waits for what it draws then, if anything.
func (p *caged) take(t *testing.T, b blow) {
	t.Helper()
	_, more := p.Chunks()
	if b.width > 0 {
		if err := p.Resize(b.width, b.height); err != nil {
			t.Fatal(err)
		}
	} else if err := p.Type(b.bytes); err != nil && !p.over() {
		t.Fatal(err)
	}
	select {
	case <-more:
	case <-time.After(30 * time.Millisecond):
	}
}

// leave ends the program by q, unless it has ended, and sees that it leaves the
// terminal as it was.
func (p *caged) leave(t *testing.T) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	again := time.NewTicker(100 * time.Millisecond) // one esc at a time: two are another key
	defer again.Stop()
	for n := 1; ; n++ {
		select {
		case <-ended:
			p.checkEnd(t)
			return
		case <-p.ctx.Done():
			t.Fatalf("q does not end it:\n%s", p.Text())
		case <-again.C:
			key := "\x1b"
			if n%5 == 0 {
				key = "q"
			}
			_ = p.Type(key) // unless it has ended
		}
	}
}

// modes are what a program sets and resets of its terminal.
var modes = regexp.MustCompile(`\x1b\[\?([\d;]+)([hl])`)

// checkEnd sees that the program has ended well and left nothing behind.
func (p *caged) checkEnd(t *testing.T) {
	t.Helper()
	words, err := os.ReadFile(p.told + ".words")
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(p.told)
	if err != nil {
		t.Fatalf("nothing says how it ended: %v; %s", err, words)
	}
	code, settings, _ := strings.Cut(strings.TrimSpace(string(told)), " ")
	if before, after, _ := strings.Cut(settings, "="); code != "0" && code != "130" || before != after { // 130: ctrl-c came once more while it ended
		t.Errorf("it ends with %s, the terminal was set up as %s and is as %s; %s", code, before, after, words)
	}
	var drawn strings.Builder
	chunks, _ := p.Chunks()
	for _, c := range chunks {
		drawn.Write(c.Bytes)
	}
	set := map[string]string{}
	for _, found := range modes.FindAllStringSubmatch(drawn.String(), -1) {
		for _, mode := range strings.Split(found[1], ";") {
			set[mode] = found[2]
		}
	}
	for mode, is := range set {
		want := "l"
		if mode == "25" || mode == "7" { // the cursor is seen, and lines wrap
			want = "h"
		}
		if is != want {
			t.Errorf("the terminal's mode %s is left as %q", mode, is)
		}
	}
	if set["1049"] == "" || set["25"] == "" {
		t.Errorf("it has not had the screen for itself: %v", set)
	}
}
