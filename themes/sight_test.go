package themes

import (
	"image/color"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// sight is how an eye takes linear light: the matrices of Machado, Oliveira and
// Fernandes (2009) at full severity, row by row.
type sight [9]float64

var (
	usual        = sight{1, 0, 0, 0, 1, 0, 0, 0, 1}
	protanopia   = sight{0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998}
	deuteranopia = sight{0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881}
	tritanopia   = sight{1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}
)

func TestStatesStayApart(t *testing.T) {
	cases := []struct {
		theme  string
		eyes   map[string]sight
		colour float64 // the least distance in true colour
		index  float64 // in 256 colours
		basic  float64 // in sixteen, on each terminal with a dark ground
	}{
		{"deuteranopia", map[string]sight{"usual": usual, "deuteranopia": deuteranopia, "protanopia": protanopia}, 15, 13, 8},
		{"tritanopia", map[string]sight{"usual": usual, "tritanopia": tritanopia}, 15, 13, 8},
		{"high-contrast", map[string]sight{"usual": usual}, 12, 10, 8},
		{"default", map[string]sight{"usual": usual}, 0, 0, 8},
	}
	for _, name := range []string{"dark", "light", "catppuccin-mocha", "gruvbox-dark", "nord"} {
		cases = append(cases, cases[3])
		last := &cases[len(cases)-1]
		last.theme, last.colour, last.index = name, 6.5, 5
	}
	for _, c := range cases {
		theme := find(t, c.theme)
		for eye, s := range c.eyes {
			if theme.Background != nil {
				apart(t, c.theme+" with "+eye+" eyes", s, states(theme), c.colour)
				apart(t, c.theme+" in 256 colours with "+eye+" eyes", s, states(theme.For(colorprofile.ANSI256)), c.index)
			}
			for _, terminal := range terminals() {
				if terminal.dark && theme.For(colorprofile.ANSI).Dark {
					apart(t, c.theme+" on "+terminal.name+" with "+eye+" eyes", s, terminal.show(states(theme.For(colorprofile.ANSI))), c.basic)
				}
			}
		}
	}
}

func TestSixteenColoursAreReadableOnTheTerminalsGround(t *testing.T) {
	for _, terminal := range terminals() {
		for _, name := range Names() {
			theme := find(t, name).For(colorprofile.ANSI)
			if !terminal.dark {
				theme = theme.OnLight()
			} else if !theme.Dark {
				continue // not made for this ground
			}
			ground := terminal.ground
			if theme.Background != nil {
				ground = terminal.one(theme.Background)
			}
			for role, c := range readable(theme) {
				if c == nil {
					continue // the terminal's own, on its own
				}
				if got := contrast(terminal.one(c), ground); got < min(readableContrast, terminal.best(c, ground)) {
					t.Errorf("%s: contrast of %s on %s is %.1f", name, role, terminal.name, got)
				}
			}
		}
	}
}

func apart(t *testing.T, who string, s sight, colours map[string]color.Color, least float64) {
	t.Helper()
	for a, x := range colours {
		for b, y := range colours {
			if a < b {
				if got := distanceFor(s, x, y); got < least {
					t.Errorf("%s: %s and %s are %.1f apart, want %.1f", who, a, b, got, least)
				}
			}
		}
	}
}

func states(t Theme) map[string]color.Color {
	return map[string]color.Color{
		"retrieving": t.Retrieving, "awaiting": t.Awaiting, "placing": t.Placing, "completed": t.Completed, "failed": t.Failed,
	}
}

// distanceFor is how far apart two colours look, as a hundredth of the distance
// from black to white in the space Oklab.
func distanceFor(s sight, a, b color.Color) float64 {
	return 100 * distance(s.see(a), s.see(b))
}

func (s sight) see(c color.Color) color.Color {
	shown, _ := colorful.MakeColor(c)
	r, g, b := shown.LinearRgb()
	var seen [3]float64
	for i := range seen {
		seen[i] = min(max(s[3*i]*r+s[3*i+1]*g+s[3*i+2]*b, 0), 1)
	}
	return colorful.LinearRgb(seen[0], seen[1], seen[2])
}

// terminal is what a terminal makes of the sixteen colours by default.
type terminal struct {
	name    string
	dark    bool
	ground  color.Color
	palette [16]int
}

func terminals() []terminal {
	xterm := [16]int{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}
	tango := [16]int{0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf,
		0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec}
	gnome := [16]int{0x171421, 0xc01c28, 0x26a269, 0xa2734c, 0x12488b, 0xa347ba, 0x2aa1b3, 0xd0cfcc,
		0x5e5c64, 0xf66151, 0x33da7a, 0xe9ad0c, 0x2a7bde, 0xc061cb, 0x33c7de, 0xffffff}
	return []terminal{
		{"xterm", true, rgb(0x000000), xterm},
		{"xterm on white", false, rgb(0xffffff), xterm},
		{"Tango on aubergine", true, rgb(0x300a24), tango},
		{"Tango on white", false, rgb(0xffffff), tango},
		{"GNOME", true, rgb(0x171421), gnome},
		{"GNOME on white", false, rgb(0xffffff), gnome},
		{"Campbell", true, rgb(0x0c0c0c), [16]int{0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd, 0xcccccc,
			0x767676, 0xe74856, 0x16c60c, 0xf9f1a5, 0x3b78ff, 0xb4009e, 0x61d6d6, 0xf2f2f2}},
		{"Dark+", true, rgb(0x1e1e1e), [16]int{0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
			0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xe5e5e5}},
		{"Light+", false, rgb(0xffffff), [16]int{0x000000, 0xcd3131, 0x107c10, 0x949800, 0x0451a5, 0xbc05bc, 0x0598bc, 0x555555,
			0x666666, 0xcd3131, 0x14ce14, 0xb5ba00, 0x0451a5, 0xbc05bc, 0x0598bc, 0xa5a5a5}},
	}
}

func (t terminal) one(c color.Color) color.Color {
	if basic, ok := c.(ansi.BasicColor); ok {
		return rgb(t.palette[basic])
	}
	return c
}

// best is the most contrast that a colour has on a ground, or its bright twin: some
// terminals have no red, blue or magenta that can be read well.
func (t terminal) best(c color.Color, ground color.Color) float64 {
	basic := c.(ansi.BasicColor)
	return max(contrast(t.one(basic), ground), contrast(t.one(basic^8), ground))
}

func (t terminal) show(colours map[string]color.Color) map[string]color.Color {
	shown := map[string]color.Color{}
	for role, c := range colours {
		shown[role] = t.one(c)
	}
	return shown
}

func rgb(n int) color.Color {
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}
}
