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
	intent, anyIntent := w.intents.peek(now)
	shipment, anyShipment := w.shipments.peek(now)
	best, shipments := intent, false
	if anyShipment && (!anyIntent || w.shipmentsFirst(shipment, intent)) {
		best, shipments = shipment, true
	}
	if !anyIntent && !anyShipment || !w.mayStart(best.priority, now) {
		return nil
	}
	w.listed = shipments
	w.started(best.priority)
	if !shipments {
		w.intents.begin(best.task)
		read := w.readIntent
		if best.list {
			read = w.listOfIntent
		}
		return func(ctx context.Context) { w.perform(ctx, round{w.intents, []task{best.task}, best, read}) }
	}
	var batch []task
	for more := true; more && len(batch) < shipmentsPerList; shipment, more = w.shipments.peek(now) {
		w.shipments.begin(shipment.task)
		batch = append(batch, shipment.task)
	}
	return func(ctx context.Context) { w.perform(ctx, round{w.shipments, batch, best, w.readShipments}) }
}

// shipmentsFirst reports whether shipments are read before an intent. Of equal
// priorities they take turns: one list tells of many shipments, and of the
// intents the open ones should not wait for long. Ended ones can.
func (w *Watcher) shipmentsFirst(shipment, intent wanted) bool {
	if shipment.priority != intent.priority {
		return shipment.priority < intent.priority
	}
	return intent.last || !w.listed
}

func (w *Watcher) mayStart(priority quota.Priority, now time.Time) bool {
	switch {
	case priority == quota.Person:
		return w.reading < w.cfg.Workers+personWorkers
	case w.refusal.stands:
		return w.refusal.open && w.reading == 0
	case priority >= quota.Reconcile:
		return !now.Before(w.hold) && w.reading < w.cfg.Workers && w.checking < max(1, w.cfg.Workers/2)
	}
	return w.reading < w.cfg.Workers
}

func (w *Watcher) started(priority quota.Priority) {
	w.reading++
	w.refusal.open = false
	if priority >= quota.Reconcile {
		w.checking++
	}
}

// pause is how long nothing new can start unless something stirs.
func (w *Watcher) pause(now time.Time) time.Duration {
	pause := time.Minute
	for _, q := range []*queue{w.intents, w.shipments} {
		if due, ok := q.nextDue(); ok {
			pause = min(pause, due.Sub(now))
		}
	}
	if w.hold.After(now) {
		pause = min(pause, w.hold.Sub(now))
	}
	return max(pause, 0)
}

// reading reads what tasks name. With an error it tells which of them have to be
// read again.
type reading func(ctx context.Context, tasks []task) (failed map[task]bool, err error)

// round is one read for all of its tasks.
type round struct {
	q     *queue
	tasks []task
	first wanted // of the tasks
	read  reading
}

// perform does a read and decides what follows from how it ended.
func (w *Watcher) perform(ctx context.Context, r round) {
	q, tasks, priority := r.q, r.tasks, r.first.priority
	failed, err := guarded(quota.WithPriority(ctx, priority), tasks, r.read)
	if err == nil && priority == quota.Reconcile && r.first.planned {
		w.store.countRead(func(c *ReadCounters) { c.Reconciled++ })
	}
	if err != nil && ctx.Err() == nil {
		w.store.countRead(func(c *ReadCounters) { c.Failed++ })
		if errors.Is(err, api.ErrUnauthorized) {
			w.store.updateHealth(func(h *health, now time.Time) { h.refuseKey(err, now) })
		}
	}
	now := time.Now()
	w.mu.Lock()
	w.reading--
	if priority >= quota.Reconcile {
		w.checking--
	}
	for _, t := range tasks {
		// Whoever asked during the read may have asked because of a gap.
		if q == w.intents && !t.list && err == nil && !q.asks(t) {
			delete(w.gapLeft, t.id)
		}
		q.finish(t, failed[t])
	}
	w.noteReads(q == w.shipments, tasks, failed, err, now)
	w.follows(q, tasks, failed, priority, err, now)
	w.mu.Unlock()
	w.settleGap()
	w.stir()
}

// follows plans what comes after a read.
func (w *Watcher) follows(q *queue, tasks []task, failed map[task]bool, priority quota.Priority, err error, now time.Time) {
	switch {
	case err == nil:
		w.acceptKey(now)
	case errors.Is(err, api.ErrUnauthorized):
		w.refuse(now)
	}
	for _, t := range tasks {
		switch {
		case failed[t] && errors.Is(err, api.ErrUnauthorized):
			q.ask(t, w.refusal.next, max(priority, quota.Hint))
		case failed[t]:
			q.ask(t, now.Add(backOff(q.tries(t))), max(priority, quota.Hint))
		case q == w.intents:
			w.planNoticed(&notice{intent: t.id}, now)
		default:
			w.planNoticed(&notice{shipment: t.id}, now)
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
func guarded(ctx context.Context, tasks []task, read reading) (failed map[task]bool, err error) {
	failed = all(tasks)
	err = caught(func() (err error) {
		failed, err = read(ctx, tasks)
		return err
	})
	return failed, err
}

func all(tasks []task) map[task]bool {
	set := make(map[task]bool, len(tasks))
	for _, t := range tasks {
		set[t] = true
	}
	return set
}

func (w *Watcher) readIntent(ctx context.Context, tasks []task) (failed map[task]bool, err error) {
	id := tasks[0].id
	asked := time.Now()
	in, err := w.cfg.Reader.Intent(ctx, id)
	switch {
	case err == nil:
		in.ID = id // what was asked for, whatever the answer calls itself
		w.store.ApplyRead(in, cmp.Or(in.Response.Sent, asked), ByRead)
	case errors.Is(err, api.ErrNotFound):
		w.store.ApplyMissing(id, refusedAt(err, asked))
	default:
		return all(tasks), err
	}
	return nil, nil
}

// listOfIntent reads the shipments of one intent, once.
func (w *Watcher) listOfIntent(ctx context.Context, tasks []task) (failed map[task]bool, err error) {
	id := tasks[0].id
	asked := time.Now()
	list, err := collect(w.cfg.Reader.IntentShipments(ctx, id))
	if err != nil && !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrNotServed) {
		return all(tasks), err
	}
	for i := range list {
		if list[i].IntentID == "" {
			list[i].IntentID = id
		}
	}
	w.store.ApplyIntentShipments(id, list, listedAt(list, asked))
	return nil, nil
}

// readShipments reads one shipment by itself and several by one list. What a list
// leaves out is asked for by itself; one that cannot be read says nothing of the
// others.
func (w *Watcher) readShipments(ctx context.Context, tasks []task) (failed map[task]bool, err error) {
	left := tasks
	if len(tasks) > 1 {
		if left, err = w.listShipments(ctx, tasks); err != nil {
			return all(tasks), err
		}
	}
	failed = map[task]bool{}
	for i, t := range left {
		readErr := w.readShipment(ctx, t.id)
		if readErr == nil {
			continue
		}
		failed[t], err = true, readErr
		if unreadable := (*api.UnreadableError)(nil); !errors.As(readErr, &unreadable) {
			maps.Copy(failed, all(left[i:]))
			break
		}
	}
	return failed, err
}

// listShipments reads shipments by one list and returns those that it left out.
func (w *Watcher) listShipments(ctx context.Context, tasks []task) (left []task, err error) {
	query := api.ShipmentQuery{Limit: len(tasks)}
	for _, t := range tasks {
		query.IDs = append(query.IDs, t.id)
	}
	asked := time.Now()
	list, err := collect(w.cfg.Reader.Shipments(ctx, query))
	switch {
	case err == nil:
		w.store.ApplyShipments(list, listedAt(list, asked))
	case errors.Is(err, api.ErrNotFound), errors.Is(err, api.ErrNotServed), errors.Is(err, api.ErrValidation):
		return tasks, nil
	default:
		return nil, err
	}
	for i, t := range tasks {
		if !slices.ContainsFunc(list, func(sh api.Shipment) bool { return sh.ID == query.IDs[i] }) {
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
	case errors.Is(err, api.ErrNotFound):
		w.store.ApplyMissingShipment(id, refusedAt(err, asked))
		return nil
	}
	return err
}

// listedAt is when the first page of a list was asked for: what the list says is
// not older. A list without items does not say it.
func listedAt(list []api.Shipment, asked time.Time) time.Time {
	if len(list) == 0 {
		return asked
	}
	return cmp.Or(list[0].Response.Sent, asked)
}

// refusedAt is when what the service refused was asked for.
func refusedAt(err error, asked time.Time) time.Time {
	if refusal := (*api.Error)(nil); errors.As(err, &refusal) {
		return cmp.Or(refusal.Sent, asked)
	}
	return asked
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
