// Package paint draws lines of exact width in the roles of a theme.
//
// Styles are rendered once, into prefixes; a line is appended to one buffer. Whatever a
// text contains, a line contains no control bytes except SGR sequences, and never more
// cells than requested.
package paint

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
)

// Style is the look of a text: a role, perhaps with [Bold] or [Underline].
type Style uint8

// The roles, named as in the theme. Rule is Faint, or the money colour in an environment
// with real money.
const (
	Text Style = iota
	Muted
	Faint
	Rule
	Accent
	Retrieving
	Awaiting
	Placing
	Completed
	Failed
	Unlisted
	Good
	Warning
	Bad
	Money
	Unknown // filled on any ground: an unknown outcome of a confirm, and nothing else
	styles

	// Bold and Underline are added to a role.
	Underline Style = 0x40
	Bold      Style = 0x80

	role      = Underline - 1
	manners   = 4 // plain, underlined, bold, both
	mannersAt = 6 // the bit from which a style holds them
)

// Ground is the background of the text.
type Ground uint8

// The grounds.
const (
	Base     Ground = iota // the screen
	Surface                // raised above it: the header
	Selected               // the row under the cursor
	Glow                   // a cell that has just changed
	Live                   // the frame of an environment with real money
	grounds
)

// Brush holds the rendered styles of a theme.
type Brush struct {
	prefix  [grounds][styles][manners]string
	painted [grounds]bool // whether a blank on this ground differs from the terminal's own

	// Clusters says that the terminal measures text by clusters of characters (mode 2027), and so
	// can be given those whose width others dispute.
	Clusters bool
}

// NewBrush renders the styles of a theme. live tints the rules.
func NewBrush(t themes.Theme, live bool) *Brush {
	b := &Brush{painted: [grounds]bool{
		Base: t.Background != nil, Surface: t.Background != nil || t.Surface != nil, Selected: true,
		Glow: t.Background != nil || t.Glow != nil, Live: true,
	}}
	rule := t.Faint
	if live && t.Money != nil {
		rule = t.Money
	}
	fore := [styles]color.Color{
		Text: t.Text, Muted: t.Muted, Faint: t.Faint, Rule: rule, Accent: t.Accent,
		Retrieving: t.Retrieving, Awaiting: t.Awaiting, Placing: t.Placing, Completed: t.Completed,
		Failed: t.Failed, Unlisted: t.Unlisted, Good: t.Good, Warning: t.Warning, Bad: t.Bad, Money: t.Money, Unknown: t.Warning,
	}
	for g := range grounds {
		for s := range styles {
			for manner := range Style(manners) {
				b.prefix[g][s][manner] = prefix(t, g, s|manner<<mannersAt, fore[s])
			}
		}
	}
	return b
}

func (b *Brush) open(g Ground, s Style) string {
	return b.prefix[g][s&role][s>>mannersAt]
}

// prefix returns the sequence that begins a style, whatever came before it. An attribute
// replaces a ground for which the theme has no colour.
func prefix(t themes.Theme, g Ground, s Style, fore color.Color) string {
	bold := s&Bold != 0
	p := ansi.NewStyle().Reset()
	back := [grounds]color.Color{Base: t.Background, Surface: t.Surface, Selected: t.Selected, Glow: t.Glow, Live: t.Money}[g]
	switch {
	case s&role == Unknown && t.Background == nil:
		p, bold, fore, back = p.Reverse(true), true, t.Warning, nil // the terminal's own ground is the ink
	case s&role == Unknown:
		bold, fore, back = true, t.Background, t.Warning
	case g == Surface && back == nil:
		back = t.Background
	case g == Glow && back == nil:
		bold, back = true, t.Background
	case g == Live && t.Background == nil:
		p, fore, back = p.Reverse(true), t.Money, nil // the terminal's own ground is the ink
	case g == Selected && back == nil:
		p, fore = p.Reverse(true), nil
	case g == Live:
		fore = t.Background // readable on the money colour
	}
	if bold {
		p = p.Bold()
	}
	if s&Underline != 0 {
		p = p.Underline(true)
	}
	if fore == nil && !bold && (s&role == Faint || s&role == Rule) && g == Base {
		p = p.Faint()
	}
	if fore != nil {
		p = p.ForegroundColor(fore)
	}
	if back != nil {
		p = p.BackgroundColor(back)
	}
	return p.String()
}
