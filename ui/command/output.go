package command

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"tillwatch/api"
)

// printed writes a result as one line of JSON or as text for people.
func printed(w io.Writer, asJSON bool, found any, text string) error {
	if asJSON {
		return json.NewEncoder(w).Encode(found)
	}
	_, err := io.WriteString(w, text)
	return err
}

// inWords is an amount; "" for none.
func inWords(m *api.Money) string {
	if m == nil {
		return ""
	}
	return m.String()
}

// amountOf is the amount of a part of a total. It points out what is no part.
func amountOf(part api.CostPart) string {
	if part.Odd && part.Amount != nil {
		return part.Signed() + ", in none of the parts"
	}
	return part.Signed()
}

// asStrings converts values to plain strings.
func asStrings[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}
	return all
}

// stamp is a local time, with its date unless that is today; "" if it is not known.
func stamp(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	local, today := t.Local(), now.Local()
	if local.Format(time.DateOnly) == today.Format(time.DateOnly) {
		return local.Format(time.TimeOnly)
	}
	return local.Format(time.DateTime)
}

func joinedTexts(texts []api.Text) string {
	return strings.Join(asStrings(texts), ", ")
}
