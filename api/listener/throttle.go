package listener

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Throttle is a handler that logs a kind of failure at once and then, as long as
// it goes on, once an interval, with the number of those since. A kind is what has
// the same message. What is no failure passes.
type Throttle struct {
	slog.Handler
	ongoing *ongoing
}

// ThrottleInterval is the usual interval.
const ThrottleInterval = time.Second

// ongoing are the kinds of failures of the last interval.
type ongoing struct {
	interval time.Duration

	mu     sync.Mutex
	kinds  map[string]*failing
	closed bool
}

// failing is a kind of failure that was logged.
type failing struct {
	since  int // how many were not
	last   slog.Record
	writer slog.Handler // of the last
	timer  *time.Timer
}

// NewThrottle throttles what is logged with next.
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

// admits reports whether record is logged at once; otherwise it is counted.
func (o *ongoing) admits(writer slog.Handler, record slog.Record) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	kind := record.Message
	if f, is := o.kinds[kind]; is {
		f.since++
		f.last, f.writer = record.Clone(), writer
		return false
	}
	o.kinds[kind] = &failing{timer: time.AfterFunc(o.interval, func() { o.sum(kind) })}
	return true
}

// sum logs the last failure of a kind with the number of those of the interval.
// When there was none, the kind is over.
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
	_ = f.writer.Handle(context.Background(), f.last) // a log that cannot be written has nobody to tell
	f.since = 0
}

// Close logs what is left to tell. What follows is logged as it comes.
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
