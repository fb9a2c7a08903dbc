package canvas

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/vt"
)

func TestAStyleIsSentOnlyWhereSomethingIsDrawnInIt(t *testing.T) {
	const muted, bright = "\x1b[38;2;138;147;166;48;2;16;19;26m", "\x1b[38;2;215;220;230;48;2;16;19;26m"
	cases := []struct {
		name          string
		first, second string
		want          string
	}{
		{"the same again", muted + "1\x1b[m", "\x1b[3;5H" + muted + "2\x1b[m", "\x1b[3;5H2"},
		{"the same on each line", "", muted + "1\x1b[m\n" + muted + "2\x1b[m", muted + "1\r\n2"},
		{"only what differs", muted + "1\x1b[m", bright + "2\x1b[m", "\x1b[38;2;215;220;230m2"},
		{"in no style", muted + "1\x1b[m", "2", "\x1b[m2"},
		{"nothing drawn", muted + "1\x1b[m", bright + "\x1b[m\x1b[2;2H", "\x1b[2;2H"},
		{"erased in a style", "", muted + "\x1b[20X\x1b[m", muted + "\x1b[20X"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p pen
			var w bytes.Buffer
			p.write(&w, []byte(c.first))
			w.Reset()
			p.write(&w, []byte(c.second))
			if w.String() != c.want {
				t.Errorf("sent %q, want %q", w.String(), c.want)
			}
		})
	}
}

func FuzzTheOutputOfARendererIsTakenApartWhole(f *testing.F) {
	for _, s := range []string{"", "a日\x1b[", "\x1b[m", "\x1b]8;;https://shop.example\x1b\\x", "\x1bM\n\x1b", "\x1b[38;2;1;2;3mx\x1b[0m", "\xff\x07\x9b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for rest := []byte(s); len(rest) > 0; {
			n, _ := token(rest)
			if n < 1 || n > len(rest) {
				t.Fatalf("%d of %q", n, rest)
			}
			rest = rest[n:]
		}
		var p pen
		var w bytes.Buffer
		p.write(&w, []byte(s))
		w.Reset()
		writeShortened(&w, s)
	})
}

// What is erased instead of printed looks the same.
func FuzzAShortenedLineLooksTheSame(f *testing.F) {
	f.Add("\x1b[0;38;2;1;2;3;48;2;4;5;6m", 20, "x")
	f.Add("\x1b[0;7m", 14, "日")
	f.Add("\x1b[0;48;5;1;4m", 30, "")
	f.Fuzz(func(t *testing.T, style string, blanks int, text string) {
		if blanks < 0 || blanks > 40 || len(style) > 40 || len(text) > 10 || bytes.ContainsFunc([]byte(text), func(r rune) bool { return r < ' ' || r > '~' }) || sequence(style+"x") != len(style) || len(style) < 3 || style[len(style)-1] != 'm' || bytes.ContainsFunc([]byte(style[2:len(style)-1]), func(r rune) bool { return r != ';' && (r < '0' || r > '9') }) {
			return
		}
		line := style + text + string(bytes.Repeat([]byte{' '}, blanks)) + text + "\x1b[m"
		var short bytes.Buffer
		writeShortened(&short, line)
		a, b := &terminal{Emulator: vt.NewEmulator(60, 1)}, &terminal{Emulator: vt.NewEmulator(60, 1)}
		_, _ = a.WriteString(line)
		_, _ = b.Write(short.Bytes())
		if got, want := b.looks(), a.looks(); got != want {
			t.Errorf("%q looks\n%s\nwant\n%s", short.String(), got, want)
		}
	})
}
