package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

var errNoWelcome = errors.New("the relay did not begin with a welcome")

// following is the progress of a session.
type following struct {
	subscriber *Subscriber
	handler    Handler
	observer   Observer // the handler, if it wants observations
	welcomed   bool
	wrong      WrongSignatures // as the relay reported
	at         cursor
	silent     int // consecutive heartbeats with a head ahead and no new event
}

// take handles one frame. It ignores unknown ones.
func (f *following) take(ctx context.Context, frame frame) error {
	switch frame.T {
	case frameWelcome:
		return f.welcome(frame)
	case frameBye:
		return byeOf(frame)
	case frameEvents, frameGap, frameLive, frameHeartbeat, frameObservations, frameWrong:
		if !f.welcomed {
			return errNoWelcome
		}
	}
	switch frame.T {
	case frameEvents:
		return f.events(ctx, frame.events)
	case frameGap:
		f.gap(span{frame.From, frame.To})
	case frameLive:
		f.skipTo(frame.Cursor, frame.Last)
		f.subscriber.note(func(known *Status) { known.Wrong = f.wrong }) // none if the relay has reported none by now
		f.subscriber.enter(f.handler, Status{State: Live})
	case frameHeartbeat:
		return f.heartbeat(frame)
	case frameObservations:
		f.observations(frame.observations)
	case frameWrong:
		f.wrong = frame.wrong
		f.subscriber.note(func(known *Status) { known.Wrong = f.wrong })
		f.handler.Status(f.subscriber.Status())
	}
	return nil
}

// observations passes observations on. The relay has checked them, yet invalid ones are dropped here, too.
func (f *following) observations(frame observationsFrame) {
	if f.observer == nil {
		return
	}
	batch := frame.Items[:0]
	for _, o := range frame.Items {
		if o, err := sound(o); err == nil {
			batch = append(batch, o)
		}
	}
	f.observer.Observe(batch)
}

// welcome sets the cursor to where the relay starts.
func (f *following) welcome(frame frame) error {
	next := Status{State: Replaying, Resume: frame.Resume}
	at := cursor{epoch: frame.Epoch, seq: frame.Oldest - 1}
	if !IsCursor(at.String()) || frame.Head < 0 {
		return errors.New("the relay's welcome cannot be read")
	}
	switch frame.Resume {
	case ResumeOK:
		known, err := parseCursor(f.subscriber.Cursor())
		if err != nil || known.epoch != frame.Epoch {
			return errors.New("the relay resumed a cursor that it was not given")
		}
		at = known
	case ResumeFresh:
		if f.subscriber.config.From == FromLatest {
			at.seq = frame.Head
		}
		at.seq = min(max(at.seq, frame.Start), frame.Head)
		f.subscriber.begin(frame)
	case ResumeGap:
		next.LostFrom, next.LostTo = frame.Lost.From, frame.Lost.To
		at.seq = frame.Lost.To
	case ResumeReset:
		known, err := parseCursor(f.subscriber.Cursor())
		if err == nil && known.epoch == frame.Epoch && known.seq > frame.Head {
			next.Ahead = known.seq
		}
		f.subscriber.stored = 0
	default:
		return fmt.Errorf("the relay's welcome says %.20q, which this version does not support", frame.Resume)
	}
	f.welcomed, f.at = true, at
	f.subscriber.moved(at)
	f.subscriber.note(func(known *Status) {
		known.Head, known.ObservedSince = frame.Head, frame.Since
	})
	f.subscriber.enter(f.handler, next)
	return nil
}

// begin notes where a stream without a cursor begins. The relay may send earlier events, too.
func (s *Subscriber) begin(welcome frame) {
	s.stored, s.since = welcome.Head, s.config.Since
	if s.config.Here && !welcome.Now.IsZero() {
		s.since = s.since.Add(time.Until(welcome.Now))
	}
}

// wanted reports whether an event is new or was received since the configured time.
func (s *Subscriber) wanted(item *Item) bool {
	return item.Seq > s.stored || !item.Received.Before(s.since)
}

// events delivers new events and moves the cursor past them.
func (f *following) events(ctx context.Context, items []Item) error {
	batch, at := items[:0], f.at
	for _, item := range items {
		if item.Seq > at.seq {
			if at = at.after(item.Seq, string(item.ID)); f.subscriber.wanted(&item) {
				batch = append(batch, item)
			}
		}
	}
	if at == f.at {
		return nil // only what was sent before, which is no sign of life
	}
	f.silent = 0
	if len(batch) > 0 {
		if err := f.handler.Events(ctx, batch); err != nil {
			return fmt.Errorf("handle events: %w", err)
		}
	}
	f.at = at
	f.subscriber.moved(at)
	return nil
}

// gap moves the cursor past events that cannot be read any more.
func (f *following) gap(lost span) {
	if lost.To <= f.at.seq {
		return
	}
	f.silent = 0
	lost.From = max(lost.From, f.at.seq+1)
	f.at = f.at.after(lost.To, "")
	f.subscriber.moved(f.at)
	f.subscriber.note(func(known *Status) { known.LostFrom, known.LostTo = lost.From, lost.To })
	f.handler.Status(f.subscriber.Status())
}

// itemFrom decodes an event. If this version cannot decode it, the item keeps what the relay read of it.
func itemFrom(wire wireItem) Item {
	event, err := api.DecodeEvent(wire.Raw)
	if err != nil {
		event = api.Event{
			ID:        api.ScrubID(wire.ID),
			Type:      api.EventType(api.Scrub(wire.Type)),
			CreatedAt: wire.At,
			Raw:       wire.Raw,
		}
	}
	return Item{
		Seq:        wire.Seq,
		Event:      event,
		Received:   wire.Received,
		Origin:     string(api.Scrub(wire.Origin)),
		Duplicates: wire.Duplicates,
		Conflicts:  wire.Conflicts,
		ID:         api.ScrubID(wire.ID),
	}
}

// skipTo moves the cursor past events that the filter held back.
func (f *following) skipTo(position, last string) {
	if at, err := parseCursor(position); err == nil && at.epoch == f.at.epoch && at.seq > f.at.seq {
		at.last = lastOf(last)
		f.at = at
		f.subscriber.moved(at)
	}
}

func (f *following) heartbeat(frame frame) error {
	f.skipTo(frame.Cursor, frame.Last)
	f.subscriber.note(func(known *Status) { known.Head = frame.Head })
	f.handler.Status(f.subscriber.Status())
	if frame.Head <= f.at.seq {
		f.silent = 0
		return nil
	}
	if f.silent++; f.silent >= silentBeats {
		return errSilent
	}
	return nil
}

func byeOf(frame frame) error {
	bye := &byeError{reason: api.Scrub(frame.Reason), earliest: firstRetry, latest: lastRetry}
	if len(frame.RetryMS) == 2 {
		bye.earliest = boundedWait(frame.RetryMS[0])
		bye.latest = max(bye.earliest, boundedWait(frame.RetryMS[1]))
	}
	return bye
}

func boundedWait(milliseconds int64) time.Duration {
	return time.Duration(min(max(milliseconds, 0), maxRetryWait.Milliseconds())) * time.Millisecond
}
