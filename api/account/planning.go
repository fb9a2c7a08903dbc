package account

import (
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// signalled plans the reads that the store's changes call for.
func (w *Watcher) signalled(signals []signal) {
	w.change(func(now time.Time) {
		for i := range signals {
			w.planSignalled(&signals[i], now)
		}
	})
}

func (w *Watcher) planSignalled(n *signal, now time.Time) {
	if n.shipment != "" {
		sh, known := w.store.Shipment(n.shipment)
		if !known {
			w.queue.forget(task{readShipment, n.shipment})
			return
		}
		w.planShipment(sh, now)
		if n.hint {
			w.askShipment(sh, now.Add(settleShipments), n.priority())
		}
		return
	}
	in := w.store.intent(n.intent)
	if in == nil {
		w.queue.forget(task{readIntent, n.intent})
		w.queue.forget(task{listOfIntent, n.intent})
		delete(w.gapLeft, n.intent)
		return
	}
	w.planIntent(in, now)
	if n.hint {
		w.askIntent(in, now.Add(settleHint), n.priority())
	} else if n.again {
		w.askIntent(in, now.Add(w.cfg.Poll/30), quota.Timer)
	}
}

func (n *signal) priority() quota.Priority {
	if n.fresh {
		return quota.Hint
	}
	return quota.Reconcile
}

// planTask plans the next read of what a task reads.
func (w *Watcher) planTask(t task, now time.Time) {
	if t.kind == readShipment {
		w.planSignalled(&signal{shipment: t.id}, now)
	} else {
		w.planSignalled(&signal{intent: t.id}, now)
	}
}

func (w *Watcher) scheduleInput() scheduleInput {
	var unheard time.Time
	if w.cfg.Feed != nil || len(w.cfg.Only) > 0 {
		unheard = w.began
	}
	return scheduleInput{
		unheard: unheard,
		habits:  w.store.habits(),
		fed:     w.feed == FeedLive,
		lost:    w.feed != FeedLive && w.cfg.Feed != nil,
		poll:    w.cfg.Poll, slow: w.slow,
	}
}

// wanted reports whether an intent may be read.
func (w *Watcher) wanted(id api.ID) bool {
	if w.cfg.Order != "" {
		in := w.store.intent(id)
		return in == nil || in.ReferenceID == w.cfg.Order || in.unplaced()
	}
	return len(w.cfg.Only) == 0 || slices.Contains(w.cfg.Only, id)
}

// unplaced reports whether an intent may belong to any order: only a read shows that it has no reference.
func (i *IntentDetail) unplaced() bool { return i.ReferenceID == "" && i.basis.newest.IsZero() }

// wantsShipments is [Watcher.wanted] for the shipments of an intent: none are while the key may not read them.
func (w *Watcher) wantsShipments(intent api.ID) bool {
	wanted := w.wanted(intent)
	if in := w.store.intent(intent); in != nil && w.cfg.Order != "" {
		wanted = in.ReferenceID == w.cfg.Order
	}
	return wanted && !w.store.forbids(shipmentList)
}

// dropShipments withdraws the reads of shipments, which the key may not read.
func (w *Watcher) dropShipments() {
	for t := range w.queue.jobs {
		if t.kind != readIntent {
			w.queue.forget(t)
		}
	}
}

// askShipments makes up for [Watcher.dropShipments].
func (w *Watcher) askShipments(now time.Time) {
	for _, in := range look(w.store, func() []*IntentDetail { return slices.Collect(maps.Values(w.store.intents.byID)) }) {
		w.planIntent(in, now)
	}
	for _, sh := range w.store.openShipments() {
		w.askShipment(sh, now, quota.Hint)
	}
}

// planIntent plans the reads of an intent that only time calls for.
func (w *Watcher) planIntent(in *IntentDetail, now time.Time) {
	if !w.wanted(in.ID) {
		return
	}
	input, read := w.scheduleInput(), task{readIntent, in.ID}
	due, priority := nextRead(in, input, now)
	urgency := in.rank()
	if priority == quota.Hint { // a window that closes is news of that moment
		urgency.fresh = due
	}
	w.queue.plan(read, urgency, measured(due, now), priority)
	if !in.Open() {
		w.queue.dropAsk(read, quota.Person)
		delete(w.gapLeft, in.ID)
	}
	if w.wantsShipments(in.ID) {
		w.queue.plan(task{listOfIntent, in.ID}, rank{true, in.rank().fresh}, measured(nextShipmentList(in, input, now), now), quota.Reconcile)
	}
}

func (w *Watcher) planShipment(sh *Shipment, now time.Time) {
	if w.wantsShipments(sh.IntentID) {
		w.queue.plan(task{readShipment, sh.ID}, sh.rank(), measured(nextShipmentRead(sh, w.scheduleInput()), now), quota.Reconcile)
	}
}

func (w *Watcher) askIntent(in *IntentDetail, due time.Time, priority quota.Priority) {
	if in != nil && w.wanted(in.ID) {
		w.queue.ask(task{readIntent, in.ID}, in.rank(), due, priority)
	}
}

func (w *Watcher) askShipment(sh *Shipment, due time.Time, priority quota.Priority) {
	if w.wantsShipments(sh.IntentID) {
		w.queue.ask(task{readShipment, sh.ID}, sh.rank(), due, priority)
	}
}

func (i *IntentDetail) rank() rank {
	return rank{ended: i.State.Terminal(), fresh: later(i.basis.lastEvent, i.Since)}
}

func (s *Shipment) rank() rank { return rank{s.Status().Terminal(), s.lastEvent} }

// reconcile asks to read everything open that has not been read since since.
func (w *Watcher) reconcile(since, now time.Time) {
	for _, in := range w.store.openIntents() {
		if w.worthReading(in, now) && (in.Certainty != Verified || !in.basis.newest.After(since)) {
			w.planIntent(in, now)
			w.askIntent(in, now, quota.Reconcile)
		}
	}
	for _, sh := range w.store.openShipments() {
		if sh.missing == 0 && !sh.newest.After(since) {
			w.askShipment(sh, now, quota.Reconcile)
		}
	}
}

// worthReading reports whether an open intent should be read at all: not if it was never found, nor if it was reported
// to have ended long ago, except to see whether it belongs to the order.
func (w *Watcher) worthReading(in *IntentDetail, now time.Time) bool {
	past := in.State.Terminal() && now.Sub(in.Since) > verifyEndsWithin
	return in.basis.missing <= len(notFound) && (!past || w.cfg.Order != "")
}

// replan plans everything open anew, because the feed's state has changed.
func (w *Watcher) replan(now time.Time) {
	for _, in := range w.store.openIntents() {
		w.planIntent(in, now)
	}
	for _, sh := range w.store.openShipments() {
		w.planShipment(sh, now)
	}
}
