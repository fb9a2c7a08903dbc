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

// listPage is the size of the service's pages unless a request sets another.
const listPage = 100

const (
	sweepPolls = 18            // poll intervals between two reads of the newest shipments
	sweepItems = 10 * listPage // how many of the newest shipments are read at the start
)

// serviceList is how one of the service's lists is read.
type serviceList[V any] struct {
	kind    listKind
	every   time.Duration // between two reads of the list
	most    int           // items to take at most
	deep    bool          // the first read continues after a page without news
	items   func(ctx context.Context) iter.Seq2[V, error]
	sent    func(item V) time.Time
	merge   func(page []V, sent time.Time) (news bool)
	refuses func(err error) bool // says that the service has no such list
}

// keepListing reads the service's list of intents: first to its end, then its newest pages at intervals, because
// only they show an intent before its offer. If the service has no such list, it asks once.
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

// keepSweeping finds shipments on the service's list of them (contract, Endpoints): on several pages at the start
// if no feed reports them, then on the newest page at intervals. If the service does not list without ids, it asks
// once.
func (w *Watcher) keepSweeping(ctx context.Context) {
	<-w.asked // intents on the list need not be read one by one because a shipment names them
	// At first the feed itself reports what this list would show.
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
			return errors.Is(err, api.ErrNotServed) || errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrValidation) ||
				errors.Is(err, api.ErrScope) && w.store.readsUnlisted()
		},
	})
}

// scopeTrial is how often a list that the key may not read is tried: its owner may have given it the scope.
const scopeTrial = time.Hour

// keepReading reads a list at intervals, until the service refuses it or ctx ends.
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
		case errors.Is(err, api.ErrScope) && w.store.forbids(l.kind):
			pause = scopeTrial
		default:
			failed++
			pause = listPause(failed, err)
		}
		if !w.nap(ctx, pause) {
			return
		}
	}
}

// readList reads a list: everything at first, later its newest pages up to one that holds nothing new. All pages
// count as sent with the first, so that nothing old overwrites anything newer.
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
	if len(page) > 0 || taken == 0 { // an empty list counts as read
		flush()
	}
	if !again {
		status.State = end
	}
	status.Err = nil
	w.listRead(l.kind, status)
	return nil
}

// listRead records how much of a list was read. If the key was forbidden it until now, the shipments are asked for.
func (w *Watcher) listRead(kind listKind, status ListStatus) {
	permitted := w.store.forbids(kind)
	w.store.setList(kind, status)
	w.change(func(now time.Time) {
		w.answered = now
		w.acceptKey(now)
		if permitted {
			w.askShipments(now)
		}
	})
}

// listFailed records why a list could not be read to its end. If the service has no such list, that is no failure.
func (w *Watcher) listFailed(ctx context.Context, kind listKind, status ListStatus, refused bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused:
		status = ListStatus{State: ListNotServed}
	case kind == shipmentList && w.store.forbidShipments(err):
		w.change(func(time.Time) { w.dropShipments() })
		return err
	default:
		w.store.readFailed(err)
		w.judgeKey(time.Now())
		if status.State != ListForbidden {
			status.Err = err
		}
	}
	w.store.setList(kind, status)
	return err
}

// applySweep merges a page of the list of shipments, except those that ended long ago and are not known. It
// reports whether anything was new.
func (s *Store) applySweep(page []api.Shipment, sent time.Time) (news bool) {
	var concern []api.Shipment
	s.update(func(now time.Time) {
		s.intents.reads.Reconciled++
		for i := range page {
			sh := &page[i]
			past := sh.Status.Terminal() && now.Sub(sh.UpdatedAt) > verifyEndsWithin
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
