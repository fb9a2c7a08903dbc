package command

import (
	"testing"
	"time"
)

func TestTimesAreWrittenInWeeksDaysAndLess(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "2w": 14 * day, "1w1d": 8 * day, "1d12h": 36 * time.Hour, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute,
		"": 0, "d": 0, "0d": 0, "-1d": 0, "-5m": 0, "90": 0, "1d1w": 0, "1.5d": 0, "99999w": 0, "1d-1h": 0, "tomorrow": 0,
	} {
		got, err := parseAge(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestSizesAreWrittenWithTheirUnit(t *testing.T) {
	for text, want := range map[string]int64{
		"512MB": 512e6, "10GB": 10e9, "1GiB": 1 << 30, "3TiB": 3 << 40, "20KiB": 20 << 10, "17B": 17, "1TB": 1e12, "1KB": 1000,
		"": 0, "10": 0, "GB": 0, "0GB": 0, "-1GB": 0, "9999999999TB": 0, "1.5GB": 15e8, "10 GB": 10e9,
	} {
		got, err := parseByteSize(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

func FuzzParseAge(f *testing.F) {
	f.Add("1w2d3h")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := parseAge(text); err == nil && (d <= 0 || d > maxAge) {
			t.Errorf("%q is %v", text, d)
		}
	})
}
