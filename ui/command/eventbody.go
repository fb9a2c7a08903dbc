package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/ui/wording"
)

// typeOf finds a type by its name.
func typeOf(name string) (simulator.EventKind, error) {
	all := simulator.EventKinds()
	i := slices.IndexFunc(all, func(k simulator.EventKind) bool { return string(k.Type) == name })
	if i >= 0 {
		return all[i], nil
	}
	return simulator.EventKind{}, fmt.Errorf("there is no event type %.60q%s (tillwatch trigger --list)", name, wording.Suggest(name, asStrings(api.EventTypes())))
}

// inJSON is text as a JSON string; Go's %q differs.
func inJSON(text string) string {
	encoded, _ := json.Marshal(text) // a text always can be
	return string(encoded)
}

// eventIn decodes a body. If it is not an event, the error comes with the id and type
// that it has.
func eventIn(body []byte) (api.Event, error) {
	event, err := api.DecodeEvent(body)
	if err != nil {
		var named struct{ ID, Type string }
		_ = json.Unmarshal(body, &named) // as far as it is JSON
		event = api.Event{ID: api.ScrubID(named.ID), Type: api.EventType(api.Scrub(named.Type)), Raw: body}
	}
	return event, err
}

// warnOfEmptyHeaders says which of a delivery's headers are empty.
func warnOfEmptyHeaders(event api.Event, prefix string, stderr io.Writer) {
	for _, header := range [][2]string{{"event-id", string(event.ID)}, {"topic", string(event.Type)}} {
		if header[1] == "" {
			fmt.Fprintf(stderr, "tillwatch: %s%s is empty: the body has no value for it\n", prefix, header[0])
		}
	}
}

// override is a field that --set changes.
type override struct {
	path  []string
	value string // as JSON
}

func (o override) String() string { return strings.Join(o.path, ".") }

// text is the value without the quotes of a string.
func (o override) text() string {
	if v := gjson.Parse(o.value); v.Type == gjson.String {
		return v.Str
	}
	return o.value
}

// parseOverride reads PATH=VALUE. A value that is not JSON is a string.
func parseOverride(text string) (override, error) {
	path, value, ok := strings.Cut(text, "=")
	o := override{strings.Split(path, "."), value}
	if !ok || slices.Contains(o.path, "") {
		return o, fmt.Errorf("--set %.60q: give a field and a value, as in --set data.price=1299", text)
	}
	if !json.Valid([]byte(value)) {
		o.value = inJSON(value)
	}
	return o, nil
}

// apply changes a field of a body and leaves the rest as it was written. A string
// stays a string, and a number for an amount of money is its cents. Only data takes
// new fields, and only if its shape is open.
func (o override) apply(body []byte, closed bool) ([]byte, error) {
	around, body := body, bytes.TrimSpace(body)
	here := gjson.ParseBytes(body)
	if !json.Valid(body) || !here.IsObject() {
		return nil, fmt.Errorf("--set %s: the body is not a JSON object: leave out --set to send it as it is", o)
	}
	changed, err := o.put(body, here, closed)
	before, after, _ := bytes.Cut(around, body)
	return slices.Concat(before, changed, after), err
}

func (o override) put(body []byte, here gjson.Result, closed bool) ([]byte, error) {
	path, value, given := o.path, o.value, gjson.Parse(o.value)
	for i := 0; i < len(path); i++ {
		if doubled(here, path[i]) {
			return nil, fmt.Errorf("--set %s: the body has the field %s twice, and receivers differ in which they take", o, path[i])
		}
		next := here.Get(gjson.Escape(path[i]))
		if !next.Exists() {
			return o.add(body, here, i, closed)
		}
		if here = next; i == len(o.path)-1 && given.Type == gjson.Number && here.Get(cents).Exists() {
			path = slices.Concat(path, []string{cents})
		}
	}
	if err := o.fits(here); err != nil && len(path) == len(o.path) {
		return nil, err
	}
	if here.Type == gjson.String && given.Type == gjson.Number {
		value = `"` + value + `"`
	}
	return slices.Concat(body[:here.Index], []byte(value), body[here.Index+len(here.Raw):]), nil
}

// fits refuses anything but an object or null for an object, and likewise for a list.
func (o override) fits(here gjson.Result) error {
	switch given := gjson.Parse(o.value); {
	case given.Type == gjson.Null:
	case here.IsArray() && !given.IsArray():
		return fmt.Errorf("--set %s: %s is a list: give one, or set an item of it, as in --set %s.0=…", o, o, o)
	case here.IsObject() && !given.IsObject():
		return fmt.Errorf("--set %s: %s is an object: give one, or set a field of it", o, o)
	}
	return nil
}

// cents is the field of an amount of money that a number sets.
const cents = "amountSubunits"

// doubled reports whether an object has two fields of this name.
func doubled(object gjson.Result, name string) bool {
	n := 0
	if object.IsObject() {
		object.ForEach(func(key, _ gjson.Result) bool {
			if key.Str == name {
				n++
			}
			return n < 2
		})
	}
	return n > 1
}

// add puts a new field into an object of a body, if it may have one.
func (o override) add(body []byte, object gjson.Result, depth int, closed bool) ([]byte, error) {
	var known []string
	if object.IsObject() {
		object.ForEach(func(key, _ gjson.Result) bool {
			known = append(known, key.Str)
			return true
		})
	}
	name, value := o.path[depth], o.value
	switch {
	case !object.IsObject():
		return nil, fmt.Errorf("--set %s: %s has no field %s", o, strings.Join(o.path[:depth], "."), name)
	case len(o.path) == 1 && name == "data":
		if err := o.fits(gjson.Parse("{}")); err != nil {
			return nil, err
		}
	case o.path[0] != "data" || closed && depth > 0:
		return nil, fmt.Errorf("--set %s: there is no field %s; there are %s", o, name, strings.Join(known, ", "))
	}
	for _, inner := range slices.Backward(o.path[depth+1:]) {
		value = fmt.Sprintf("{%s:%s}", inJSON(inner), value)
	}
	end := object.Index + len(object.Raw) - 1
	comma := ","
	if len(known) == 0 {
		comma = ""
	}
	return slices.Concat(body[:end], fmt.Appendf(nil, "%s%s:%s", comma, inJSON(name), value), body[end:]), nil
}
