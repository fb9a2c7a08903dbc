package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unique"

	"github.com/tidwall/gjson"
)

// unmarked is JSON without the byte order mark that some writers begin it with (RFC 8259, 8.1).
func unmarked(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

// parseObject checks that body is one JSON object and returns it as a copy that
// shares no memory with body.
//
// Validity is checked first, and with it the depth of nesting: everything after
// it may walk the body without looking for an end.
func parseObject(what string, body []byte) (gjson.Result, error) {
	body = unmarked(body)
	if !json.Valid(body) {
		return gjson.Result{}, fmt.Errorf("decode %s: %w", what, syntaxError(body))
	}
	object := gjson.ParseBytes(body)
	if !object.IsObject() {
		return gjson.Result{}, fmt.Errorf("decode %s: want a JSON object, got %s", what, kind(object))
	}
	return object, nil
}

// syntaxError says where body stops being JSON, without quoting it.
func syntaxError(body []byte) error {
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		return errors.New("empty body")
	case text[0] == '<':
		return errors.New("an HTML page instead of JSON")
	}
	var ignored json.RawMessage
	err := json.Unmarshal(body, &ignored)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("invalid JSON at byte %d of %d", syntax.Offset, len(body))
	}
	return errors.New("invalid JSON")
}

func kind(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "an array"
	case v.Type == gjson.String:
		return "a string"
	case v.Type == gjson.Number:
		return "a number"
	case v.IsBool():
		return "a boolean"
	}
	return "null"
}

// eachField walks the fields of an object; of a repeated key all are seen, so
// that the last wins. Anything but an object has no fields.
func eachField(v gjson.Result, visit func(key string, v gjson.Result)) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		visit(key.Str, value)
		return true
	})
}

// fieldsOf are the fields of an object; of a repeated key the last. Anything but an
// object has none, and a field that is absent reads as null.
func fieldsOf(v gjson.Result) map[string]gjson.Result {
	fields := map[string]gjson.Result{}
	eachField(v, func(key string, v gjson.Result) { fields[key] = v })
	return fields
}

// eachItem walks the items of an array. Anything but an array has no items.
func eachItem(v gjson.Result, visit func(v gjson.Result)) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, value gjson.Result) bool {
		visit(value)
		return true
	})
}

// textOf reads a string, as all readers below do, into memory of its own: a
// short text that somebody keeps must not keep the whole body.
func textOf(v gjson.Result) Text {
	if v.Type != gjson.String {
		return ""
	}
	return Scrub(strings.Clone(v.Str))
}

// wordOf reads a text that is one of few, as a state is: all that are equal share
// their memory.
func wordOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return unique.Make(string(Scrub(v.Str))).Value()
}

// textOrNumber takes a number by its decimal text too.
func textOrNumber(v gjson.Result) Text {
	if v.Type == gjson.Number {
		return Scrub(strings.Clone(v.Raw))
	}
	return textOf(v)
}

func idOf(v gjson.Result) ID {
	switch v.Type {
	case gjson.String:
		return ScrubID(strings.Clone(IDText(v.Str, v.Raw)))
	case gjson.Number:
		return ScrubID(strings.Clone(v.Raw))
	}
	return ""
}

// listOf decodes the items of an array that are objects.
func listOf[T any](v gjson.Result, decode func(gjson.Result) T) []T {
	var list []T
	eachItem(v, func(v gjson.Result) {
		if v.IsObject() {
			list = append(list, decode(v))
		}
	})
	return list
}

func textsOf(v gjson.Result) []Text {
	var texts []Text
	eachItem(v, func(v gjson.Result) {
		if text := textOrNumber(v); text != "" {
			texts = append(texts, text)
		}
	})
	return texts
}

func timeOf(v gjson.Result) time.Time {
	if v.Type != gjson.String {
		return time.Time{}
	}
	return ParseTime(v.Str)
}
