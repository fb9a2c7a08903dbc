package themes

import (
	"errors"
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/pelletier/go-toml/v2"
)

// Parse reads a theme file: TOML with a name, whether the theme is dark, a table
// [colors] and, for terminals of sixteen colours, a table [basic]. A colour is
// "#rrggbb", one of the sixteen names ("red", "bright blue", ...) or "default",
// the terminal's own; a role that is left out is "default" too. Errors name the
// line and the key.
func Parse(data []byte) (Theme, error) {
	var f file
	decoder := toml.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return Theme{}, locate(err)
	}
	if f.Name == "" {
		return Theme{}, errors.New(`theme: line 1: key "name" is missing: give the theme a name`)
	}
	t := f.Colors.theme(f.Name, f.Dark)
	if f.Basic != nil {
		basic := f.Basic.theme(f.Name, f.Dark)
		t.basic = &basic
	}
	return t, nil
}

type file struct {
	Name   string `toml:"name"`
	Dark   bool   `toml:"dark"`
	Colors roles  `toml:"colors"`
	Basic  *roles `toml:"basic"`
}

type roles struct {
	Background shade `toml:"background"`
	Surface    shade `toml:"surface"`
	Text       shade `toml:"text"`
	Muted      shade `toml:"muted"`
	Faint      shade `toml:"faint"`
	Accent     shade `toml:"accent"`
	Selected   shade `toml:"selected"`
	Glow       shade `toml:"glow"`
	Retrieving shade `toml:"retrieving"`
	Awaiting   shade `toml:"awaiting"`
	Placing    shade `toml:"placing"`
	Completed  shade `toml:"completed"`
	Failed     shade `toml:"failed"`
	Unlisted   shade `toml:"unlisted"`
	Good       shade `toml:"good"`
	Warning    shade `toml:"warning"`
	Bad        shade `toml:"bad"`
	Money      shade `toml:"money"`
}

func (r roles) theme(name string, dark bool) Theme {
	return Theme{
		Name: name, Dark: dark,
		Background: r.Background.Color, Surface: r.Surface.Color,
		Text: r.Text.Color, Muted: r.Muted.Color, Faint: r.Faint.Color,
		Accent: r.Accent.Color, Selected: r.Selected.Color, Glow: r.Glow.Color,
		Retrieving: r.Retrieving.Color, Awaiting: r.Awaiting.Color, Placing: r.Placing.Color,
		Completed: r.Completed.Color, Failed: r.Failed.Color, Unlisted: r.Unlisted.Color,
		Good: r.Good.Color, Warning: r.Warning.Color, Bad: r.Bad.Color, Money: r.Money.Color,
	}
}

// shade is one colour of a file; nil is the terminal's own.
type shade struct{ color.Color }

// UnmarshalText reads a colour.
func (s *shade) UnmarshalText(text []byte) error {
	c, err := parseColor(string(text))
	if err != nil {
		return err
	}
	s.Color = c
	return nil
}

var basicNames = [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

func parseColor(s string) (color.Color, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "default" || s == "" {
		return nil, nil
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return nil, fmt.Errorf("%q is no colour: write #rrggbb with six hexadecimal digits", s)
		}
		return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, nil
	}
	name, bright := strings.CutPrefix(s, "bright ")
	for i, known := range basicNames {
		if name != known {
			continue
		}
		if bright {
			i += 8
		}
		return ansi.BasicColor(i), nil
	}
	return nil, fmt.Errorf("%q is no colour: write #rrggbb, default, or one of %s, also with bright before it",
		s, strings.Join(basicNames[:], ", "))
}

func locate(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("theme: line %d: key %q is not known", line, strings.Join(first.Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		if key := strings.Join(decode.Key(), "."); key != "" {
			return fmt.Errorf("theme: line %d: key %q: %w", line, key, decode)
		}
		return fmt.Errorf("theme: line %d: %w", line, decode)
	}
	return fmt.Errorf("theme: %w", err)
}
