package paint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tillwatch/themes"
)

func brush(t testing.TB) *Brush {
	t.Helper()
	theme, err := themes.Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	return NewBrush(theme, false)
}

func TestTextIsFittedIntoItsCells(t *testing.T) {
	cases := []struct{ name, text, fit, right string }{
		{"short", "Mug", "Mug   ", "   Mug"},
		{"exact", "Wool S", "Wool S", "Wool S"},
		{"long", "Wool Socks", "Wool …", "Wool …"},
		{"empty", "", "      ", "      "},
		{"wide cells", "日本語テキスト", "日本… ", "日本…"},
		{"wide cells that fit", "日本語", "日本語", "日本語"},
		{"accents", "Café", "Café  ", "  Café"},
		{"combining marks", "Cafe\u0301", "Cafe\u0301  ", "  Cafe\u0301"},
		{"an escape sequence", "\x1b[31mred", "[31mr…", "[31mr…"},
		{"a carriage return", "9000\r1", "90001 ", " 90001"},
		{"a C1 control", "a\u009bb", "ab    ", "    ab"},
		{"a bidirectional control", "a\u202eb", "ab    ", "    ab"},
		{"zero width", "a\u200bb", "ab    ", "    ab"},
		{"a cluster of disputed width", "a👨\u200d👩b", "a👨b  ", "  a👨b"},
		{"a mark that takes a cell on some terminals", "a\U0001d172b", "ab    ", "    ab"},
		{"invalid bytes", "a\xffb", "a?b   ", "   a?b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := NewLine(brush(t))
			if got := ansi.Strip(l.Start(6).Fit(Text, c.text, 6).String()); got != c.fit {
				t.Errorf("fit: %q, want %q", got, c.fit)
			}
			if got := ansi.Strip(l.Start(6).Right(Text, c.text, 6).String()); ansi.StringWidth(got) != 6 || strings.TrimRight(got, " ") != strings.TrimRight(c.right, " ") {
				t.Errorf("right: %q, want %q", got, c.right)
			}
		})
	}
}

func TestALineIsExactAndCleanWhateverItIsGiven(t *testing.T) {
	b := brush(t)
	rapid.Check(t, func(t *rapid.T) {
		b.Clusters = rapid.Bool().Draw(t, "clusters")
		width := rapid.IntRange(0, 60).Draw(t, "width")
		l := NewLine(b).Start(width)
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			text := hostile(t)
			st := Style(rapid.IntRange(0, int(styles)-1).Draw(t, "style"))
			w := rapid.IntRange(-2, 40).Draw(t, "w")
			l.On(Ground(rapid.IntRange(0, int(grounds)-1).Draw(t, "ground")))
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				l.Put(st|Bold, text)
			case 1:
				l.Fit(st, text, w)
			case 2:
				l.Right(st, text, w)
			case 3:
				l.Repeat(st, "━", w).Space(w)
			}
		}
		out := l.String()
		if got := ansi.StringWidth(out); got != width {
			t.Fatalf("width %d, want %d: %q", got, width, out)
		}
		if got := ansi.StringWidthWc(out); got != width && !b.Clusters {
			t.Fatalf("width by code point %d, want %d: %q", got, width, out)
		}
		if err := unclean(out); err != "" {
			t.Fatalf("%s: %q", err, out)
		}
	})
}

// Without a background of its own, a theme cannot know the ink that is readable on the
// colour of real money: the terminal's own ground is.
func TestTheFrameOfRealMoneyIsReadableOnAnyTerminal(t *testing.T) {
	for _, name := range []string{"default", "dark", "light"} {
		theme, err := themes.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		theme = theme.For(colorprofile.ANSI)
		want := ansi.NewStyle().Reset().Reverse(true).ForegroundColor(theme.Money).String()
		if theme.Background != nil {
			want = ansi.NewStyle().Reset().ForegroundColor(theme.Background).BackgroundColor(theme.Money).String()
		}
		for role, style := range map[string]Style{"text": Text, "a warning": Warning} {
			if got := NewLine(NewBrush(theme, true)).Start(4).On(Live).Put(style, "LIVE").String(); !strings.HasPrefix(got, want+"LIVE") {
				t.Errorf("%s: %s begins %q, want %q", name, role, got, want)
			}
		}
	}
}

func hostile(t *rapid.T) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"\x1b]0;title\x07", "\x1b]52;c;aGk=\x07", "\x1b]8;;https://x\x1b\\y", "\x1b[2J", "\x1bP1$r\x1b\\", "a\rb", "a\nb", "\x9b31m",
			"👨‍👩‍👧‍👦", "👍🏽", "🏽", "🇺🇸", "क्षत्रिय", "क्", "ष", "ि", "กำ", "ำ", "\u1112\u1161\u11ab", "ខ្មែ", "1⃣", "❤️", "e\u0301\u0302\u0303", "日本語", "\u202eabc", "\u2066x", "a\u200db", "\xff\xfe", "नमस्ते", "ः", "\u0301", "ᄀ", "ᅡ", "🇺", "🇸", "ｗｉｄｅ", strings.Repeat("x", 5000),
		}),
		rapid.StringN(0, 80, -1),
	).Draw(t, "text")
}

// unclean says what must not reach a terminal in a drawn line.
func unclean(s string) string {
	plain := ansi.Strip(s)
	for _, r := range plain {
		switch {
		case r < 0x20 || r == 0x7f:
			return "a C0 control"
		case r >= 0x80 && r < 0xa0:
			return "a C1 control"
		case r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return "a bidirectional control"
		}
	}
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	for rest := s; ; {
		at := strings.IndexByte(rest, '\x1b')
		if at < 0 {
			return ""
		}
		end := strings.IndexByte(rest[at:], 'm')
		if end < 2 || rest[at+1] != '[' || strings.Trim(rest[at+2:at+end], "0123456789;") != "" {
			return "an escape sequence that is no SGR"
		}
		rest = rest[at+end:]
	}
}

func TestWrapBreaksAtSpacesAndKeepsEveryWord(t *testing.T) {
	cases := []struct {
		text  string
		width int
		want  []string
	}{
		{"nothing to see here", 10, []string{"nothing to", "see here"}},
		{"", 10, nil},
		{"abc", 0, nil},
		{"abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"a abcdefgh", 4, []string{"a", "abcd", "efgh"}},
		{"日本語", 2, []string{"日", "本", "語"}},
		{"https://a.example/products/merino-crew", 32, []string{"https://a.example/products/", "merino-crew"}},
		{"https://a.example/merino-crew-sweater", 24, []string{"https://a.example/", "merino-crew-sweater"}},
		{"https://a.example/?a=1&b=2", 24, []string{"https://a.example/?a=1&", "b=2"}},
		{"a/bcdefghijkl", 10, []string{"a/bcdefghi", "jkl"}},
		{"it failed · still stands", 12, []string{"it failed", "· still", "stands"}},
		{"ends with ·", 12, []string{"ends with ·"}},
		{"· ·", 3, []string{"· ·"}},
	}
	for _, c := range cases {
		got := Wrap(c.text, c.width)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestSpliceLaysABlockOverLines(t *testing.T) {
	lines := []string{"aaaaaa", "\x1b[31mbbbbbb\x1b[m", "日日日"}
	Splice(lines, []string{"XX", "YY", "ZZ", "outside"}, 1, 0, 6)
	want := []string{"aXXaaa", "bYYbbb", " ZZ 日"}
	for i, line := range lines {
		if got := ansi.Strip(line); got != want[i] {
			t.Errorf("line %d = %q, want %q", i, got, want[i])
		}
	}
}

func TestTheGroundReachesTheEdgeOfTheScreen(t *testing.T) {
	painted := brush(t)
	own := NewBrush(themes.Theme{}, false)
	cases := []struct {
		name string
		line string
		want string
	}{
		{"a blank at the edge", NewLine(painted).Start(4).Edge().Put(Text, "ab").String(), "ab \u00a0"},
		{"a text at the edge", NewLine(painted).Start(2).Edge().Put(Text, "ab").String(), "ab"},
		{"blanks alone", NewLine(painted).Start(1).Edge().String(), "\u00a0"},
		{"no line", NewLine(painted).Start(0).Edge().String(), ""},
		{"not at the edge", NewLine(painted).Start(4).Put(Text, "ab").String(), "ab  "},
		{"the terminal's own ground", NewLine(own).Start(4).Edge().Put(Text, "ab").String(), "ab  "},
		{"a row that stands out on it", NewLine(own).Start(4).Edge().On(Selected).Put(Text, "ab").String(), "ab \u00a0"},
	}
	for _, c := range cases {
		if got := ansi.Strip(c.line); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhatStandsAloneTakesACellAndJoinsNothing(t *testing.T) {
	count := 0
	for r := rune(0x80); r < 0x3000; r++ {
		if !alone(r) {
			continue
		}
		count++
		if s := string(r); ansi.StringWidth(s) != 1 || ansi.StringWidthWc(s) != 1 || joins(s, r, 1) || invisible(r) {
			t.Errorf("%U %q does not stand alone", r, s)
		}
	}
	if count < 300 {
		t.Errorf("%d signs stand alone", count)
	}
}

func TestALineThatIsTheSameIsNotMadeAgain(t *testing.T) {
	l := NewLine(brush(t))
	draw := func(text string) *Line { return l.Start(20).Put(Text, text).Right(Muted, "─ ok", 8) }
	before := draw("Wool Socks").String()
	if got := testing.AllocsPerRun(100, func() { before = draw("Wool Socks").Renewed(before) }); got != 0 {
		t.Errorf("%v allocations for a line that is the same", got)
	}
	if got, want := draw("Mug").Renewed(before), draw("Mug").String(); got != want {
		t.Errorf("renewed %q, want %q", got, want)
	}
}
