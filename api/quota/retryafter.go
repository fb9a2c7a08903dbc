package quota

import (
	"net/http"
	"strings"
	"time"
)

// maxRetryAfter bounds what is believed of a Retry-After field.
const maxRetryAfter = 25 * time.Hour

// RetryAfter is the pause that the Retry-After field of h asks for, counted
// from now: seconds or an HTTP date (RFC 9110, section 10.2.3). A date is
// compared with the Date field of the answer where it has one, so that a wrong
// clock does no harm. A date that has passed is a pause of 0; a pause above 25
// hours is cut to that. It reports false where there is no such field or where
// it cannot be read.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	lines := values(h, "Retry-After")
	if len(lines) == 0 {
		return 0, false
	}
	text := strings.TrimSpace(lines[0])
	if n, ok := wholeNumber(text); ok {
		return seconds(n, maxRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(strings.TrimSpace(first(values(h, "Date")))); err == nil {
		now = sent // the service's own clock: this one may be wrong
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// wholeNumber reads digits of any length; a number too long to hold is a very
// large one.
func wholeNumber(text string) (int64, bool) {
	const most = int64(1) << 40
	n := int64(0)
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(text[i]-'0'), most)
	}
	return n, text != ""
}
