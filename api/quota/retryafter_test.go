package quota

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfterIsReadAsSecondsOrAsADate(t *testing.T) {
	now := time.Date(2019, time.August, 5, 9, 27, 0, 0, time.UTC)
	tests := []struct {
		name  string
		value string
		want  time.Duration
		ok    bool
	}{
		{"seconds", "20", 20 * time.Second, true},
		{"zero seconds", "0", 0, true},
		{"spaces about", " 1 ", time.Second, true},
		{"a day and more", "86399", 86399 * time.Second, true},
		{"absurd seconds", strings.Repeat("9", 40), 25 * time.Hour, true},
		{"a date", "Mon, 05 Aug 2019 09:27:05 GMT", 5 * time.Second, true},
		{"a date in the form of RFC 850", "Monday, 05-Aug-19 09:27:05 GMT", 5 * time.Second, true},
		{"a date that has passed", "Mon, 05 Aug 2019 09:26:00 GMT", 0, true},
		{"a date far off", "Mon, 05 Aug 2199 09:27:05 GMT", 25 * time.Hour, true},
		{"negative", "-1", 0, false},
		{"a fraction", "1.5", 0, false},
		{"words", "soon", 0, false},
		{"empty", "", 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := RetryAfter(http.Header{"Retry-After": {test.value}}, now)
			if got != test.want || ok != test.ok {
				t.Errorf("got %v, %v; want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
	if _, ok := RetryAfter(http.Header{}, now); ok {
		t.Error("a pause was read where there is no field")
	}
	if got, ok := RetryAfter(http.Header{"retry-after": {"3"}}, now); !ok || got != 3*time.Second {
		t.Errorf("in lower case: got %v, %v", got, ok)
	}
}

func TestADateIsComparedWithTheServicesClock(t *testing.T) {
	wrong := time.Date(2019, time.August, 5, 8, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		date, value string
		want        time.Duration
	}{
		"a date":              {"Mon, 05 Aug 2019 09:27:00 GMT", "Mon, 05 Aug 2019 09:27:05 GMT", 5 * time.Second},
		"seconds":             {"Mon, 05 Aug 2019 09:27:00 GMT", "20", 20 * time.Second},
		"an unreadable clock": {"noon", "Mon, 05 Aug 2019 08:00:05 GMT", 5 * time.Second},
	} {
		got, ok := RetryAfter(http.Header{"Retry-After": {test.value}, "Date": {test.date}}, wrong)
		if !ok || got != test.want {
			t.Errorf("%s: got %v, %v; want %v", name, got, ok, test.want)
		}
	}
}

func FuzzRetryAfterIsBounded(f *testing.F) {
	for _, seed := range []string{"1", "86400", "Mon, 05 Aug 2019 09:27:05 GMT", "-1", "99999999999999999999"} {
		f.Add(seed)
	}
	now := time.Date(2019, time.August, 5, 9, 27, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, now)
		if got < 0 || got > maxRetryAfter || !ok && got != 0 {
			t.Errorf("%q: %v, %v", value, got, ok)
		}
	})
}
