package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/wording"
)

// assign sets every given setting. It refuses values of the wrong kind, as many could
// be misread: 45 as 45 ns, or true as 1.
func (s *settings) assign(values given) error {
	var wrong []error
	for _, one := range settingTable() {
		value := values[one.key]
		_, table := value.(map[string]any)
		switch {
		case value == nil:
		case one.key == "keys" && table: // an empty table
		case one.key == "command":
			wrong = append(wrong, readTables(one.key, value, s.Commands.read)...)
		case !assign(one.field(s), value):
			wrong = append(wrong, invalidValue(one.key, value, describeKind(one.field(s))))
		}
	}
	return errors.Join(append(wrong, s.bind(values)...)...)
}

// bind sets the keys of actions.
func (s *settings) bind(values given) (wrong []error) {
	s.Keys = keyBindings{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name, ok := strings.CutPrefix(key, "keys.")
		if !ok {
			continue
		}
		if list, ok := texts(values[key]); ok {
			s.Keys[action.ID(name)] = list
		} else {
			wrong = append(wrong, invalidValue(key, values[key], `a key such as "q", or a list of keys`))
		}
	}
	return wrong
}

// assign sets a field to a value from the configuration, or to the value that a text
// spells. It returns false if the value is of the wrong kind.
func assign(field, value any) bool {
	text, isText := value.(string)
	written := fmt.Sprint(value)
	var err error
	switch to := field.(type) {
	case *string:
		*to = text
		return isText
	case *api.Secret:
		*to = api.NewSecret(text)
		return isText
	case *bool:
		if _, ok := value.(bool); !ok && !isText {
			return false
		}
		*to, err = strconv.ParseBool(written)
	case *int:
		*to, err = strconv.Atoi(written)
	case *float64:
		*to, err = strconv.ParseFloat(written, 64)
	case *time.Duration:
		*to, err = time.ParseDuration(written)
	case *[]string:
		if isText {
			*to = strings.Split(text, ",")
			return true
		}
		list, ok := texts(value)
		*to = list
		return ok
	case *programLine:
		list, ok := texts(value)
		*to = list
		return ok && !isText
	default:
		return false
	}
	return err == nil
}

// readTables reads a list of tables, as [[command]]. read reads one of them.
func readTables(key string, value any, read func(number int, table map[string]any) []error) (wrong []error) {
	must := "tables, as in [[" + key + "]]"
	list, ok := value.([]any)
	if !ok {
		return []error{invalidValue(key, value, must)}
	}
	for i, one := range list {
		table, ok := one.(map[string]any)
		if !ok {
			return []error{invalidValue(key, one, must)}
		}
		wrong = append(wrong, read(i+1, table)...)
	}
	return wrong
}

// readTable sets the fields, by name, to the values of a table. Errors name its place.
func readTable(place string, table, fields map[string]any) (wrong []error) {
	known := slices.Sorted(maps.Keys(fields))
	for _, key := range slices.Sorted(maps.Keys(table)) {
		switch field, exists := fields[key]; {
		case !exists:
			wrong = append(wrong, usagef("%s: there is no setting %q%s", place, key, wording.Suggest(key, known)))
		case !assign(field, table[key]):
			wrong = append(wrong, invalidValue(place+": "+key, table[key], describeKind(field)))
		}
	}
	return wrong
}

// programLine is a program with its arguments.
type programLine []string

const programLineHint = `["notify-alert", "--to", "till"]`

// texts is a list of texts, or one text.
func texts(value any) (list []string, ok bool) {
	switch value := value.(type) {
	case string:
		return []string{value}, true
	case []string:
		return value, true
	case []any:
		list = []string{}
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			list = append(list, text)
		}
		return list, true
	}
	return nil, false
}

// describeKind describes the kind of a field.
func describeKind(field any) string {
	switch field.(type) {
	case *time.Duration:
		return durationHint
	case *bool:
		return "true or false"
	case *int:
		return "a whole number"
	case *float64:
		return "a number"
	case *[]string:
		return `a list of texts, such as ["a", "b"]`
	case *keyBindings:
		return "a table, as in [keys]"
	case *programLine:
		return "a list, such as " + programLineHint + ": no shell runs it"
	}
	return "a text in quotes"
}

// invalidValue says what a setting must be and, unless it may be secret, what it is.
func invalidValue(key string, value any, must string) error {
	private := func(one setting) bool { return one.key == key && (one.private || one.secret()) }
	if slices.ContainsFunc(settingTable(), private) {
		return usagef("%s must be %s", key, must)
	}
	return usagef("%s is %s; it must be %s", key, shownValue(value), must)
}

// shownValue is a value in one line, shortened.
func shownValue(value any) string {
	const most, mostOfList = 60, 5
	if list, ok := value.([]any); ok {
		var shown []string
		for _, one := range list[:min(len(list), mostOfList)] {
			shown = append(shown, shownValue(one))
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

// check refuses impossible values, all of them at once.
func (s settings) check() error {
	var wrong []error
	for _, one := range settingTable() {
		if one.holds != nil && !one.holds(s) {
			wrong = append(wrong, invalidValue(one.key, valueOf(one.field(&s)), one.must))
		}
	}
	wrong = append(wrong, s.checkAddresses()...)
	if _, err := s.actions(); err != nil {
		wrong = append(wrong, usage(err))
	}
	return joinErrors(wrong...)
}

// valueOf is a field's value.
func valueOf(field any) any { return reflect.ValueOf(field).Elem().Interface() }

// joinErrors joins errors, with the exit code of the first that has one.
func joinErrors(errs ...error) error {
	err := errors.Join(errs...)
	if exit := new(*exitError); errors.As(err, exit) {
		return &exitError{(*exit).code, err}
	}
	return err
}

func isObject(text string) bool {
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// checkAddresses refuses unusable addresses, and keys and tokens that no request can
// carry.
func (s settings) checkAddresses() (wrong []error) {
	for _, address := range []struct {
		key, value string
		check      func(string) error
	}{{"api_url", s.APIURL, api.CheckBaseURL}, {"relay_url", s.RelayURL, relay.CheckURL}} {
		if address.value == "" {
			continue
		}
		if err := address.check(address.value); err != nil {
			wrong = append(wrong, usagef("%s%s: %w", address.key, quotedAddress(address.value), err))
		}
	}
	for _, secret := range []struct {
		key   string
		value api.Secret
	}{{"api_key", s.APIKey}, {"relay_token", s.RelayToken}} {
		if secret.value.IsZero() {
			continue
		}
		if err := api.CheckKey(secret.value); err != nil {
			wrong = append(wrong, usagef("%s %w", secret.key, err))
		} else if n := len(secret.value.Reveal()); secret.key == "relay_token" && n < relay.MinToken {
			wrong = append(wrong, usagef("relay_token (TILLWATCH_RELAY_TOKEN) has %d bytes, and a relay accepts none of fewer than %d: was it copied whole? tillwatch tokens create makes one", n, relay.MinToken))
		}
	}
	return wrong
}

// quotedAddress repeats an address, unless it may hold a password.
func quotedAddress(address string) string {
	if u, err := url.Parse(address); strings.Contains(address, "@") || err == nil && u.RawQuery != "" {
		return ""
	}
	return fmt.Sprintf(" is %s", shownValue(address))
}
