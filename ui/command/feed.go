package command

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/relay"
)

// feed makes a relay's subscriber an [account.Feed].
type feed struct {
	subscriber *relay.Subscriber
	store      *account.Store // knows where to resume
}

// Follow implements [account.Feed].
func (f feed) Follow(ctx context.Context, sink account.Sink) error {
	if cursor := f.store.Cursor(); cursor != "" {
		if err := f.subscriber.Resume(cursor); err != nil {
			return err
		}
	}
	return f.subscriber.Run(ctx, handler{sink})
}

type handler struct{ sink account.Sink }

func (h handler) Events(_ context.Context, batch []relay.Item) error {
	arrived := time.Now()
	deliveries := make([]account.Delivery, len(batch))
	for i, item := range batch {
		deliveries[i] = deliveryOf(item)
	}
	h.sink.Deliver(deliveries, arrived)
	return nil
}

func deliveryOf(item relay.Item) account.Delivery {
	return account.Delivery{
		Seq: item.Seq, Event: item.Event, Received: item.Received, Origin: item.Origin, Duplicates: item.Duplicates,
		ID: item.ID,
	}
}

func (h handler) Observe(batch []quota.Observation) { h.sink.Observe(batch) }

func (h handler) Status(s relay.Status) {
	status := account.FeedStatus{
		State: feedState(s.State), Since: s.Since, Epoch: s.Epoch, Head: s.Head, Cursor: s.Cursor, Last: s.Last,
		LostFrom: s.LostFrom, LostTo: s.LostTo, Reset: s.Resume == "reset", Err: s.Err,
		ObservedSince: s.ObservedSince, Wrong: api.Scrub(s.Wrong.String()),
	}
	if s.State == relay.Lost {
		status.RetryAt = s.Since.Add(s.RetryIn)
	}
	h.sink.FeedChanged(status)
}

// pictureSink is an [account.Sink] that only updates the picture. Requests that others
// sent are left out.
type pictureSink struct{ *account.Store }

// Deliver implements [account.Sink].
func (p pictureSink) Deliver(batch []account.Delivery, arrived time.Time) {
	p.ApplyEvents(batch, arrived)
}

// Observe implements [account.Sink].
func (pictureSink) Observe([]quota.Observation) {}

// FeedChanged implements [account.Sink].
func (p pictureSink) FeedChanged(status account.FeedStatus) { p.SetFeed(status) }

func feedState(s relay.StreamState) account.FeedState {
	switch s {
	case relay.Dialling:
		return account.FeedConnecting
	case relay.Replaying:
		return account.FeedReplaying
	case relay.Live:
		return account.FeedLive
	case relay.Refused:
		return account.FeedRefused
	}
	return account.FeedLost
}
