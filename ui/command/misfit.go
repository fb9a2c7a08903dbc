package command

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	tomlfile "github.com/pelletier/go-toml/v2"
	"github.com/sahilm/fuzzy"

	"tillwatch/api"
)

// misfit names a setting in what the decoder says of one that does not fit.
var misfit = regexp.MustCompile(`'([a-z_.]+)'`)

// misfits says of each setting that does not fit what it must be, in the words of
// the configuration rather than of the decoder.
func misfits(err error) error {
	var all []error
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if found := misfit.FindStringSubmatch(line); found != nil {
			all = append(all, fmt.Errorf("%s must be %s", found[1], wanted(found[1])))
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("a setting does not fit: %w", err)
	}
	return errors.Join(all...)
}

// wanted says what a setting must be.
func wanted(key string) string {
	t := typeOf(reflect.TypeFor[settings](), key)
	switch {
	case t == nil:
		return "something else"
	case t == reflect.TypeFor[time.Duration]():
		return "a time, such as 90s or 45m"
	case t == reflect.TypeFor[api.Secret]():
		return "a text in quotes"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return `a list of texts, such as ["a", "b"]`
	case reflect.Map, reflect.Struct:
		return "a table, as in [" + key + "]"
	}
	return "a text in quotes"
}

// typeOf is the type of a setting, nil when there is none of that name.
func typeOf(table reflect.Type, key string) reflect.Type {
	name, rest, inner := strings.Cut(key, ".")
	for field := range table.Fields() {
		switch {
		case field.Tag.Get("koanf") != name:
		case inner && field.Type.Kind() == reflect.Struct:
			return typeOf(field.Type, rest)
		default:
			return field.Type
		}
	}
	return nil
}

// suggest names the settings that are written much as key is, or all.
func suggest(key string) string {
	const beginning = 4
	known := settingKeys()
	var near []string
	for _, match := range fuzzy.Find(key, known) {
		near = append(near, match.Str)
	}
	for _, k := range known {
		if len(near) == 0 && len(key) >= beginning && strings.HasPrefix(k, key[:beginning]) {
			near = append(near, k)
		}
	}
	if len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return "settings are: " + strings.Join(known, ", ")
}

// placed adds the line to an error of the configuration file, where it tells one.
func placed(path string, err error) error {
	var wrong *tomlfile.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return fmt.Errorf("%s, line %d, column %d: %s", path, line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("reading the configuration file %s: %w", path, err)
}
