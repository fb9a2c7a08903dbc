package account

import (
	"testing"
	"time"
)

func TestADayBeginsAtItsFirstMoment(t *testing.T) {
	for _, c := range []struct {
		zone string
		now  string
		days int
		want string
	}{
		{"UTC", "2026-06-18T12:00:00Z", 0, "2026-06-18T00:00:00Z"},
		{"UTC", "2026-06-01T12:00:00Z", -1, "2026-05-31T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29T12:00:00+02:00", 0, "2026-03-29T00:00:00+01:00"},
		{"Africa/Cairo", "2026-04-24T12:00:00+03:00", 0, "2026-04-24T01:00:00+03:00"},     // has no 00:00
		{"America/Santiago", "2026-09-06T12:00:00-03:00", 0, "2026-09-06T01:00:00-03:00"}, // has no 00:00
		{"America/Santiago", "2026-09-07T12:00:00-03:00", -1, "2026-09-06T01:00:00-03:00"},
		{"America/Havana", "2026-03-07T12:00:00-05:00", 1, "2026-03-08T01:00:00-04:00"}, // has no 00:00
	} {
		where, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := Midnight(now.In(where), c.days).Format(time.RFC3339); got != c.want {
			t.Errorf("%s, %d days from %s: the day begins at %s, want %s", c.zone, c.days, c.now, got, c.want)
		}
	}
}
