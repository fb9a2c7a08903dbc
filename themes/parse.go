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

// parse reads a theme file: TOML with a name, whether the theme is dark, a table
// [colors] and, for terminals of sixteen colours, a table [basic]. A colour is
// "#rrggbb", one of the sixteen names ("red", "bright blue", ...) or "default",
// the terminal's own. With base = "NAME" every role that is left out is that
// theme's, which base finds; otherwise it is "default". A theme that does not say
// what it is called is called name. Errors name the line and the key.
func parse(data []byte, name string, base func(string) (Theme, error)) (Theme, error) {
	var f file
	decoder := toml.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return Theme{}, locate(err)
	}
	if f.Name == "" {
		f.Name = name
	}
	if f.Name == "" {
		return Theme{}, errors.New(`line 1: key "name" is missing: give the theme a name`)
	}
	var t Theme
	if f.Base != "" {
		var err error
		if t, err = base(f.Base); err != nil {
			return Theme{}, fmt.Errorf(`line %d: key "base": %w`, lineOf(data, "base"), err)
		}
	}
	return f.over(t), nil
}

type file struct {
	Name   string `toml:"name"`
	Base   string `toml:"base"`
	Dark   *bool  `toml:"dark"`
	Colors roles  `toml:"colors"`
	Basic  *roles `toml:"basic"`
}

// over applies the file to its base theme.
func (f *file) over(t Theme) Theme {
	t.Name = f.Name
	if f.Dark != nil {
		t.Dark = *f.Dark
	}
	basic := Theme{}
	if t.basic != nil {
		basic = *t.basic
	}
	if t.basic != nil || f.Basic != nil {
		basic.Name, basic.Dark = t.Name, t.Dark
		if f.Basic != nil {
			f.Basic.over(&basic)
		}
		t.basic = &basic
	}
	f.Colors.over(&t)
	return t
}

// lineOf is the line, from 1, of a top-level key.
func lineOf(data []byte, key string) int {
	for i, line := range strings.Split(string(data), "\n") {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), key)
		if ok && strings.HasPrefix(strings.TrimSpace(rest), "=") {
			return i + 1
		}
	}
	return 1
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

// shades lists the roles.
func (r *roles) shades() []shade {
	return []shade{
		r.Background, r.Surface, r.Text, r.Muted, r.Faint, r.Accent, r.Selected, r.Glow,
		r.Retrieving, r.Awaiting, r.Placing, r.Completed, r.Failed, r.Unlisted,
		r.Good, r.Warning, r.Bad, r.Money,
	}
}

// over sets the given roles.
func (r *roles) over(t *Theme) {
	colours := t.colours()
	for i, given := range r.shades() {
		if given.set {
			*colours[i] = given.color
		}
	}
}

// shade is one colour of a file; nil is the terminal's own.
type shade struct {
	color color.Color
	set   bool
}

// UnmarshalText reads a colour.
func (s *shade) UnmarshalText(text []byte) error {
	c, err := parseColor(string(text))
	if err != nil {
		return err
	}
	s.color, s.set = c, true
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
			return nil, fmt.Errorf("%q is not a colour: write #rrggbb with six hexadecimal digits", s)
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
	return nil, fmt.Errorf("%q is not a colour: write #rrggbb, default, or one of %s, also with bright before it",
		s, strings.Join(basicNames[:], ", "))
}

func locate(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("line %d: key %q is not known", line, strings.Join(first.Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		what := strings.TrimPrefix(decode.Error(), "toml: ")
		if key := strings.Join(decode.Key(), "."); key != "" {
			return fmt.Errorf("line %d: key %q: %s", line, key, what)
		}
		return fmt.Errorf("line %d: %s", line, what)
	}
	return err
}
