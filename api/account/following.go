package account

import (
	"fmt"
	"time"
)

// gap is a hole in what the feed delivered, until everything open has been read
// again.
type gap struct {
	open  bool
	words string
	from  int64
	to    int64
	epoch string
}

// following is what is known of the feed.
type following struct {
	FeedStatus
	down  time.Time // since when there is no connection; zero while there is
	heard time.Time // the earliest that it is known to have been heard; zero before that
	epoch int       // how many journals were followed before this one
	gap   gap
	gaps  int // how many there were
}

// hears notes since when the feed is heard.
func (f *following) hears(since time.Time) {
	if f.heard.IsZero() || since.Before(f.heard) && !since.IsZero() {
		f.heard = since
	}
}

// unheard reports whether what was created then was created before the feed was
// heard.
func (f *following) unheard(created time.Time) bool {
	return f.heard.IsZero() || created.Before(f.heard)
}

// SetFeed takes over the state of the feed. It reports whether the feed has a new
// hole in what it delivers.
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
	if status.Epoch != "" && status.Epoch != f.Epoch {
		f.epoch++
	}
	if status.Epoch == "" {
		status.Epoch, status.Head, status.Cursor = f.Epoch, f.Head, f.Cursor
	}
	if f.State == FeedLost && (status.State == FeedLost || status.State == FeedConnecting) {
		// Dialling in vain ends no loss: it began when the feed was last there.
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
	case status.Reset && (status.Epoch != f.gap.epoch || f.gap.from != 0):
		f.openGap("the relay's journal is another one than before; everything open is being read again")
	}
}

func (f *following) openGap(words string) {
	f.gap = gap{open: true, words: words, from: f.LostFrom, to: f.LostTo, epoch: f.Epoch}
	f.gaps++
}

// closeGap notes that everything open has been read since the gap.
func (s *Store) closeGap() {
	s.update(func(now time.Time) {
		s.feed.gap.open = false
		s.judgeFeed(now)
	})
}

// longDelivered is how long after its creation an event no longer says what has just
// happened.
const longDelivered = 5 * time.Minute

// fresh reports whether an event says what has just happened, and not what the
// journal or the service still held.
func (f *following) fresh(e *Event) bool {
	return f.State == FeedLive && e.Origin != "backfill" && e.Origin != "replay" &&
		(e.CreatedAt.IsZero() || e.Received.Sub(e.CreatedAt) < longDelivered)
}
