// Package themes holds the looks of tillwatch: values of semantic roles.
package themes

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
)

// Theme gives each role a colour. A nil colour leaves the terminal's own. Colour
// never carries a meaning alone: a glyph and a word stand beside it.
type Theme struct {
	Name string
	Dark bool

	Background color.Color // of the whole screen
	Surface    color.Color // of what lies above it: dialogs, the header
	Text       color.Color
	Muted      color.Color // secondary text
	Faint      color.Color // rules, placeholders, tracks of gauges
	Accent     color.Color // focus, and nothing else
	Selected   color.Color // background of the row under the cursor
	Glow       color.Color // background of a cell that has just changed

	Retrieving color.Color
	Awaiting   color.Color
	Placing    color.Color
	Completed  color.Color
	Failed     color.Color
	Unlisted   color.Color // a state that the contract does not list

	Good    color.Color
	Warning color.Color
	Bad     color.Color
	Money   color.Color // the frame of an environment with real money

	basic *Theme // the same look in sixteen colours
}

// Default is the name of the theme that is used where none is chosen.
const Default = "dark"

// For returns the theme as a terminal of the given profile can show it: as it is
// with 256 colours and more, its own sixteen-colour form below that, and without
// any colour where there is none.
func (t Theme) For(profile colorprofile.Profile) Theme {
	switch {
	case profile >= colorprofile.ANSI256:
		return t
	case profile == colorprofile.ANSI && t.basic != nil:
		return *t.basic
	case profile == colorprofile.ANSI:
		return t
	}
	return Theme{Name: t.Name, Dark: t.Dark}
}
