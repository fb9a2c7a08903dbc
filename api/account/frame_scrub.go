package account

import (
	"encoding/json"
	"reflect"
	"slices"

	"tillwatch/api"
	"tillwatch/api/account/form"
)

// ReadFrame reads one line after the header. Whoever wrote the line: its texts are safe to draw, and every item
// has an id.
func ReadFrame(line []byte) (*Frame, error) {
	var f Frame
	if json.Unmarshal(line, &f) != nil || f.At.IsZero() {
		return nil, form.ErrDamaged
	}
	for _, in := range f.Intents {
		if in == nil || in.ID == "" || in.Latest != nil && in.Latest.ID != in.ID || slices.Contains(in.Timeline, nil) {
			return nil, form.ErrDamaged
		}
	}
	for _, r := range f.Rereads {
		if slices.Contains(r.Moments, nil) {
			return nil, form.ErrDamaged
		}
	}
	for _, sh := range f.Shipments {
		if sh == nil || sh.ID == "" || sh.Latest != nil && sh.Latest.ID != sh.ID {
			return nil, form.ErrDamaged
		}
	}
	for _, e := range f.Events {
		if e == nil || e.ID == "" {
			return nil, form.ErrDamaged
		}
	}
	if !harmless(line) {
		scrubTexts(&f)
	}
	return &f, nil
}

// harmless reports whether no text of a line can need scrubbing: the line is printable ASCII without escapes, and
// no text is long.
func harmless(line []byte) bool {
	length := 0
	for _, c := range line {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
		if length++; c == '"' {
			length = 0
		}
		if length > api.MaxID {
			return false
		}
	}
	return true
}

// scrubTexts makes every text within the value that v points to safe to draw.
func scrubTexts(v any) { scrubValue(reflect.ValueOf(v).Elem()) }

var idType = reflect.TypeFor[api.ID]()

func scrubValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(scrubbed(v))
	case reflect.Pointer:
		if !v.IsNil() {
			scrubValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scrubValue(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			scrubValue(v.Index(i))
		}
	case reflect.Map:
		scrubMap(v)
	}
}

// scrubMap makes keys and values safe to draw.
func scrubMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		scrubValue(value)
		if key.Kind() == reflect.String {
			v.SetMapIndex(key, reflect.Value{})
			clean := reflect.New(key.Type()).Elem()
			clean.SetString(scrubbed(key))
			key = clean
		}
		v.SetMapIndex(key, value)
	}
}

func scrubbed(v reflect.Value) string {
	if v.Type() == idType {
		return string(api.ScrubID(v.String()))
	}
	return string(api.Scrub(v.String()))
}
