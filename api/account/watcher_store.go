package account

import (
	"errors"
	"time"

	"tillwatch/api"
)

// What the watcher asks of its store and reports to it.

// know adds an intent. named says that the user wants to watch it.
func (s *Store) know(id api.ID, named bool) {
	s.mu.Lock()
	defer s.release()
	s.lists.named = s.lists.named || named
	if named || s.intents.get(id) == nil {
		in := s.intents.edit(id)
		in.basis.observed = in.basis.observed && !named
	}
}

// intent returns what is known of an intent, without the whole answer; nil for none.
func (s *Store) intent(id api.ID) *IntentDetail {
	return look(s, func() *IntentDetail { return s.intents.get(id) })
}

// openIntents lists the intents that are not known to have ended.
func (s *Store) openIntents() []*IntentDetail { return look(s, s.intents.open) }

// openShipments lists the shipments that may still change.
func (s *Store) openShipments() []*Shipment { return look(s, s.shipments.open) }

// habits returns what is usual for this account's intents.
func (s *Store) habits() habits { return look(s, s.intents.habits) }

// countRead changes the read counters.
func (s *Store) countRead(count func(c *ReadCounters)) {
	s.update(func(time.Time) { count(&s.intents.reads.ReadCounters) })
}

// readFailed counts a failed read.
func (s *Store) readFailed(err error) {
	s.countRead(func(c *ReadCounters) { c.Failed++ })
	if errors.Is(err, api.ErrUnauthorized) {
		s.updateHealth(func(h *health, now time.Time) { h.refuseKey(err, now) })
	}
}

// updateHealth changes what is known of the service's health.
func (s *Store) updateHealth(change func(h *health, now time.Time)) {
	s.update(func(now time.Time) {
		change(&s.health, now)
		s.alerts.judgeAPI(&s.health, now)
	})
}
