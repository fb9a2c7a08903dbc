package quota

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what is accepted of a Retry-After field.
const maxRetryAfter = 25 * time.Hour

// RetryAfter returns the pause that h's Retry-After field asks for, from now: seconds or an HTTP date (RFC 9110,
// section 10.2.3). A date is compared with the answer's Date field if present, so that a wrong clock does no harm;
// one in the past is a pause of 0. Pauses are cut to 25 hours. It reports false if the field is absent or
// unreadable.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	lines := values(h, "Retry-After")
	if len(lines) == 0 {
		return 0, false
	}
	text := strings.TrimSpace(lines[0])
	if n, err := strconv.ParseUint(text, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		return seconds(int64(n), maxRetryAfter) // a number too long to hold is a very large one
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	for _, date := range values(h, "Date") {
		if sent, err := http.ParseTime(strings.TrimSpace(date)); err == nil {
			now = sent // the service's own clock: this one may be wrong
		}
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}
