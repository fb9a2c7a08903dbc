package themes

import (
	"errors"
	"fmt"
	"image/color"
	"maps"
	"slices"
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
			return Theme{}, fmt.Errorf(`line %d: key "base": %w`, lineOf(data, "", "base"), err)
		}
	}
	if f.Dark != nil {
		t.Dark = *f.Dark
	}
	t.Name = f.Name
	if err := t.set(data, "colors", f.Colors); err != nil {
		return Theme{}, err
	}
	if t.basic == nil && f.Basic == nil {
		return t, nil
	}
	basic := Theme{}
	if t.basic != nil {
		basic = *t.basic
	}
	basic.Name, basic.Dark, t.basic = t.Name, t.Dark, &basic
	return t, basic.set(data, "basic", f.Basic)
}

type file struct {
	Name   string           `toml:"name"`
	Base   string           `toml:"base"`
	Dark   *bool            `toml:"dark"`
	Colors map[string]shade `toml:"colors"`
	Basic  map[string]shade `toml:"basic"`
}

// set sets the roles that a table gives.
func (t *Theme) set(data []byte, table string, given map[string]shade) error {
	roles := t.roles()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if roles[name] == nil {
			return fmt.Errorf("line %d: key %q is not known", lineOf(data, table, name), table+"."+name)
		}
		*roles[name] = given[name].color
	}
	return nil
}

// lineOf is the line, from 1, of a key of a table; "" is the top of the file.
func lineOf(data []byte, table, key string) int {
	in := ""
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = strings.Trim(line, "[ ]")
		}
		rest, ok := strings.CutPrefix(line, key)
		if ok && in == table && strings.HasPrefix(strings.TrimSpace(rest), "=") {
			return i + 1
		}
	}
	return 1
}

// shade is one colour of a file; nil is the terminal's own.
type shade struct{ color color.Color }

// UnmarshalText reads a colour.
func (s *shade) UnmarshalText(text []byte) (err error) {
	s.color, err = parseColor(string(text))
	return err
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
	if i := slices.Index(basicNames[:], name); i >= 0 {
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
