package account

import (
	"time"

	"tillwatch/api"
)

// outlook is what the watcher goes by when it decides when to read an intent.
type outlook struct {
	*IntentDetail
	basis
	elsewhere bool          // somebody else confirms intents of this account
	confirms  confirms      // how, if so
	usual     time.Duration // what 95 % of the intents of this account stay in its state; 0 while not known
}

// freshness orders intents for reading: the newest first.
func (o *outlook) freshness() time.Time { return later(o.lastEvent, o.Since) }

func (s *Store) outlookOf(in *IntentDetail) outlook {
	o := outlook{IntentDetail: in, basis: in.basis, usual: s.pace.usual(in.State), elsewhere: s.confirms.balance > 0}
	if o.elsewhere && in.State == api.AwaitingConfirmation {
		o.confirms = confirms{s.confirms.delays, s.pace.placing()}
	}
	return o
}

// outlook is that of an intent, if it is known.
func (s *Store) outlook(id api.ID) (outlook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.intents.get(id)
	if in == nil {
		return outlook{}, false
	}
	return s.outlookOf(in), true
}

// openOutlooks are those of the intents that are not known to have ended.
func (s *Store) openOutlooks() []outlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []outlook
	for _, in := range s.intents.byID {
		if in.Open() {
			open = append(open, s.outlookOf(in))
		}
	}
	return open
}

// openShipments are those that may still change.
func (s *Store) openShipments() []*Shipment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*Shipment
	for _, sh := range s.shipments.byID {
		if !sh.Status().Terminal() {
			open = append(open, sh)
		}
	}
	return open
}

// watch is [Store.know] for an intent that somebody has named to be watched.
func (s *Store) watch(id api.ID) {
	s.mu.Lock()
	defer s.release()
	s.named = true
	s.editIntent(id)
}

// know makes an intent known of which only the id is known.
func (s *Store) know(id api.ID) {
	s.mu.Lock()
	defer s.release()
	if s.intents.get(id) == nil {
		s.editIntent(id)
	}
}
