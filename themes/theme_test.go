package themes

import (
	"image/color"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestEmbeddedThemesAreComplete(t *testing.T) {
	files, err := embedded.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(Names()) {
		t.Errorf("%d files, but Names lists %v", len(files), Names())
	}
	for _, name := range Names() {
		theme := find(t, name)
		if theme.Name != name {
			t.Errorf("file %s names itself %s", name, theme.Name)
		}
		for role, c := range readable(theme) {
			if c == nil && (name != Default || role != "text") {
				t.Errorf("%s: %s has no colour", name, role)
			}
		}
		if name != Default && theme.basic == nil {
			t.Errorf("%s has no sixteen-colour form", name)
		}
	}
}

// TestTextIsReadableOnEveryGround holds the contrast that WCAG 2.1 asks of text, on
// the grounds of the cursor and of what has just changed as well.
func TestTextIsReadableOnEveryGround(t *testing.T) {
	for _, theme := range painted(t) {
		want := readableContrast
		if theme.Name == "high-contrast" {
			want = 7
		}
		for _, ground := range []struct {
			name string
			c    color.Color
		}{
			{"background", theme.Background}, {"surface", theme.Surface}, {"selected", theme.Selected}, {"glow", theme.Glow},
		} {
			for role, c := range readable(theme) {
				if got := contrast(c, ground.c); got < want {
					t.Errorf("%s: contrast of %s on %s is %.2f, want %.1f", theme.Name, role, ground.name, got, want)
				}
			}
			if got := contrast(theme.Faint, ground.c); got < 1.2 {
				t.Errorf("%s: contrast of rules on %s is %.2f", theme.Name, ground.name, got)
			}
		}
		if got := contrast(theme.Text, theme.Background); got < 8 {
			t.Errorf("%s: contrast of text is %.2f, want 8", theme.Name, got)
		}
		if got := contrast(theme.Background, theme.Money); got < 4.5 {
			t.Errorf("%s: contrast of ink on the money colour is %.2f", theme.Name, got)
		}
	}
}

func TestThemeDegradesWithTheTerminal(t *testing.T) {
	theme := find(t, "dark")
	if got := theme.For(colorprofile.TrueColor); got != theme {
		t.Errorf("true colour: %+v", got)
	}
	for _, theme := range painted(t) {
		degraded := theme.For(colorprofile.ANSI256)
		for _, ground := range []color.Color{degraded.Background, degraded.Surface, degraded.Selected, degraded.Glow} {
			for role, c := range readable(degraded) {
				if got := contrast(c, ground); got < readableContrast {
					t.Errorf("%s in 256 colours: contrast of %s on %v is %.1f", theme.Name, role, ground, got)
				}
			}
		}
		for state, c := range states(theme) {
			if got := distanceFor(usual, c, states(degraded)[state]); got > 10 {
				t.Errorf("%s in 256 colours: %s has moved by %.1f", theme.Name, state, got)
			}
		}
		if degraded.Selected == degraded.Background || degraded.Glow == degraded.Background || degraded.Selected == degraded.Glow {
			t.Errorf("%s in 256 colours: the grounds are %v, %v and %v", theme.Name, degraded.Background, degraded.Selected, degraded.Glow)
		}
	}
	if got := theme.For(colorprofile.ANSI); got.Awaiting != ansi.BrightYellow || got.Background != nil {
		t.Errorf("16 colours: awaiting %v on %v, want bright yellow on the terminal's own", got.Awaiting, got.Background)
	}
	if got := theme.For(colorprofile.ASCII); got != (Theme{Name: "dark", Dark: true}) {
		t.Errorf("no colours: %+v", got)
	}
}

// TestTheCursorStandsOut holds the ground of the row or button under the cursor, on the
// screen and in dialogs: by its lightness, too, as not every eye tells tints apart.
func TestTheCursorStandsOut(t *testing.T) {
	for _, theme := range painted(t) {
		for colours, shown := range map[string]Theme{"true colour": theme, "256 colours": theme.For(colorprofile.ANSI256)} {
			for name, ground := range map[string]color.Color{"background": shown.Background, "surface": shown.Surface} {
				if got := distance(shown.Selected, ground); got < distinct || contrast(shown.Selected, ground) < 1.05 {
					t.Errorf("%s in %s: selected is %.3f from the %s, with a contrast of %.2f", theme.Name, colours, got, name, contrast(shown.Selected, ground))
				}
			}
		}
	}
}

func TestErrorsNameTheLineAndTheKey(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"a colour that is none", "name = \"x\"\n[colors]\ntext = \"#12345\"\n", `line 3: key "colors.text": "#12345" is not a colour`},
		{"a colour name that is none", "name = \"x\"\n[basic]\n\nbad = \"crimson\"\n", `line 4: key "basic.bad"`},
		{"an unknown key", "name = \"x\"\n[colors]\ntext = \"red\"\ntxet = \"red\"\n", `line 4: key "colors.txet" is not known`},
		{"broken syntax", "name = \"x\"\n[colors\n", "line 2"},
		{"a wrong type", "name = 3\n", `line 1`},
		{"an unknown base", "name = \"x\"\n# its ground\nbase = \"drak\"\n", `line 3: key "base": no theme is called "drak": there are default, dark`},
		{"no name", "dark = true\n", `key "name" is missing`},
		{"an unknown theme file is empty", "", `key "name" is missing`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse([]byte(c.file), "", Find)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want it to hold %s", err, c.want)
			}
		})
	}
	if _, err := Find("nope"); err == nil || !strings.Contains(err.Error(), "default, dark, light") {
		t.Errorf("Find(nope) = %v, want the names", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		data, _ := embedded.ReadFile("files/" + name + ".toml")
		f.Add(data)
	}
	f.Add([]byte("name = \"x\"\n[colors]\ntext = \"bright red\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		theme, err := parse(data, "", Find)
		if err == nil && theme.Name == "" {
			t.Error("a theme without a name was accepted")
		}
	})
}

func readable(t Theme) map[string]color.Color {
	return map[string]color.Color{
		"text": t.Text, "muted": t.Muted, "accent": t.Accent, "retrieving": t.Retrieving, "awaiting": t.Awaiting,
		"placing": t.Placing, "completed": t.Completed, "failed": t.Failed, "unlisted": t.Unlisted,
		"good": t.Good, "warning": t.Warning, "bad": t.Bad, "money": t.Money,
	}
}

func find(t *testing.T, name string) Theme {
	t.Helper()
	theme, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return theme
}

// painted are the themes that paint a ground of their own.
func painted(t *testing.T) []Theme {
	t.Helper()
	var all []Theme
	for _, name := range Names() {
		if theme := find(t, name); theme.Background != nil {
			all = append(all, theme)
		}
	}
	if len(all) != len(Names())-1 {
		t.Fatalf("%d themes paint a ground, want all but %s", len(all), Default)
	}
	return all
}
