package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// listPage is how many items a page of the service has unless asked otherwise.
const listPage = 100

const (
	sweepPolls = 18            // poll intervals between two looks at the newest shipments
	sweepItems = 10 * listPage // of the newest shipments, read at the start
)

// serviceList is one of the service's lists, and how it is read.
type serviceList[V any] struct {
	kind    listKind
	every   time.Duration // between two readings
	most    int           // items that are taken of it
	deep    bool          // the first reading goes on behind a page without news
	items   func(ctx context.Context) iter.Seq2[V, error]
	sent    func(item V) time.Time
	merge   func(page []V, sent time.Time) (news bool)
	refuses func(err error) bool // the service has no such list
}

// keepListing reads the list of intents that a service may or may not have: to
// its end at first, then its newest pages again and again, as they alone show an
// intent before its offer. A service without the list is asked once.
func (w *Watcher) keepListing(ctx context.Context) {
	tried := sync.OnceFunc(func() { close(w.asked) })
	defer tried()
	keepReading(ctx, w, tried, serviceList[api.Intent]{
		kind: intentList, every: w.cfg.ListEvery, most: w.cfg.List, deep: true,
		items:   w.cfg.Reader.Intents,
		sent:    func(in api.Intent) time.Time { return in.Response.Sent },
		merge:   w.store.ApplyList,
		refuses: func(err error) bool { return errors.Is(err, api.ErrNotServed) },
	})
}

// keepSweeping looks for shipments on the service's list of them (contract,
// Endpoints): on several pages at the start where no feed reports them, then on the
// newest again and again. A service that does not answer a list without ids is asked
// once.
func (w *Watcher) keepSweeping(ctx context.Context) {
	<-w.asked // what the list of intents shows need not be read one by one, because a shipment names it
	// At first a feed reports what the list of shipments would show.
	if w.cfg.Feed != nil && !w.nap(ctx, sweepPolls*w.cfg.Poll) {
		return
	}
	keepReading(ctx, w, func() {}, serviceList[api.Shipment]{
		kind: shipmentList, every: sweepPolls * w.cfg.Poll, most: sweepItems, deep: w.cfg.Feed == nil,
		items: func(ctx context.Context) iter.Seq2[api.Shipment, error] {
			return w.cfg.Reader.Shipments(ctx, api.ShipmentQuery{})
		},
		sent:  func(sh api.Shipment) time.Time { return sh.Response.Sent },
		merge: w.store.applySweep,
		refuses: func(err error) bool {
			return errors.Is(err, api.ErrNotServed) || errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrValidation)
		},
	})
}

// keepReading reads a list again and again, until the service refuses it or ctx ends.
func keepReading[V any](ctx context.Context, w *Watcher, tried func(), l serviceList[V]) {
	if len(w.cfg.Only) > 0 {
		return
	}
	for failed := 0; ; {
		pause := l.every
		err := caught(func() error { return readList(ctx, w, l) })
		tried()
		switch {
		case err == nil:
			failed = 0
		case l.refuses(err):
			return
		default:
			failed++
			pause = listPause(failed, err)
		}
		if !w.nap(ctx, pause) {
			return
		}
	}
}

// readList reads a list: all that is taken of it at first, then its newest pages up
// to one that holds nothing new. All of it counts as sent when its first page was: an
// older truth never overwrites a newer one.
func readList[V any](ctx context.Context, w *Watcher, l serviceList[V]) error {
	status := look(w.store, func() ListStatus { return w.store.lists.status[l.kind] })
	sent, taken := time.Now(), 0
	again := status.State == ListWhole || status.State == ListCut
	if !again {
		status.Unreadable = 0
	}
	var page []V
	flush := func() (news bool) {
		news = l.merge(page, sent)
		page = nil
		if !again && l.kind == intentList {
			status.State, status.Intents = ListPartly, taken
			w.store.setList(l.kind, status)
		}
		return news
	}
	end := ListWhole
	for item, err := range l.items(quota.WithPriority(ctx, quota.Reconcile)) {
		switch {
		case isOneItem(err):
			if !again {
				status.Unreadable++
			}
			continue
		case err != nil:
			if len(page) > 0 {
				flush()
			}
			return w.listFailed(ctx, l.kind, status, l.refuses(err), err)
		}
		if taken == 0 {
			sent = cmp.Or(l.sent(item), sent)
		}
		page = append(page, item)
		taken++
		if len(page) < listPage && taken < l.most {
			continue
		}
		if news := flush(); taken == l.most || !news && (again || !l.deep) {
			end = ListCut
			break
		}
	}
	if len(page) > 0 || taken == 0 { // a list without items was read, too
		flush()
	}
	if !again {
		status.State = end
	}
	status.Err = nil
	w.change(func(now time.Time) {
		w.answered = now
		w.acceptKey(now)
	})
	w.store.setList(l.kind, status)
	return nil
}

// listFailed notes why a list could not be read to its end. That the service has no
// such list is no failure.
func (w *Watcher) listFailed(ctx context.Context, kind listKind, status ListStatus, refused bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused:
		status = ListStatus{State: ListNotServed}
	default:
		w.store.readFailed(err)
		w.judgeKey(time.Now())
		status.Err = err
	}
	w.store.setList(kind, status)
	return err
}

// applySweep merges a page of the list of shipments, but for those that ended
// long ago and that nothing else has named. It reports whether there was anything
// new.
func (s *Store) applySweep(page []api.Shipment, sent time.Time) (news bool) {
	var concern []api.Shipment
	s.update(func(now time.Time) {
		s.intents.reads.Reconciled++
		for i := range page {
			sh := &page[i]
			past := sh.Status.Terminal() && now.Sub(sh.UpdatedAt) > verifyEndsWithin || s.intents.past.has(sh.IntentID)
			if !past || s.shipments.get(sh.ID) != nil || s.intents.get(sh.IntentID) != nil {
				concern = append(concern, *sh)
			}
		}
	})
	return s.ApplyShipments(concern, sent)
}

// caught turns a panic of a reader into an error.
func caught(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read: %v", p)
		}
	}()
	return work()
}
