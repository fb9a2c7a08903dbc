package session

import (
	"context"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/ui/config"
)

// NewSubscriber makes a subscriber of the configured relay.
func NewSubscriber(s config.Settings, c relay.SubscriberConfig) (*relay.Subscriber, error) {
	c.URL, c.Token, c.InsecureHTTP = s.RelayURL, s.RelayToken, s.InsecureHTTP
	subscriber, err := relay.NewSubscriber(c)
	if err != nil {
		return nil, config.WrongAddress(err)
	}
	return subscriber, nil
}

// Subscribe makes the feed of the relay's events, from the oldest or from c's Since on; nil without a relay.
func (s *Session) Subscribe(c relay.SubscriberConfig) (account.Feed, error) {
	if s.Settings.RelayURL == "" {
		return nil, nil
	}
	if err := s.Settings.RequireAccount(); err != nil {
		return nil, err
	}
	c.From, c.Client = relay.FromEarliest, "tillwatch"
	subscriber, err := NewSubscriber(s.Settings, c)
	if err != nil {
		return nil, err
	}
	s.Retry = subscriber.Retry
	return feed{subscriber, s.Store}, nil
}

// feed makes a relay's subscriber an [account.Feed], which resumes where the picture is.
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
		deliveries[i] = DeliveryOf(item)
	}
	h.sink.Deliver(deliveries, arrived)
	return nil
}

// DeliveryOf is an event of the relay as the picture takes it.
func DeliveryOf(item relay.Item) account.Delivery {
	return account.Delivery{
		Seq: item.Seq, Event: item.Event, Received: item.Received, Origin: item.Origin, Duplicates: item.Duplicates,
		ID: item.ID,
	}
}

func (h handler) Observe(batch []quota.Observation) { h.sink.Observe(batch) }

func (h handler) Status(s relay.Status) {
	states := map[relay.StreamState]account.FeedState{
		relay.Dialling: account.FeedConnecting, relay.Replaying: account.FeedReplaying, relay.Live: account.FeedLive,
		relay.Lost: account.FeedLost, relay.Refused: account.FeedRefused,
	}
	status := account.FeedStatus{
		State: states[s.State], Since: s.Since, Epoch: s.Epoch, Head: s.Head, Cursor: s.Cursor, Last: s.Last,
		LostFrom: s.LostFrom, LostTo: s.LostTo, Reset: s.Resume == "reset", Err: s.Err,
		ObservedSince: s.ObservedSince, Wrong: api.Scrub(s.Wrong.String()),
	}
	if s.State == relay.Lost {
		status.RetryAt = s.Since.Add(s.RetryIn)
	}
	h.sink.FeedChanged(status)
}

// PictureSink is an [account.Sink] that only updates the picture. Requests that others sent are left out.
type PictureSink struct{ *account.Store }

// Deliver implements [account.Sink].
func (p PictureSink) Deliver(batch []account.Delivery, arrived time.Time) {
	p.ApplyEvents(batch, arrived)
}

// Observe implements [account.Sink].
func (PictureSink) Observe([]quota.Observation) {}

// FeedChanged implements [account.Sink].
func (p PictureSink) FeedChanged(status account.FeedStatus) { p.SetFeed(status) }
