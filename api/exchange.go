package api

import (
	"time"

	"tillwatch/api/quota"
)

// Exchange is one request of this client and its answer, as an observer sees
// it. It holds no header and no body, so it holds no secret.
type Exchange struct {
	Method    string
	Path      string // as sent, without the query's values
	Class     quota.Class
	Priority  quota.Priority
	Attempt   int       // 1 for the first
	Sent      time.Time // when the request went out, after any pause for quota
	Waited    time.Duration
	Latency   time.Duration
	Status    int // 0 when no answer came
	RequestID Text
	Err       error // nil when the answer was a success, or told that a list which need not exist does not
}
