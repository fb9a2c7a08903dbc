package command

import (
	"testing"
	"time"
)

func TestTimesAreWrittenInWeeksDaysAndLess(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "2w": 14 * day, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute,
		"": 0, "d": 0, "0d": 0, "-1d": 0, "-5m": 0, "90": 0, "1w1d": 0, "1.5d": 0, "99999w": 0, "1d-1h": 0, "tomorrow": 0,
	} {
		got, err := parseAge(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func FuzzParseAge(f *testing.F) {
	f.Add("2w")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := parseAge(text); err == nil && (d <= 0 || d > maxAge) {
			t.Errorf("%q is %v", text, d)
		}
	})
}
