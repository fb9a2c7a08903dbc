package account

import (
	"cmp"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Observe takes what was seen of requests that others sent.
func (s *Store) Observe(batch []quota.Observation) {
	s.mu.Lock()
	defer s.release()
	for i := range batch {
		s.requests.add(observed(&batch[i]))
	}
}

// observed is an observation as the list of requests shows it.
func observed(o *quota.Observation) api.Exchange {
	return api.Exchange{
		By: api.Scrub(cmp.Or(o.Spender, o.Key, "not named")), Method: string(api.Scrub(o.Method)), Path: string(api.Scrub(o.Endpoint)),
		Class: o.Class, Sent: o.Sent, Latency: o.Latency, Status: o.Status,
	}
}
