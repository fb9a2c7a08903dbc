package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"

	"tillwatch/api"
)

// field is one setting.
type field struct {
	key                 string // table.name in a table
	help, must, section string
	private             bool // it may hold a secret
	value               reflect.Value
}

func (f field) secret() bool { return f.value.Type() == reflect.TypeFor[api.Secret]() }

// fields are the settings of s, in the order of the struct.
func fields(s *Settings) []field { return fieldsOf(reflect.ValueOf(s).Elem(), "") }

func fieldsOf(of reflect.Value, table string) (all []field) {
	for i := range of.NumField() {
		tag := of.Type().Field(i).Tag
		f := field{table + tag.Get("koanf"), tag.Get("help"), tag.Get("must"), tag.Get("section"), tag.Get("private") != "", of.Field(i)}
		switch {
		case f.key == "-":
		case f.key == "alerts":
			all = append(all, fieldsOf(f.value, "alerts.")...)
		default:
			f.private = f.private || f.secret()
			if f.value.Type() == reflect.TypeFor[time.Duration]() {
				f.must = cmp.Or(f.must, "a time of a second or more, such as 5m, or 0 for never")
			}
			all = append(all, f)
		}
	}
	return all
}

// Keys are the names of all settings, table.name in a table.
func Keys() (keys []string) {
	for _, f := range fields(new(Settings)) {
		if keys = append(keys, f.key); f.secret() {
			keys = append(keys, f.key+"_file")
		}
	}
	slices.Sort(keys)
	return keys
}

// secretKeys are the settings that may also be given by a file, as KEY_file.
func secretKeys() (keys []string) {
	for _, f := range fields(new(Settings)) {
		if f.secret() {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// AddFlags adds the flags that say where settings come from, and those of these settings.
func AddFlags(flags *pflag.FlagSet, keys ...string) {
	flags.String("config", "", "configuration file (default tillwatch.toml in the user's configuration folder)")
	flags.String("profile", "", "profile of the configuration file to use")
	AddSettingFlags(flags, keys...)
}

// AddSettingFlags adds the flags of these settings; KEY_file is the file of a secret. It panics if one cannot have a flag.
func AddSettingFlags(flags *pflag.FlagSet, keys ...string) {
	s := Defaults()
	for _, f := range fields(&s) {
		name := strings.ReplaceAll(f.key, "_", "-")
		if slices.Contains(keys, f.key+"_file") {
			flags.String(name+"-file", "", "file with the "+f.help)
		}
		if !slices.Contains(keys, f.key) {
			continue
		}
		switch usual := f.value.Interface().(type) {
		case string:
			flags.String(name, usual, f.help)
		case api.Secret: // without the password
			flags.String(name, "", f.help)
		case bool:
			flags.Bool(name, usual, f.help)
		case int:
			flags.Int(name, usual, f.help)
		case float64:
			flags.Float64(name, usual, f.help)
		case time.Duration:
			flags.Duration(name, usual, f.help)
		case []string:
			flags.StringSlice(name, usual, f.help)
		default:
			panic(fmt.Sprintf("the setting %s has no flag", f.key))
		}
	}
}

// decode sets the fields of into to the values of a table, and says what is wrong with each that cannot be set. unused
// are the names that into does not have.
func decode(table map[string]any, into any) (unused []string, wrong []error) {
	var read mapstructure.Metadata
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: into, TagName: "koanf", Metadata: &read, DecodeHook: strict,
		MatchName: func(key, name string) bool { return key == name },
	})
	if err != nil {
		return nil, []error{err}
	}
	for _, failed := range failures(decoder.Decode(table)) {
		var one *mapstructure.UnconvertibleTypeError
		if !errors.As(failed, &one) {
			wrong = append(wrong, failed)
			continue
		}
		wrong = append(wrong, invalid(failed.Name(), one.Value, kind(one.Expected.Type())))
	}
	slices.Sort(read.Unused)
	return read.Unused, wrong
}

// failures are the errors of single values.
func failures(err error) (all []*mapstructure.DecodeError) {
	var several interface {
		error
		Unwrap() []error
	}
	if errors.As(err, &several) {
		for _, one := range several.Unwrap() {
			all = append(all, failures(one)...)
		}
		return all
	}
	var one *mapstructure.DecodeError
	if errors.As(err, &one) {
		if all = failures(one.Unwrap()); all == nil {
			all = append(all, one)
		}
	}
	return all
}

// strict converts a value for a field. It refuses values of the wrong kind, as many could be misread: 45 as 45 ns, or
// true as 1.
func strict(from, to reflect.Value) (any, error) {
	value := from.Interface()
	text, isText := value.(string)
	right, err := true, error(nil)
	switch to.Interface().(type) {
	case api.Secret:
		value, right = api.NewSecret(text), isText
	case time.Duration:
		value, err = time.ParseDuration(fmt.Sprint(value))
	case int:
		value, err = strconv.Atoi(fmt.Sprint(value))
	case float64:
		value, err = strconv.ParseFloat(fmt.Sprint(value), 64)
	case bool:
		if isText {
			value, err = strconv.ParseBool(text)
		} else {
			_, right = value.(bool)
		}
	case string:
		right = isText
	case []string, Shortcuts:
		if right = isText || areTexts(value); isText && to.Type() == reflect.TypeFor[Shortcuts]() {
			value = Shortcuts{text}
		} else if isText {
			value = strings.Split(text, ",")
		}
	case Program:
		right = areTexts(value)
	case []Command:
		right = from.Kind() == reflect.Slice
	default: // tables
		right = to.Kind() != reflect.Map && to.Kind() != reflect.Struct || from.Kind() == reflect.Map
	}
	if err != nil || !right {
		return nil, &mapstructure.UnconvertibleTypeError{Expected: to, Value: from.Interface()}
	}
	return value, nil
}

// areTexts reports whether a value is a list of texts.
func areTexts(value any) bool {
	list, ok := value.([]any)
	_, already := value.([]string)
	return already || ok && !slices.ContainsFunc(list, func(one any) bool { _, ok := one.(string); return !ok })
}

// kind says what a value of a type must be.
func kind(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[api.Secret]():
	case of.Kind() == reflect.Bool:
		return "true or false"
	case of.Kind() == reflect.Slice:
		return `a list of texts, such as ["a", "b"]`
	case of.Kind() == reflect.Map, of.Kind() == reflect.Struct:
		return "a table"
	}
	return "a text in quotes"
}

// invalid says what a setting must be and, unless it may be secret, what it is.
func invalid(key string, value any, must string) error {
	name, _, _ := strings.Cut(key, "[") // command[0].args
	for _, f := range fields(new(Settings)) {
		if f.key == key {
			must = cmp.Or(f.must, must)
		}
		if f.key == name && f.private {
			return fmt.Errorf("%s must be %s", key, must)
		}
	}
	return fmt.Errorf("%s is %s; it must be %s", key, Shown(value), must)
}

// Shown is a value in one line, shortened and without a password.
func Shown(value any) string {
	const most = 60
	text := ""
	switch value := value.(type) {
	case string:
		text = strconv.Quote(string(api.MaskAddress(api.Scrub(value)))) // before it is cut: half a password is still one
	case []any:
		var all []string
		for _, one := range value {
			all = append(all, Shown(one))
		}
		text = "[" + strings.Join(all, ", ") + "]"
	default:
		text = string(api.Scrub(fmt.Sprint(value)))
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
