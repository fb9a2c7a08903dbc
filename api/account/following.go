package account

import (
	"fmt"
	"time"
)

// gap is a hole in what the feed delivered. It lasts until everything open has been read again.
type gap struct {
	open  bool
	words string
	from  int64
	to    int64
	epoch string
}

// following is the state of the feed and its gaps.
type following struct {
	FeedStatus
	down  time.Time // since when it is disconnected; zero while connected
	heard time.Time // since when events are known to have been heard; zero before that
	epoch int       // how many journals were followed before
	gap   gap
	gaps  int // so far
}

// hears records since when events have been heard.
func (f *following) hears(since time.Time) {
	if f.heard.IsZero() || since.Before(f.heard) && !since.IsZero() {
		f.heard = since
	}
}

// unheard reports whether something created at created was created before events were heard.
func (f *following) unheard(created time.Time) bool {
	return f.heard.IsZero() || created.Before(f.heard)
}

// SetFeed takes over the feed's state. It reports whether a new gap opened.
func (s *Store) SetFeed(status FeedStatus) (gap bool) {
	s.update(func(now time.Time) {
		before := s.feed.gaps
		s.feed.turn(status, now)
		s.judgeFeed(now)
		gap = s.feed.gaps > before
	})
	return gap
}

func (f *following) turn(status FeedStatus, now time.Time) {
	// The relay says once for each connection that its journal is another one, which may have the same name.
	reset := status.Reset && (!f.Reset || status.State == FeedReplaying && f.State != FeedReplaying)
	if reset || status.Epoch != "" && status.Epoch != f.Epoch {
		f.epoch++
	}
	if status.Epoch == "" {
		status.Epoch, status.Head, status.Cursor, status.Last = f.Epoch, f.Head, f.Cursor, f.Last
	}
	if f.State == FeedLost && (status.State == FeedLost || status.State == FeedConnecting) {
		// A loss begins when the connection breaks; failed attempts to reconnect do not restart it.
		if status.State == FeedConnecting {
			status.State, status.Err = FeedLost, f.Err
		}
		status.Since = f.Since
	}
	if status.Since.IsZero() {
		status.Since = now
		if status.State == f.State {
			status.Since = f.Since
		}
	}
	f.FeedStatus = status
	if status.State == FeedLive {
		f.hears(now)
	}
	if status.State != FeedLost && status.State != FeedConnecting {
		f.down = time.Time{}
	} else if f.down.IsZero() {
		f.down = status.Since
	}
	switch {
	case status.LostFrom > 0 && (status.LostFrom != f.gap.from || status.LostTo != f.gap.to || status.Epoch != f.gap.epoch):
		f.openGap(fmt.Sprintf("the relay no longer has events %d to %d; everything open is being read again", status.LostFrom, status.LostTo))
	case reset:
		f.openGap("the relay's journal is another one than before, or lost its newest events; everything open is being read again")
	}
}

func (f *following) openGap(words string) {
	f.gap = gap{open: true, words: words, from: f.LostFrom, to: f.LostTo, epoch: f.Epoch}
	f.gaps++
}

// closeGap records that everything open has been read since the gap.
func (s *Store) closeGap() {
	s.update(func(now time.Time) {
		s.feed.gap.open = false
		s.judgeFeed(now)
	})
}

// longDelivered is the age from which an event no longer counts as just happened.
const longDelivered = 5 * time.Minute

// fresh reports whether an event has just happened, rather than coming from the journal's or the service's past.
func (f *following) fresh(e *Event) bool {
	return f.State == FeedLive && e.Origin != "backfill" &&
		(e.CreatedAt.IsZero() || e.Received.Sub(e.CreatedAt) < longDelivered)
}
