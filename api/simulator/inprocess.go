package simulator

import "tillwatch/api"

// Seed returns the seed of everything random: that of the configuration, or of the
// snapshot.
func (s *Simulator) Seed() uint64 { return s.cfg.Seed }

// Orders returns how many orders were placed for an intent: the truth behind what a
// client says about its confirms.
func (s *Simulator) Orders(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, ok := s.fulfilment.intents[id]; ok {
		return in.Orders
	}
	return 0
}

// Reprice adds an amount, in subunits, to the subtotal and the total of an intent that
// awaits confirmation, as when a merchant's price goes up. It returns false if there is
// no such intent.
func (s *Simulator) Reprice(id string, by int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.fulfilment.intents[id]
	if !ok || in.State != api.AwaitingConfirmation || in.Offer == nil {
		return false
	}
	offer := *in.Offer
	offer.Cost.Subtotal.AmountSubunits += by
	offer.Cost.Total.AmountSubunits += by
	in.Offer = &offer
	return true
}
