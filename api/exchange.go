package api

import (
	"time"

	"tillwatch/api/quota"
)

// Response describes the answer that a resource was read from. It is zero in a
// resource that was decoded from anything else, such as the body of a webhook.
type Response struct {
	Sent      time.Time   // when the request went out, after any wait for quota: what it answers is not older
	Status    int         // the HTTP status
	RequestID Text        // the id that the provider's support asks for; "" when the answer has none
	From      Environment // what answered
}

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
	From      Environment // what gave the answer; zero when none came
	Err       error       // nil when the answer was a success, or told that a list which need not exist does not
}
