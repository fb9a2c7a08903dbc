package api

import (
	"context"
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
	From      Environment // what gave the answer; zero when none came
	Err       error       // nil when the answer was a success, or told that a list which need not exist does not
}

type sentKey struct{}

// sentNote is where the time is noted, once.
type sentNote struct {
	at    *time.Time
	noted bool
}

// WithSent notes in at when the first request that is made with the returned
// context goes out, after any pause for quota: what is answered, and on further
// pages and attempts too, is not older than that. While nothing has gone out, at
// stays as it is. The context is for one call, or for one list.
func WithSent(ctx context.Context, at *time.Time) context.Context {
	return context.WithValue(ctx, sentKey{}, &sentNote{at: at})
}

func noteSent(ctx context.Context, sent time.Time) {
	if note, ok := ctx.Value(sentKey{}).(*sentNote); ok && !note.noted {
		*note.at, note.noted = sent, true
	}
}
