package recording

import (
	"encoding/json"
	"time"
)

// instant is a moment as the file holds it, in UTC; one that does not fit the
// form is none.
type instant time.Time

func (i instant) MarshalJSON() ([]byte, error) {
	t := time.Time(i).UTC()
	if i.IsZero() {
		return []byte("null"), nil
	}
	return t.AppendFormat(make([]byte, 0, 40), `"`+time.RFC3339Nano+`"`), nil
}

// IsZero leaves an instant out where it is marked omitzero.
func (i instant) IsZero() bool {
	t := time.Time(i)
	return t.IsZero() || t.UTC().Year() < 1 || t.UTC().Year() > 9999
}

// UnmarshalJSON takes what is no moment for none.
func (i *instant) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		*i = instant(t.UTC())
	}
	return nil
}

// word is one of a fixed list, by its place in it; what is not in the list is the
// first.
type words []string

func (w words) of(place int) string {
	if place < 0 || place >= len(w) {
		return w[0]
	}
	return w[place]
}

func (w words) place(word string) int {
	for i, known := range w {
		if known == word {
			return i
		}
	}
	return 0
}
