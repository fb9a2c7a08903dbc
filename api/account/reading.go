package account

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// dispatch starts reads as they become due, and waits for those under way when
// ctx ends.
func (w *Watcher) dispatch(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		w.mu.Lock()
		for {
			read := w.next(now)
			if read == nil {
				break
			}
			group.Go(func() {
				defer w.recovered("read")
				read(ctx)
			})
		}
		pause := w.pause(now)
		w.mu.Unlock()
		timer.Reset(pause)
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// next takes the most urgent read that may start now.
func (w *Watcher) next(now time.Time) func(context.Context) {
	intent, parcel := w.intents.peek(now), w.parcels.peek(now)
	best := intent
	if intent == nil || parcel != nil && w.parcelsFirst(parcel, intent) {
		best = parcel
	}
	if best == nil || !w.mayStart(best, now) {
		return nil
	}
	priority := best.priority
	w.listed = best == parcel
	if best == intent {
		w.intents.begin(best)
		w.started(priority)
		if best.task.list {
			return func(ctx context.Context) { w.perform(ctx, w.intents, []*job{best}, priority, w.listShipments) }
		}
		return func(ctx context.Context) { w.perform(ctx, w.intents, []*job{best}, priority, w.readIntent) }
	}
	var batch []*job
	for best != nil && len(batch) < parcelsPerList {
		w.parcels.begin(best)
		batch = append(batch, best)
		best = w.parcels.peek(now)
	}
	w.started(priority)
	return func(ctx context.Context) { w.perform(ctx, w.parcels, batch, priority, w.readParcels) }
}

// parcelsFirst reports whether shipments are read before an intent. Of equal
// priorities they take turns: one list tells of many shipments, and of the
// intents the open ones should not wait for long. Ended ones can.
func (w *Watcher) parcelsFirst(parcel, intent *job) bool {
	if parcel.priority != intent.priority {
		return parcel.priority < intent.priority
	}
	return intent.last || !w.listed
}

func (w *Watcher) mayStart(j *job, now time.Time) bool {
	switch {
	case j.priority == quota.Person:
		return w.reading < w.cfg.Workers+personWorkers
	case now.Before(w.refused):
		return false
	case j.priority >= quota.Reconcile:
		return !now.Before(w.hold) && w.reading < w.cfg.Workers && w.checking < max(1, w.cfg.Workers/2)
	}
	return w.reading < w.cfg.Workers
}

func (w *Watcher) started(priority quota.Priority) {
	w.reading++
	if priority >= quota.Reconcile {
		w.checking++
	}
}

// pause is how long nothing new can start unless something stirs.
func (w *Watcher) pause(now time.Time) time.Duration {
	pause := time.Minute
	for _, q := range []*queue{w.intents, w.parcels} {
		if due, ok := q.nextDue(); ok {
			pause = min(pause, due.Sub(now))
		}
	}
	for _, until := range []time.Time{w.hold, w.refused} {
		if until.After(now) {
			pause = min(pause, until.Sub(now))
		}
	}
	return max(pause, 0)
}

// reading reads what jobs name. With an error it tells which of them have to be
// read again.
type reading func(ctx context.Context, jobs []*job) (failed map[*job]bool, err error)

// perform does one read for all of jobs and decides what follows from how it
// ended.
func (w *Watcher) perform(ctx context.Context, q *queue, jobs []*job, priority quota.Priority, read reading) {
	failed, err := guarded(quota.WithPriority(ctx, priority), jobs, read)
	if err != nil && ctx.Err() == nil {
		w.store.countFailedRead()
		if errors.Is(err, api.ErrUnauthorized) {
			w.store.refuseKey(err)
		}
	}
	now := time.Now()
	w.mu.Lock()
	w.reading--
	if priority >= quota.Reconcile {
		w.checking--
	}
	for _, j := range jobs {
		// Whoever asked during the read may have asked because of a gap.
		if q == w.intents && err == nil && j.asked.due.IsZero() {
			delete(w.gapLeft, j.task)
		}
		q.finish(j, failed[j])
	}
	w.follows(q, jobs, failed, priority, err, now)
	w.mu.Unlock()
	w.settleGap()
	w.stir()
}

// follows plans what comes after a read.
func (w *Watcher) follows(q *queue, jobs []*job, failed map[*job]bool, priority quota.Priority, err error, now time.Time) {
	switch {
	case err == nil && !w.refused.IsZero():
		w.refused = time.Time{}
		w.reconcile(now, now)
	case errors.Is(err, api.ErrUnauthorized):
		w.refused = now.Add(refusedPause)
	}
	for _, j := range jobs {
		switch {
		case failed[j] && errors.Is(err, api.ErrUnauthorized):
			q.ask(j.task, w.refused, max(priority, quota.Hint))
		case failed[j]:
			q.ask(j.task, now.Add(backOff(j.tries)), max(priority, quota.Hint))
		case q == w.intents:
			w.planIntent(j.task.id, now)
		default:
			w.planParcel(j.task.id, now)
		}
	}
}

const (
	backOffFirst = time.Second
	backOffMost  = time.Minute
)

// backOff is the pause after so many failures in a row: doubling, and anywhere
// in its upper half, so that what failed together does not return together.
func backOff(tries int) time.Duration {
	span := min(backOffFirst<<min(max(tries-1, 0), 10), backOffMost)
	return span/2 + rand.N(span/2)
}

// guarded turns a panic of a reader into an error.
func guarded(ctx context.Context, jobs []*job, read reading) (failed map[*job]bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, err = all(jobs), fmt.Errorf("read: %v", p)
		}
	}()
	return read(ctx, jobs)
}

func all(jobs []*job) map[*job]bool {
	set := make(map[*job]bool, len(jobs))
	for _, j := range jobs {
		set[j] = true
	}
	return set
}

func (w *Watcher) readIntent(ctx context.Context, jobs []*job) (failed map[*job]bool, err error) {
	id := jobs[0].task.id
	sent := time.Now()
	in, err := w.cfg.Reader.Intent(ctx, id)
	switch {
	case err == nil:
		in.ID = id // what was asked for, whatever the answer calls itself
		w.store.ApplyRead(in, sent, ByRead)
	case errors.Is(err, api.ErrNotFound):
		w.store.ApplyMissing(id, sent)
	default:
		return all(jobs), err
	}
	return nil, nil
}

// listShipments reads the shipments of one intent, once.
func (w *Watcher) listShipments(ctx context.Context, jobs []*job) (failed map[*job]bool, err error) {
	id := jobs[0].task.id
	sent := time.Now()
	list, err := collect(w.cfg.Reader.IntentShipments(ctx, id))
	if err != nil && !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrNotServed) {
		return all(jobs), err
	}
	for i := range list {
		if list[i].IntentID == "" {
			list[i].IntentID = id
		}
	}
	w.store.ApplyIntentShipments(id, list, sent)
	return nil, nil
}

// readParcels reads one shipment by itself and several by one list. What a list
// leaves out is asked for by itself; one that cannot be read says nothing of the
// others.
func (w *Watcher) readParcels(ctx context.Context, jobs []*job) (failed map[*job]bool, err error) {
	left := jobs
	if len(jobs) > 1 {
		if left, err = w.listParcels(ctx, jobs); err != nil {
			return all(jobs), err
		}
	}
	failed = map[*job]bool{}
	for i, j := range left {
		readErr := w.readParcel(ctx, j.task.id)
		if readErr == nil {
			continue
		}
		failed[j], err = true, readErr
		if unreadable := (*api.UnreadableError)(nil); !errors.As(readErr, &unreadable) {
			maps.Copy(failed, all(left[i:]))
			break
		}
	}
	return failed, err
}

// listParcels reads shipments by one list and returns those that it left out.
func (w *Watcher) listParcels(ctx context.Context, jobs []*job) (left []*job, err error) {
	query := api.ShipmentQuery{Limit: len(jobs)}
	for _, j := range jobs {
		query.IDs = append(query.IDs, j.task.id)
	}
	sent := time.Now()
	list, err := collect(w.cfg.Reader.Shipments(ctx, query))
	switch {
	case err == nil:
		w.store.ApplyShipments(list, sent)
	case errors.Is(err, api.ErrNotFound), errors.Is(err, api.ErrNotServed), errors.Is(err, api.ErrValidation):
		return jobs, nil
	default:
		return nil, err
	}
	for _, j := range jobs {
		if !slices.ContainsFunc(list, func(sh api.Shipment) bool { return sh.ID == j.task.id }) {
			left = append(left, j)
		}
	}
	return left, nil
}

func (w *Watcher) readParcel(ctx context.Context, id api.ID) error {
	sent := time.Now()
	sh, err := w.cfg.Reader.Shipment(ctx, id)
	switch {
	case err == nil:
		sh.ID = id
		w.store.ApplyShipments([]api.Shipment{sh}, sent)
	case errors.Is(err, api.ErrNotFound):
		w.store.ApplyMissingShipment(id, sent)
		return nil
	}
	return err
}

// collect takes a list whole, or as far as it came. An item that cannot be read
// is left out.
func collect[T any](list iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for item, err := range list {
		switch {
		case err == nil:
			all = append(all, item)
		case !isOneItem(err):
			return all, err
		}
	}
	return all, nil
}

// isOneItem reports whether a list goes on after err.
func isOneItem(err error) bool {
	var item *api.ItemError
	return errors.As(err, &item)
}
