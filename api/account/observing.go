package account

import (
	"slices"
	"time"

	"tillwatch/api/quota"
)

// Observe takes observed requests of other clients, in any order, late or repeated. Each counts once, at the time
// when it was sent.
func (s *Store) Observe(batch []quota.Observation) {
	for part := range slices.Chunk(batch, deliverBatch) {
		s.observePart(part)
	}
}

func (s *Store) observePart(part []quota.Observation) {
	s.mu.Lock()
	defer s.release()
	now := time.Now()
	for i := range part {
		s.observeOne(&part[i], now)
	}
}

func (s *Store) observeOne(o *quota.Observation, now time.Time) {
	e, fresh := s.spenders.observed(o, now)
	if !fresh {
		return
	}
	s.requests.add(e)
	s.latencies.add(&e)
	if s.cfg.Observed != nil {
		s.cfg.Observed(o)
	}
	if result := s.intents.observed(o, e.By, now); result.in != nil {
		s.follow(result, now)
	}
}
