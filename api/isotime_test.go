package api

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimesAreReadInTheFormsOfISO8601(t *testing.T) {
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name, text string
		want       time.Time // zero: none
	}{
		{"extended", "2026-11-26T12:00:00Z", noon},
		{"basic", "20261126T120000Z", noon},
		{"basic, with a fraction and an offset", "20261126T130000.500+0100", noon.Add(time.Second / 2)},
		{"a basic date, an extended time", "20261126T12:00:00Z", noon},
		{"small letters", "2026-11-26t12:00:00z", noon},
		{"a comma before the fraction", "2026-11-26T12:00:00,25Z", noon.Add(time.Second / 4)},
		{"seven digits of a second", "2026-11-26T12:00:00.0000001Z", noon.Add(100)},
		{"more digits than nanoseconds", "2026-11-26T12:00:00.0000000019999Z", noon.Add(1)},
		{"no seconds", "2026-11-26T12:00Z", noon},
		{"no minutes", "2026-11-26T12Z", noon},
		{"a fraction of a minute", "2026-11-26T11:59,5Z", noon.Add(-30 * time.Second)},
		{"a fraction of an hour", "2026-11-26T11.5Z", noon.Add(-time.Hour / 2)},
		{"no offset", "2026-11-26T12:00:00", noon},
		{"a blank for the T", "2026-11-26 12:00:00+00", noon},
		{"a blank before the offset", "2026-11-26 13:00:00 +0100", noon},
		{"a zone by its name", "2026-11-26 12:00:00 UTC", noon},
		{"an offset in hours", "2026-11-26T07:00:00-05", noon},
		{"an offset with seconds", "2026-11-26T12:19:32+00:19:32", noon},
		{"an offset behind a minus sign", "2026-11-26T07:00:00−05:00", noon},
		{"an offset and a zone", "2026-11-26T13:00:00+01:00[Europe/Paris]", noon},
		{"a zone whose offset is missing", "2026-11-26T13:00:00[Europe/Paris]", time.Time{}},
		{"a leap second", "2026-11-26T11:59:60Z", noon},
		{"the end of a day", "2026-11-25T24:00:00Z", noon.Add(-12 * time.Hour)},
		{"a date", "2026-11-26", noon.Add(-12 * time.Hour)},
		{"a basic date", "20261126", noon.Add(-12 * time.Hour)},
		{"the day of a year", "2026-330T12:00:00Z", noon},
		{"the basic day of a year", "2026330T120000Z", noon},
		{"the day of a week", "2026-W48-4T12:00:00Z", noon},
		{"the basic day of a week", "2026W484T120000Z", noon},
		{"the day of the first week", "2021-W01-1", time.Date(2021, 1, 4, 0, 0, 0, 0, time.UTC)},
		{"six digits of a year", "+002026-11-26T12:00:00.000Z", noon},
		{"blanks around", " 2026-11-26T12:00:00Z\n", noon},
		{"the last second", "9999-12-31T23:59:59Z", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"a year that JSON cannot have", "9999-12-31T23:59:59-01:00", time.Time{}},
		{"a year before all others", "0000-01-01T00:00:00+01:00", time.Time{}},
		{"a month that is none", "2026-13-26T12:00:00Z", time.Time{}},
		{"a day that is none", "2026-02-29T12:00:00Z", time.Time{}},
		{"a day of the year that is none", "2026-366", time.Time{}},
		{"a week that is none", "2026-W54-1", time.Time{}},
		{"an hour that is none", "2026-11-26T25:00:00Z", time.Time{}},
		{"past the end of a day", "2026-11-26T24:00:01Z", time.Time{}},
		{"a minute that is none", "2026-11-26T12:60:00Z", time.Time{}},
		{"a second that is none", "2026-11-26T12:00:61Z", time.Time{}},
		{"an offset that is none", "2026-11-26T12:00:00+25:00", time.Time{}},
		{"a fraction without digits", "2026-11-26T12:00:00.Z", time.Time{}},
		{"a year", "2026", time.Time{}},
		{"a number", "1764158400", time.Time{}},
		{"words", "yesterday", time.Time{}},
		{"nothing", "", time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := ParseTime(test.text); !got.Equal(test.want) || got.Location() != time.UTC {
				t.Errorf("%q is read as %v, want %v", test.text, got, test.want)
			}
		})
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-11-26T12:00:00Z", "20261126T120000.5+0100", "2026-W53-7T24", "+002026-366 23:59:60−23:59[a]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := ParseTime(text)
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%q is read as %v, which JSON cannot have: %v", text, got, err)
		}
		if again := ParseTime(got.Format(time.RFC3339Nano)); !again.Equal(got) {
			t.Errorf("%q is read as %v, and that as %v", text, got, again)
		}
		if want, err := time.Parse(time.RFC3339, text); err == nil && !got.IsZero() && !got.Equal(want) {
			t.Errorf("%q is read as %v, want %v", text, got, want)
		}
	})
}
