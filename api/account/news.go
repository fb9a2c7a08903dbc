package account

import "tillwatch/api"

// news is what one critical section of the store changes: which version its changes
// get, and what the watcher should look at. All parts of a store share one.
type news struct {
	version  uint64
	stamped  bool          // the version has moved in this critical section
	changed  chan struct{} // closed at the next change; nil while nobody waits
	notices  []notice
	observer func([]notice) // nil: nobody observes
}

// notice says what a change may call for.
type notice struct {
	intent   api.ID // "" where it is about a shipment
	shipment api.ID // "" where it is about an intent
	hint     bool   // an event says that it changed
	fresh    bool   // and it has only just happened
	again    bool   // the last read may not have been the newest
}

// stamp returns the version of what changes in this critical section.
func (n *news) stamp() uint64 {
	if !n.stamped {
		n.version++
		n.stamped = true
	}
	return n.version
}

// note keeps a notice for the observer; one about the same thing as the last is
// merged into that.
func (n *news) note(about notice) {
	if n.observer == nil {
		return
	}
	if last := len(n.notices) - 1; last >= 0 && n.notices[last].intent == about.intent && n.notices[last].shipment == about.shipment {
		before := &n.notices[last]
		before.hint, before.fresh, before.again = before.hint || about.hint, before.fresh || about.fresh, before.again || about.again
		return
	}
	n.notices = append(n.notices, about)
}

// after returns what is closed once there is a version after since; nil where there
// is one already.
func (n *news) after(since uint64) <-chan struct{} {
	if n.version > since {
		return nil
	}
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// publish ends a critical section: it wakes whoever waits, and returns what is to be
// called, outside the lock, for the observer.
func (n *news) publish() (notify func()) {
	if n.stamped && n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
	n.stamped = false
	notices, observer := n.notices, n.observer
	n.notices = nil
	return func() {
		if len(notices) > 0 && observer != nil {
			observer(notices)
		}
	}
}
