package account

import (
	"context"
	"fmt"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// followAgainAfter is the pause after a panic in the feed's code.
const followAgainAfter = 5 * time.Second

// follow follows the feed until ctx ends or the feed gives up.
func (w *Watcher) follow(ctx context.Context) {
	if w.cfg.Feed == nil {
		return
	}
	for {
		panicked, err := w.followOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if !panicked {
			w.FeedChanged(FeedStatus{State: FeedRefused, Since: time.Now(), Err: err})
			return
		}
		now := time.Now()
		w.FeedChanged(FeedStatus{State: FeedLost, Since: now, Err: err, RetryAt: now.Add(followAgainAfter)})
		if api.Sleep(ctx, followAgainAfter) != nil {
			return
		}
	}
}

func (w *Watcher) followOnce(ctx context.Context) (panicked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			panicked, err = true, fmt.Errorf("follow the feed: %v", p)
		}
	}()
	return false, w.cfg.Feed.Follow(ctx, w)
}

// Deliver takes events of the feed, as a [Sink].
func (w *Watcher) Deliver(batch []Delivery, arrived time.Time) { w.store.ApplyEvents(batch, arrived) }

// Observe takes observed requests of the account, as an [Observer].
func (w *Watcher) Observe(batch []quota.Observation) { w.store.Observe(batch) }

// FeedChanged takes the state of the feed, as a [Sink].
func (w *Watcher) FeedChanged(status FeedStatus) {
	gaps := w.store.SetFeed(status)
	w.change(func(now time.Time) {
		was := w.feed
		w.feed = status.State
		switch {
		case status.State == FeedLive:
			w.hold = now
			if was != FeedLive {
				w.replan(now)
				// The replay brings every event from while the feed was lost. Only what was not read since may have changed
				// without one.
				w.reconcile(w.lostAt, now)
			}
		case was == FeedLive || status.State == FeedRefused:
			w.hold, w.lostAt = now, now
			w.replan(now)
		case status.State == FeedReplaying && was != FeedReplaying:
			w.hold = now.Add(replayPatience)
		}
		if gaps {
			w.openGap(now)
		}
	})
}

// openGap asks for a read of everything open: events about it may be lost.
func (w *Watcher) openGap(now time.Time) {
	w.gapOpen, w.gapLeft = true, map[api.ID]struct{}{}
	for _, in := range w.store.openIntents() {
		if w.worthReading(in, now) && w.wanted(in.ID) {
			w.gapLeft[in.ID] = struct{}{}
			w.askIntent(in, now, quota.Reconcile)
		}
	}
}

// settleGap closes the gap once everything that was open has been read since it opened.
func (w *Watcher) settleGap() {
	if w.gapOver() {
		w.store.closeGap()
	}
}

func (w *Watcher) gapOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	over := w.gapOpen && len(w.gapLeft) == 0
	if over {
		w.gapOpen = false
	}
	return over
}
