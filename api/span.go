package api

import (
	"fmt"
	"strings"
	"time"
)

// Span writes a span of time for people, without units that are zero: 4.2s, 38m, 5h30m,
// 12d.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	if d < time.Minute-50*time.Millisecond {
		return d.Round(100 * time.Millisecond).String()
	}
	days := ""
	if d = d.Round(time.Second); d >= 2*day {
		d = d.Round(time.Hour)
		days = fmt.Sprintf("%dd", d/day)
		if d %= day; d == 0 {
			return days
		}
	}
	text := d.String()
	if rest, whole := strings.CutSuffix(text, "m0s"); whole {
		text = rest + "m"
	}
	if rest, whole := strings.CutSuffix(text, "h0m"); whole {
		text = rest + "h"
	}
	return days + text
}
