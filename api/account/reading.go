package account

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// dispatch starts reads as they become due. When ctx ends, it waits for those under way.
func (w *Watcher) dispatch(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(w.startDue(time.Now(), func(r *round) {
			group.Go(func() {
				defer w.recovered("read")
				w.perform(ctx, r)
			})
		}))
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// startDue starts every read that may start now. It returns how long none can start unless something changes.
func (w *Watcher) startDue(now time.Time, start func(*round)) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		r, pause := w.next(now)
		if r == nil {
			return pause
		}
		start(r)
	}
}

// round is one read for one or several tasks.
type round struct {
	tasks    []task // of one kind; several only for shipments
	priority quota.Priority
	planned  bool // only time calls for it
}

// next returns the most urgent read that may start now. If there is none, it returns how long none can start
// unless something changes.
func (w *Watcher) next(now time.Time) (*round, time.Duration) {
	j, pause := w.queue.next(now)
	if w.hold.After(now) {
		pause = min(pause, w.hold.Sub(now))
	}
	if j == nil || !w.mayStart(j.priority(), now) {
		return nil, pause
	}
	r := &round{tasks: []task{j.task}, priority: j.priority(), planned: j.asked.IsZero()}
	if j.kind == readShipment {
		r.tasks = w.queue.dueShipments(shipmentsPerList)
	}
	w.queue.begin(r.tasks...)
	w.reading++
	w.refusal.open = false
	if r.priority >= quota.Reconcile {
		w.checking++
	}
	return r, 0
}

func (w *Watcher) mayStart(priority quota.Priority, now time.Time) bool {
	switch {
	case priority == quota.Person:
		return w.reading < w.cfg.Workers+personWorkers
	case w.refusal.stands:
		return w.refusal.open && w.reading == 0
	case priority >= quota.Reconcile:
		return !now.Before(w.hold) && w.reading < w.cfg.Workers && w.checking < max(1, w.cfg.Workers/2)
	case priority >= quota.Timer: // those under way may wait for quota
		return w.reading < max(1, w.cfg.Workers-1)
	}
	return w.reading < w.cfg.Workers
}

// perform does a read and plans what follows.
func (w *Watcher) perform(ctx context.Context, r *round) {
	failed := w.read(quota.WithPriority(ctx, r.priority), r.tasks)
	var failure error // the most telling of several
	for _, err := range failed {
		if failure == nil || errors.Is(err, api.ErrUnauthorized) {
			failure = err
		}
	}
	forbidden := r.tasks[0].kind != readIntent && w.store.forbidShipments(failure)
	switch {
	case failure == nil && r.priority == quota.Reconcile && r.planned:
		w.store.countRead(func(c *ReadCounters) { c.Reconciled++ })
	case failure != nil && ctx.Err() == nil:
		w.store.readFailed(failure)
	}
	w.change(func(now time.Time) {
		w.reading--
		if r.priority >= quota.Reconcile {
			w.checking--
		}
		switch {
		case failure == nil:
			w.acceptKey(now)
		case errors.Is(failure, api.ErrUnauthorized):
			w.refuse(now)
		}
		if len(failed) < len(r.tasks) {
			w.answered = now
		}
		for _, t := range r.tasks {
			w.finish(t, failed[t], r.priority, now)
		}
		if forbidden {
			w.dropShipments()
		}
	})
	w.settleGap()
}

// finish ends a task's read, which failed with err or succeeded, and plans the next.
func (w *Watcher) finish(t task, err error, priority quota.Priority, now time.Time) {
	// A read asked for during this one may be for a later gap.
	if t.kind == readIntent && err == nil && !w.queue.asks(t) {
		delete(w.gapLeft, t.id)
	}
	w.queue.finish(t, err, now)
	if err == nil {
		w.planTask(t, now)
		return
	}
	again := now.Add(backOff(w.queue.failure(t).tries))
	if errors.Is(err, api.ErrUnauthorized) {
		again = w.refusal.next
	}
	w.queue.askAgain(t, again, max(priority, quota.Hint))
}

// read performs tasks, and returns why some failed.
func (w *Watcher) read(ctx context.Context, tasks []task) (failed map[task]error) {
	err := caught(func() (err error) {
		switch tasks[0].kind {
		case readIntent:
			return w.readIntent(ctx, tasks[0].id)
		case listOfIntent:
			return w.readShipmentsOf(ctx, tasks[0].id)
		}
		failed, err = w.readShipments(ctx, tasks)
		return err
	})
	if err != nil {
		return all(tasks, err)
	}
	return failed
}

// all returns err for every task.
func all(tasks []task, err error) map[task]error {
	failed := make(map[task]error, len(tasks))
	for _, t := range tasks {
		failed[t] = err
	}
	return failed
}

const (
	backOffFirst = time.Second
	backOffMost  = time.Minute
)

// backOff is the pause after tries failures in a row. It doubles, and is random within its upper half, so that
// reads that failed together do not return together.
func backOff(tries int) time.Duration {
	span := min(backOffFirst<<min(max(tries-1, 0), 10), backOffMost)
	return span/2 + rand.N(span/2)
}

func (w *Watcher) readIntent(ctx context.Context, id api.ID) error {
	asked := time.Now()
	in, err := w.cfg.Reader.Intent(ctx, id)
	switch {
	case err == nil:
		in.ID = id // the requested id, whatever the answer contains
		w.store.ApplyRead(in, cmp.Or(in.Response.Sent, asked), ByRead)
	case errors.Is(err, api.ErrMissing):
		w.store.ApplyMissing(id, refusedAt(err, asked))
		return nil
	}
	return err
}

// readShipmentsOf reads the list of one intent's shipments.
func (w *Watcher) readShipmentsOf(ctx context.Context, id api.ID) error {
	asked := time.Now()
	list, err := collect(w.cfg.Reader.IntentShipments(ctx, id))
	incomplete := errors.Is(err, api.ErrIncomplete)
	if err != nil && !incomplete && !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrNotServed) {
		return err
	}
	for i := range list {
		if list[i].IntentID == "" {
			list[i].IntentID = id
		}
	}
	if incomplete {
		w.store.ApplyShipments(list, listedAt(list, asked))
		return err
	}
	w.store.ApplyIntentShipments(id, list, listedAt(list, asked))
	return nil
}

// readShipments reads one shipment by its id, and several by one list. Those that the list leaves out are read by
// their ids; a failure of one says nothing about the others.
func (w *Watcher) readShipments(ctx context.Context, tasks []task) (failed map[task]error, err error) {
	left := tasks
	if len(tasks) > 1 {
		if left, err = w.listShipments(ctx, tasks); err != nil {
			return nil, err
		}
	}
	failed = map[task]error{}
	for i, t := range left {
		err := w.readShipment(ctx, t.id)
		if err == nil {
			continue
		}
		failed[t] = err
		if unreadable := (*api.UnreadableError)(nil); !errors.As(err, &unreadable) {
			maps.Copy(failed, all(left[i:], err))
			break
		}
	}
	return failed, nil
}

// listShipments reads shipments by one list and returns those it left out.
func (w *Watcher) listShipments(ctx context.Context, tasks []task) (left []task, err error) {
	query := api.ShipmentQuery{Limit: len(tasks)}
	for _, t := range tasks {
		query.IDs = append(query.IDs, t.id)
	}
	asked := time.Now()
	list, err := collect(w.cfg.Reader.Shipments(ctx, query))
	switch {
	case err == nil, errors.Is(err, api.ErrIncomplete):
		w.store.ApplyShipments(list, listedAt(list, asked))
	case errors.Is(err, api.ErrNotFound), errors.Is(err, api.ErrNotServed), errors.Is(err, api.ErrValidation):
		return tasks, nil
	default:
		return nil, err
	}
	for _, t := range tasks {
		if !slices.ContainsFunc(list, func(sh api.Shipment) bool { return sh.ID == t.id }) {
			left = append(left, t)
		}
	}
	return left, nil
}

func (w *Watcher) readShipment(ctx context.Context, id api.ID) error {
	asked := time.Now()
	sh, err := w.cfg.Reader.Shipment(ctx, id)
	switch {
	case err == nil:
		sh.ID = id
		w.store.ApplyShipments([]api.Shipment{sh}, cmp.Or(sh.Response.Sent, asked))
	case errors.Is(err, api.ErrMissing):
		w.store.ApplyMissingShipment(id, refusedAt(err, asked))
		return nil
	}
	return err
}

// listedAt returns when the first page of a list was requested, asked if the list is empty: its content is no
// older.
func listedAt(list []api.Shipment, asked time.Time) time.Time {
	if len(list) == 0 {
		return asked
	}
	return cmp.Or(list[0].Response.Sent, asked)
}

// refusedAt returns when the refused request was sent, asked if unknown.
func refusedAt(err error, asked time.Time) time.Time {
	if refusal := (*api.Error)(nil); errors.As(err, &refusal) {
		return cmp.Or(refusal.Sent, asked)
	}
	return asked
}

// collect returns a list's items, up to an error that ends it. It leaves out items that cannot be read.
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

// isOneItem reports whether err concerns one item, so that the list goes on.
func isOneItem(err error) bool {
	var item *api.ItemError
	return errors.As(err, &item)
}
