package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/relay"
	"tillwatch/ui/timeline"
	"tillwatch/ui/wording"
)

// shownIntent is what was last printed of an intent.
type shownIntent struct {
	state     api.IntentState
	certainty account.Certainty
	missing   bool
	moments   int
	shipments string
}

// follow prints the intents and then each change, until all have ended.
func (l *intentReader) follow(ctx context.Context) error {
	whole := ctx
	if l.o.atMost > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, l.o.atMost)
		defer stop()
	}
	limited, stop := context.WithTimeout(ctx, l.o.wait)
	for _, id := range l.ids {
		l.tryRead(limited, id)
	}
	stop()
	if err := l.hopeless(); err != nil {
		return err
	}
	events, err := l.subscribe(relay.SubscriberConfig{Since: l.created()})
	if err != nil {
		return err
	}
	l.watcher = account.NewWatcher(account.WatcherConfig{
		Store: l.store, Reader: l.client, Feed: events, WatchIDs: l.ids, Only: l.ids, Poll: l.settings.PollEvery,
	})
	err = alongside(ctx, func(ctx context.Context) error { return l.printChanges(ctx, events != nil) }, l.watcher.Run)
	if err != nil && whole.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &exitError{exitUnknown, fmt.Errorf("not all had ended after %s", api.Span(l.o.atMost))}
	}
	return err
}

// hopeless is why following is pointless: a refused key, or none of the intents
// exists.
func (l *intentReader) hopeless() error {
	missing := 0
	for _, id := range l.ids {
		if errors.Is(l.failed[id], errUnauthorized) {
			return errUnauthorized
		}
		if in, known := l.store.Intent(id); known && in.Missing {
			missing++
		}
	}
	if missing == len(l.ids) {
		return l.unread()
	}
	return nil
}

// printChanges prints what is known once the relay has sent its history, and then each
// change.
func (l *intentReader) printChanges(ctx context.Context, fed bool) error {
	if fed {
		limited, stop := context.WithTimeout(ctx, l.o.wait)
		_ = l.store.Until(limited, func() bool {
			return l.historyOver() || l.store.Summary().API.State == account.APIUnauthorized
		})
		if stop(); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	shown := map[api.ID]shownIntent{}
	ended, failed := false, error(nil)
	err := l.store.Until(ctx, func() bool {
		summary := l.store.Summary()
		if summary.API.State == account.APIUnauthorized {
			failed = errUnauthorized
			return true
		}
		l.historyRead = l.historyRead || summary.Feed.State == account.FeedLive
		ended, failed = l.changes(ctx, shown)
		return ended || failed != nil
	})
	switch {
	case failed != nil:
		return failed
	case ended:
		return l.verdict()
	}
	return err
}

// historyOver reports whether the relay has sent its history or refused.
func (l *intentReader) historyOver() bool {
	state := l.store.Summary().Feed.State
	return state == account.FeedLive || state == account.FeedRefused
}

// changes prints what has changed since it was shown, and reports whether all have
// ended.
func (l *intentReader) changes(ctx context.Context, shown map[api.ID]shownIntent) (ended bool, err error) {
	ended = true
	for i, id := range l.ids {
		in, known := l.store.Intent(id)
		if !known || in.Missing && in.State == "" {
			continue
		}
		if in.State == api.Completed && !in.Open() && len(in.Shipments) == 0 && shown[id].state != api.Completed {
			limited, stop := context.WithTimeout(ctx, l.o.wait)
			l.note(l.readShipments(limited, id))
			stop()
			in, _ = l.store.Intent(id)
		}
		ended = ended && (!in.Open() || in.Missing)
		last, again := shown[id]
		now := l.shown(in)
		if again && now == last {
			continue
		}
		shown[id] = now
		if again && !l.o.json {
			err = l.printNews(in, last)
		} else {
			err = l.print(in, i > 0)
		}
		if err != nil {
			return false, err
		}
	}
	return ended, nil
}

func (l *intentReader) shown(in *account.IntentDetail) shownIntent {
	s := shownIntent{state: in.State, certainty: in.Certainty, missing: in.Missing, moments: len(news(in.Timeline))}
	for _, id := range in.Shipments {
		if sh, known := l.store.Shipment(id); known {
			s.shipments += fmt.Sprintf("%s %s\n", id, sh.Status())
		}
	}
	return s
}

// news are the moments of a timeline that say something new, which leaves out reads
// that changed nothing.
func news(moments []*account.Moment) []*account.Moment {
	return slices.DeleteFunc(slices.Clone(moments), func(m *account.Moment) bool { return m.What == account.Unchanged })
}

// printNews prints the moments since the last print, one per line.
func (l *intentReader) printNews(in *account.IntentDetail, last shownIntent) error {
	learnt := news(in.Timeline)
	for _, m := range learnt[min(last.moments, len(learnt)):] {
		if _, err := fmt.Fprintf(l.stdout, "%s  %s  %s (%s)\n", timeOfDay(m.When), in.ID, timeline.Sentence(m), m.By()); err != nil {
			return err
		}
	}
	if now := l.shown(in); now.shipments != last.shipments {
		for _, id := range in.Shipments {
			if sh, known := l.store.Shipment(id); known {
				if _, err := fmt.Fprintf(l.stdout, "%s  %s  shipment %s %s\n", timeOfDay(time.Now()), in.ID, id, wording.Name(string(sh.Status()))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// verdict is how it ended: no error if every intent is completed.
func (l *intentReader) verdict() error {
	var failed []error
	for _, id := range l.ids {
		in, known := l.store.Intent(id)
		switch {
		case !known || in.Missing:
			failed = append(failed, fmt.Errorf("%s: the service knows no such intent in this environment (%s)", id, l.client.Environment().Name))
		case in.State == api.Failed && in.Failure != nil:
			failed = append(failed, fmt.Errorf("%s failed: %s", id, in.Failure.Code))
		case in.State == api.Failed:
			failed = append(failed, fmt.Errorf("%s failed", id))
		}
	}
	return inOneLine(failed)
}
