package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// Why a signed body is not an event.
var (
	errNotUTF8     = errors.New("not UTF-8")
	errNotJSON     = errors.New("not JSON")
	errNotObject   = errors.New("not a JSON object")
	errNoID        = errors.New("no id")
	errNoType      = errors.New("no type")
	errNoChallenge = errors.New("a challenge without source.id")
)

// delivery is what the relay reads of an event's body: the exact id, so that different ids stay different, and no
// more than it needs.
type delivery struct {
	id       string
	kind     string
	created  time.Time // zero when it cannot be read
	sourceID string
}

// readDelivery requires an id and a type (contract, Event); of a challenge only the type, as nothing else makes it
// one (contract, Webhook receiver contract). If a name appears twice, the last value counts.
func readDelivery(body []byte) (delivery, error) {
	var d delivery
	if !utf8.Valid(body) {
		return d, errNotUTF8
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // RFC 8259, 8.1
	if !json.Valid(body) {
		return d, errNotJSON
	}
	event := gjson.ParseBytes(body)
	if !event.IsObject() {
		return d, errNotObject
	}
	event.ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "id":
			d.id = api.IDText(textOf(value), value.Raw)
		case "type":
			d.kind = textOf(value)
		case "createdAt":
			d.created = boundedTime(api.ParseTime(textOf(value)))
		case "source":
			d.sourceID = textOf(value.Get("id"))
		}
		return true
	})
	switch {
	case d.id == "" && d.kind != string(api.VerificationChallenge): // a challenge is not stored
		return d, errNoID
	case d.kind == "":
		return d, errNoType
	}
	return d, nil
}

// boundedTime returns zero for a time that cannot be kept as nanoseconds since 1970.
func boundedTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1971 || t.Year() > 2261 {
		return time.Time{}
	}
	return t
}

// textOf copies a text, so that it does not keep the whole body in memory.
func textOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.Clone(v.Str)
}
