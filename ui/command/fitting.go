package command

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"

	"tillwatch/api"
)

// checkKinds refuses every setting that is of another kind than it must be. The
// decoder would make something of many of them: of 45 a time of 45 ns, of true
// the number 1.
func checkKinds(k *koanf.Koanf) error {
	var wrong []error
	for _, key := range k.Keys() {
		if value := k.Get(key); !fits(typeOf(reflect.TypeFor[settings](), key), value) {
			wrong = append(wrong, unfit(key, value, wanted(key)))
		}
	}
	return errors.Join(wrong...)
}

// unfit says what a setting is, unless that may hold a secret, and what it must be.
func unfit(key string, value any, must string) error {
	if key == "confirm_body" || slices.Contains(secrets(), key) {
		return usagef("%s must be %s", key, must)
	}
	return usagef("%s is %s; it must be %s", key, shownValue(value), must)
}

// shownValue is a value in one line, at most so many bytes of it.
func shownValue(value any) string {
	const most = 60
	text := fmt.Sprint(value)
	end := ""
	if len(text) > most {
		text, end = strings.ToValidUTF8(text[:most], ""), "…"
	}
	if _, is := value.(string); is {
		return strconv.Quote(text) + end
	}
	return string(api.Scrub(text)) + end
}

// fits reports whether a value of the configuration is, or as a text says, one of
// a setting's type.
func fits(t reflect.Type, value any) bool {
	text, isText := value.(string)
	switch t {
	case nil:
		return true // it is refused by its name
	case reflect.TypeFor[time.Duration]():
		_, err := time.ParseDuration(text)
		_, isTime := value.(time.Duration)
		return isTime || isText && err == nil || reflect.ValueOf(value).CanInt() && reflect.ValueOf(value).Int() == 0
	case reflect.TypeFor[api.Secret]():
		return isText
	case reflect.TypeFor[keyBindings]():
		return isText || allTexts(value) || emptyMap(value)
	}
	number := reflect.ValueOf(value)
	switch t.Kind() {
	case reflect.Bool:
		_, err := strconv.ParseBool(text)
		return number.Kind() == reflect.Bool || isText && err == nil
	case reflect.Int:
		_, err := strconv.Atoi(text)
		return number.CanInt() || isText && err == nil
	case reflect.Float64:
		_, err := strconv.ParseFloat(text, 64)
		return number.CanInt() || number.CanFloat() || isText && err == nil
	case reflect.Slice:
		return isText || allTexts(value)
	case reflect.String:
		return isText
	}
	return emptyMap(value)
}

func allTexts(value any) bool {
	list, is := value.([]any)
	_, texts := value.([]string)
	return texts || is && !slices.ContainsFunc(list, func(v any) bool {
		_, is := v.(string)
		return !is
	})
}

func emptyMap(value any) bool {
	table, is := value.(map[string]any)
	return is && len(table) == 0
}

// wanted says of what kind a setting must be.
func wanted(key string) string {
	t := typeOf(reflect.TypeFor[settings](), key)
	switch t {
	case reflect.TypeFor[time.Duration]():
		return wantedTime
	case reflect.TypeFor[keyBindings]():
		if key == "keys" {
			return "a table, as in [keys]"
		}
		return `a key such as "q", or a list of keys`
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
