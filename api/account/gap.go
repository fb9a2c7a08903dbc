package account

import (
	"fmt"
	"time"
)

// gap is a hole in what the feed has told, until everything open has been read
// again.
type gap struct {
	open  bool
	words string
	from  int64
	to    int64
	epoch string
}

// SetFeed takes over the state of the feed. It reports whether the feed tells of
// a hole in what it delivers that was not known.
func (s *Store) SetFeed(status FeedStatus) (gap bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	if status.Epoch != "" && status.Epoch != s.feed.Epoch {
		s.epoch++
	}
	if status.Epoch == "" {
		status.Epoch, status.Head, status.Cursor = s.feed.Epoch, s.feed.Head, s.feed.Cursor
	}
	if s.feed.State == FeedLost && (status.State == FeedLost || status.State == FeedConnecting) {
		// Dialling in vain ends no loss: it began when the feed was last there.
		if status.State == FeedConnecting {
			status.State, status.Err = FeedLost, s.feed.Err
		}
		status.Since = s.feed.Since
	}
	if status.Since.IsZero() {
		status.Since = now
		if status.State == s.feed.State {
			status.Since = s.feed.Since
		}
	}
	s.feed = status
	if status.State == FeedLive {
		s.hears(now)
	}
	if status.State != FeedLost && status.State != FeedConnecting {
		s.feedDown = time.Time{}
	} else if s.feedDown.IsZero() {
		s.feedDown = status.Since
	}
	before := s.gaps
	switch {
	case status.LostFrom > 0 && (status.LostFrom != s.gap.from || status.LostTo != s.gap.to || status.Epoch != s.gap.epoch):
		s.openGap(status, fmt.Sprintf("the relay no longer has events %d to %d; everything open is being read again", status.LostFrom, status.LostTo))
	case status.Reset && (status.Epoch != s.gap.epoch || s.gap.from != 0):
		s.openGap(status, "the relay's journal is another one than before; everything open is being read again")
	}
	s.judgeFeed(now)
	return s.gaps > before
}

func (s *Store) openGap(status FeedStatus, words string) {
	s.gap = gap{open: true, words: words, from: status.LostFrom, to: status.LostTo, epoch: status.Epoch}
	s.gaps++
}

// closeGap notes that everything open has been read since the gap.
func (s *Store) closeGap() {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.gap.open = false
	s.judgeFeed(now)
}
