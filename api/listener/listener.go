// Package listener holds what the HTTP listeners of the program have in common.
package listener

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Throttle is a handler that logs the first failure of a kind at once, and while the
// kind goes on, one line in each interval with the number of further failures. Records
// with the same message are of one kind. Records below the level Warn pass through.
type Throttle struct {
	slog.Handler
	ongoing *ongoing
}

// ThrottleInterval is the usual interval.
const ThrottleInterval = time.Second

// ongoing holds the kinds of failures that are going on.
type ongoing struct {
	interval time.Duration

	mu     sync.Mutex
	kinds  map[string]*failing
	closed bool
}

// failing is a kind of failure that is going on.
type failing struct {
	since  int          // failures since the last logged line
	last   slog.Record  // the last of them
	writer slog.Handler // the handler of the last
	timer  *time.Timer
}

// NewThrottle returns a Throttle in front of next.
func NewThrottle(next slog.Handler, interval time.Duration) *Throttle {
	return &Throttle{next, &ongoing{interval: interval, kinds: map[string]*failing{}}}
}

// Handle implements [slog.Handler].
func (h *Throttle) Handle(ctx context.Context, record slog.Record) error {
	if record.Level < slog.LevelWarn || h.ongoing.admits(h.Handler, record) {
		return h.Handler.Handle(ctx, record)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *Throttle) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Throttle{h.Handler.WithAttrs(attrs), h.ongoing}
}

// WithGroup implements [slog.Handler].
func (h *Throttle) WithGroup(name string) slog.Handler {
	return &Throttle{h.Handler.WithGroup(name), h.ongoing}
}

// admits reports whether record is to be logged at once; otherwise it counts it.
func (o *ongoing) admits(writer slog.Handler, record slog.Record) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	kind := record.Message
	if f, ok := o.kinds[kind]; ok {
		f.since++
		f.last, f.writer = record.Clone(), writer
		return false
	}
	o.kinds[kind] = &failing{timer: time.AfterFunc(o.interval, func() { o.sum(kind) })}
	return true
}

// sum logs the last failure of a kind with the number of failures in the interval. If
// there was none, the kind is over.
func (o *ongoing) sum(kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.kinds[kind]
	if f == nil {
		return
	}
	if f.since == 0 {
		delete(o.kinds, kind)
		return
	}
	f.log()
	f.timer.Reset(o.interval)
}

func (f *failing) log() {
	f.last.AddAttrs(slog.Int("more_since_last", f.since))
	_ = f.writer.Handle(context.Background(), f.last) // nowhere to report that the log cannot be written
	f.since = 0
}

// Close logs the counted failures. Later records pass through unthrottled.
func (h *Throttle) Close() {
	o := h.ongoing
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for kind, f := range o.kinds {
		f.timer.Stop()
		if f.since > 0 {
			f.log()
		}
		delete(o.kinds, kind)
	}
}

// Framed closes the connection after a request whose length is in doubt.
func Framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if LengthInDoubt(req) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, req)
	})
}

// LengthInDoubt reports whether the next request on the connection may be smuggled.
// That is possible after a request with both Content-Length and Transfer-Encoding (RFC
// 9112, section 6.1). net/http removes the header that does not count before a handler
// sees the request: any Transfer-Encoding is in doubt, and any request of HTTP/1.0.
func LengthInDoubt(req *http.Request) bool {
	return len(req.TransferEncoding) > 0 || !req.ProtoAtLeast(1, 1)
}
