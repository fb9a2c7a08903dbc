package account

import (
	"time"

	"tillwatch/api"
)

// outlook is what the watcher needs to know of an intent to decide when to read
// it.
type outlook struct {
	id        api.ID
	state     api.IntentState
	certainty Certainty
	since     time.Time
	created   time.Time
	expiresAt time.Time
	newest    time.Time // when the newest read was sent; zero when never read
	lastEvent time.Time
	reads     int // answered reads since it entered its state
	behind    int // reads in a row that were behind what is known
	missing   int // reads in a row that were answered 404
	ordered   bool
	shipments int
	listed    bool          // its shipments were listed
	elsewhere bool          // somebody else confirms intents of this account
	confirms  confirms      // how, if so
	usual     time.Duration // what 95 % of the intents of this account stay in its state; 0 while not known
}

func (o *outlook) open() bool { return !o.state.Terminal() || o.certainty != Verified }

// freshness orders intents for reading: the newest first.
func (o *outlook) freshness() time.Time {
	if o.lastEvent.After(o.since) {
		return o.lastEvent
	}
	return o.since
}

func (s *Store) outlookOf(r *intentRecord) outlook {
	o := outlook{
		id: r.id, state: r.state, certainty: r.certainty,
		since: r.since.time(), created: r.created.time(), expiresAt: s.expiresAt(r),
		newest: s.clock.measured(r.newest), lastEvent: r.lastEvent.time(),
		reads: int(r.reads), behind: int(r.behind), missing: int(r.missing),
		ordered: r.ordered, shipments: int(r.parcels), listed: r.listed,
		usual: s.usualStay(r.state), elsewhere: s.confirms.balance > 0,
	}
	if o.elsewhere && o.state == api.AwaitingConfirmation {
		o.confirms = confirms{s.confirms.delays, s.usualPlacing()}
	}
	return o
}

// usualStay is the 95th percentile of stays in a state, once there are enough.
func (s *Store) usualStay(state api.IntentState) time.Duration {
	if h := s.pace[state]; h != nil && h.count >= enoughStays {
		return h.get().P95
	}
	return 0
}

func (s *Store) outlook(id api.ID) (outlook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findIntent(id)
	if r == nil {
		return outlook{}, false
	}
	return s.outlookOf(r), true
}

// openOutlooks lists the intents that are not known to have ended.
func (s *Store) openOutlooks() []outlook {
	var list []outlook
	s.eachIntent(func(r *intentRecord) {
		if r.open() {
			list = append(list, s.outlookOf(r))
		}
	})
	return list
}

// parcelOutlook is what the watcher needs to know of a shipment.
type parcelOutlook struct {
	id      api.ID
	intent  api.ID // "" while not known
	status  api.ShipmentStatus
	newest  time.Time
	event   time.Time
	missing int
}

func (r *shipmentRecord) outlook() parcelOutlook {
	o := parcelOutlook{id: r.id, status: r.status(), newest: r.newest, event: r.lastEvent, missing: int(r.missing)}
	if r.intent != nil {
		o.intent = r.intent.id
	}
	return o
}

func (s *Store) parcelOutlook(id api.ID) (parcelOutlook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.shipments[id]
	if r == nil {
		return parcelOutlook{}, false
	}
	return r.outlook(), true
}

func (s *Store) openParcels() []parcelOutlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []parcelOutlook
	for _, r := range s.shipments {
		if o := r.outlook(); !o.status.Terminal() {
			list = append(list, o)
		}
	}
	return list
}

// know begins the record of an intent of which only the id is known.
func (s *Store) know(id api.ID) {
	s.mu.Lock()
	defer s.release()
	s.intent(id)
}
