package simulator

import "tillwatch/api"

// Seed is what everything is drawn from: that of the configuration, or of the
// snapshot that it begins with.
func (s *Simulator) Seed() uint64 { return s.cfg.Seed }

// Orders is how many orders were placed for an intent: what a client says of its
// confirms is to be measured by it.
func (s *Simulator) Orders(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, ok := s.fulfilment.intents[id]; ok {
		return in.Orders
	}
	return 0
}

// Reprice changes the total of an intent that awaits confirmation, as a merchant
// does whose price went up in the meantime, by an amount in subunits that its
// subtotal bears. It reports whether there is such an intent.
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

// FinishPlacing ends the placing of an intent's order now rather than in its
// time, as it is fated to end. It reports whether the intent was being placed.
func (s *Simulator) FinishPlacing(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.fulfilment.intents[id]
	if !ok || in.State != api.PlacingOrder {
		return false
	}
	s.fulfilment.endPlacing(in, s.agenda.now())
	return true
}

// LetGo ends the wait of all requests and answers that are held back now.
func (s *Simulator) LetGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server.faults.letGo()
}
