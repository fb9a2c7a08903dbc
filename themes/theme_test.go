package themes

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestEmbeddedThemesAreComplete(t *testing.T) {
	names := Names()
	if len(names) < 2 {
		t.Fatalf("names = %v, want at least dark and light", names)
	}
	for _, name := range names {
		theme, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if theme.Name != name {
			t.Errorf("file %s names itself %s", name, theme.Name)
		}
		for role, c := range readable(theme) {
			if c == nil {
				t.Errorf("%s: %s has no colour", name, role)
			}
		}
	}
	if _, err := Find(Default); err != nil {
		t.Error(err)
	}
}

func TestTextIsReadableOnEveryGround(t *testing.T) {
	for _, name := range Names() {
		theme, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		grounds := map[string]color.Color{
			"background": theme.Background, "surface": theme.Surface, "selected": theme.Selected, "glow": theme.Glow,
		}
		for role, c := range readable(theme) {
			for ground, g := range grounds {
				if got := contrast(c, g); got < 4 {
					t.Errorf("%s: contrast of %s on %s is %.1f, want at least 4", name, role, ground, got)
				}
			}
		}
	}
}

func TestThemeDegradesWithTheTerminal(t *testing.T) {
	theme, err := Find("dark")
	if err != nil {
		t.Fatal(err)
	}
	if got := theme.For(colorprofile.TrueColor); got != theme {
		t.Errorf("true colour: %+v", got)
	}
	for _, name := range Names() {
		theme, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		degraded := theme.For(colorprofile.ANSI256)
		for role, c := range readable(degraded) {
			if got := contrast(c, degraded.Selected); got < 3 {
				t.Errorf("%s in 256 colours: contrast of %s on selected is %.1f", name, role, got)
			}
		}
		if degraded.Selected == degraded.Background || degraded.Glow == degraded.Background {
			t.Errorf("%s in 256 colours: the grounds fall together", name)
		}
	}
	if got := theme.For(colorprofile.ANSI); got.Awaiting != ansi.Yellow || got.Background != nil {
		t.Errorf("16 colours: awaiting %v on %v, want yellow on the terminal's own", got.Awaiting, got.Background)
	}
	if got := theme.For(colorprofile.ASCII); got != (Theme{Name: "dark", Dark: true}) {
		t.Errorf("no colours: %+v", got)
	}
}

func TestErrorsNameTheLineAndTheKey(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"a colour that is none", "name = \"x\"\n[colors]\ntext = \"#12345\"\n", `line 3: key "colors.text"`},
		{"a colour name that is none", "name = \"x\"\n[basic]\n\nbad = \"crimson\"\n", `line 4: key "basic.bad"`},
		{"an unknown key", "name = \"x\"\n[colors]\ntext = \"red\"\ntxet = \"red\"\n", `line 4: key "colors.txet" is not known`},
		{"broken syntax", "name = \"x\"\n[colors\n", "line 2"},
		{"a wrong type", "name = 3\n", `line 1`},
		{"no name", "dark = true\n", `key "name" is missing`},
		{"an unknown theme file is empty", "", `key "name" is missing`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want it to hold %s", err, c.want)
			}
		})
	}
	if _, err := Find("nope"); err == nil || !strings.Contains(err.Error(), "dark, light") {
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
		theme, err := Parse(data)
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

// contrast is the contrast ratio of WCAG 2.1, from 1 to 21.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
