package account

import "tillwatch/api"

// news collects what one critical section of the store changes: the version of the changes, and signals for the
// watcher. All parts of a store share one.
type news struct {
	version  uint64
	stamped  bool          // this critical section has a version of its own
	changed  chan struct{} // closed at the next change; nil while nobody waits
	signals  []signal
	observer func([]signal) // nil: nobody receives the signals
}

// signal says what changed and may have to be read.
type signal struct {
	intent   api.ID // "" for a shipment
	shipment api.ID // "" for an intent
	hint     bool   // an event reports a change
	fresh    bool   // and it has just happened
	again    bool   // the last read may not show the newest state
}

// stamp returns the version for changes in this critical section.
func (n *news) stamp() uint64 {
	if !n.stamped {
		n.version++
		n.stamped = true
	}
	return n.version
}

// note keeps a signal for the observer, merged with the last one if both are about the same thing.
func (n *news) note(about signal) {
	if n.observer == nil {
		return
	}
	if last := len(n.signals) - 1; last >= 0 && n.signals[last].intent == about.intent && n.signals[last].shipment == about.shipment {
		before := &n.signals[last]
		before.hint, before.fresh, before.again = before.hint || about.hint, before.fresh || about.fresh, before.again || about.again
		return
	}
	n.signals = append(n.signals, about)
}

// after returns a channel that is closed once there is a version after since; nil if there is one already.
func (n *news) after(since uint64) <-chan struct{} {
	if n.version > since {
		return nil
	}
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// publish ends a critical section: it wakes the waiting, and returns a call to the observer, to be made outside
// the lock.
func (n *news) publish() (notify func()) {
	if n.stamped && n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
	n.stamped = false
	signals, observer := n.signals, n.observer
	n.signals = nil
	return func() {
		if len(signals) > 0 && observer != nil {
			observer(signals)
		}
	}
}
