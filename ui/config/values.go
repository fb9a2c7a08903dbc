package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
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

// decode sets every given setting, and says what is wrong with each that cannot be set.
func decode(values map[string]any, s *Settings) (wrong []error) {
	var read mapstructure.Metadata
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: s, TagName: "koanf", Metadata: &read, DecodeHook: strict,
	})
	if err != nil {
		return []error{err}
	}
	told := map[string]bool{}
	for _, failed := range failures(decoder.Decode(values)) {
		key, must := described(failed.Name())
		if value := values[key]; !told[key] {
			if table, name, inTable := strings.Cut(key, "."); inTable {
				value = values[table].(map[string]any)[name]
			}
			wrong = append(wrong, invalid(key, value, must))
		}
		told[key] = true
	}
	for _, name := range read.Unused { // of a command, as other names were looked up before
		place, key := ofCommand(name)
		wrong = append(wrong, fmt.Errorf("%s: %w", place, unknown("", key, sortedKeys(kinds(Command{})))))
	}
	return wrong
}

// described is what a value that the decoder names is called, and what it must be.
func described(name string) (key, must string) {
	if place, key := ofCommand(name); key != "" {
		return place + ": " + key, kinds(Command{})[key]
	} else if place != "" {
		return place, "a table, as in [[command]]"
	}
	if action, ok := strings.CutPrefix(name, "keys["); ok {
		action, _, _ = strings.Cut(action, "]")
		return "keys." + action, `a key such as "q", or a list of keys`
	}
	key, _, _ = strings.Cut(name, "[")
	for _, f := range fields(new(Settings)) {
		if f.key == key {
			return key, cmp.Or(kind(f.value.Type()), f.must)
		}
	}
	return key, "a table, as in [" + key + "]"
}

var commandName = regexp.MustCompile(`^command\[(\d+)\]\.?(\w*)`)

// ofCommand takes a name apart as the decoder gives it for a value in a [[command]] table; "", "" for others.
func ofCommand(name string) (place, key string) {
	found := commandName.FindStringSubmatch(name)
	if found == nil {
		return "", ""
	}
	number, _ := strconv.Atoi(found[1])
	return fmt.Sprintf("command %d", number+1), found[2]
}

// kinds are what the values of a table must be, by name.
func kinds(table any) map[string]string {
	all := map[string]string{}
	of := reflect.TypeOf(table)
	for i := range of.NumField() {
		all[of.Field(i).Tag.Get("koanf")] = kind(of.Field(i).Type)
	}
	return all
}

// DurationHint says how to write a duration.
const DurationHint = "a time with its unit, such as 90s or 45m"

// kind says what a value of a type must be; "" if only the setting can say it.
func kind(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[time.Duration]():
		return DurationHint
	case reflect.TypeFor[bool](), reflect.TypeFor[*bool]():
		return "true or false"
	case reflect.TypeFor[int]():
		return "a whole number"
	case reflect.TypeFor[float64]():
		return "a number"
	case reflect.TypeFor[[]string]():
		return `a list of texts, such as ["a", "b"]`
	case reflect.TypeFor[string](), reflect.TypeFor[api.Secret]():
		return "a text in quotes"
	}
	return ""
}

// failures are the errors of single values.
func failures(err error) (all []*mapstructure.DecodeError) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			all = append(all, failures(one)...)
		}
		return all
	}
	var one *mapstructure.DecodeError
	if !errors.As(err, &one) {
		return nil
	}
	if inner := failures(one.Unwrap()); inner != nil {
		return inner
	}
	return []*mapstructure.DecodeError{one}
}

// strict converts a value for a field. It refuses values of the wrong kind, as many could be misread: 45 as 45 ns, or
// true as 1.
func strict(from, to reflect.Value) (any, error) {
	value := from.Interface()
	text, isText := value.(string)
	switch field := to.Interface().(type) {
	case api.Secret:
		if isText {
			return api.NewSecret(text), nil
		}
	case time.Duration:
		return time.ParseDuration(fmt.Sprint(value))
	case int:
		return strconv.Atoi(fmt.Sprint(value))
	case float64:
		return strconv.ParseFloat(fmt.Sprint(value), 64)
	case bool:
		if isText {
			return strconv.ParseBool(text)
		}
	case []string:
		if isText {
			return strings.Split(text, ","), nil
		}
	case Shortcuts:
		if isText {
			return Shortcuts{text}, nil
		}
	case Program:
		if isText {
			return field, errors.New("a text, which no shell would take apart")
		}
	}
	return value, nil
}

// invalid says what a setting must be and, unless it may be secret, what it is.
func invalid(key string, value any, must string) error {
	name, _, _ := strings.Cut(key, " ") // command 1: args
	for _, f := range fields(new(Settings)) {
		if f.key == name && f.private {
			return fmt.Errorf("%s must be %s", key, must)
		}
	}
	return fmt.Errorf("%s is %s; it must be %s", key, Shown(value), must)
}

// Shown is a value in one line, shortened and without a password.
func Shown(value any) string {
	const most, mostOfList = 60, 5
	if list, ok := value.([]any); ok {
		var shown []string
		for _, one := range list[:min(len(list), mostOfList)] {
			shown = append(shown, Shown(one))
		}
		if len(list) > mostOfList {
			shown = append(shown, "…")
		}
		return "[" + strings.Join(shown, ", ") + "]"
	}
	text, ok := value.(string)
	if ok {
		text = string(api.MaskAddress(api.Scrub(text))) // before it is cut: half a password is still one
	} else {
		text = fmt.Sprint(value)
	}
	end := ""
	if len(text) > most {
		text, end = strings.ToValidUTF8(text[:most], ""), "…"
	}
	if ok {
		return strconv.Quote(text) + end
	}
	return string(api.Scrub(text)) + end
}
