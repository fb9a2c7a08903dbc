package account

import (
	"iter"
	"time"

	"tillwatch/api"
)

// outlook is what the watcher needs to know of an intent to decide when to read
// it.
type outlook struct {
	id        api.ID
	number    uint32
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

// unread reports whether the intent has ended and was never read.
func (o *outlook) unread() bool { return o.state.Terminal() && o.newest.IsZero() }

// freshness orders intents for reading: the newest first.
func (o *outlook) freshness() time.Time {
	if o.lastEvent.After(o.since) {
		return o.lastEvent
	}
	return o.since
}

func (s *Store) outlookOf(r *intentRecord) outlook {
	o := outlook{
		id: r.id, number: r.number, state: r.state, certainty: r.certainty,
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

// noticedOutlooks appends the outlooks of the intents that notices are about.
func (s *Store) noticedOutlooks(notices []notice, to []outlook) []outlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range notices {
		if r := notices[i].intent; r != nil {
			to = append(to, s.outlookOf(r))
		}
	}
	return to
}

// outlookAt is the outlook of an intent by its number.
func (s *Store) outlookAt(number uint32) outlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outlookOf(s.intentBlocks.at(number))
}

// openOutlooks goes through the intents that are not known to have ended, those
// that became known last first and a few at a time: the store is free while one is
// looked at.
func (s *Store) openOutlooks() iter.Seq[*outlook] {
	return func(yield func(*outlook) bool) {
		batch := make([]outlook, 0, publishBatch)
		s.mu.Lock()
		next := s.intentBlocks.last
		s.mu.Unlock()
		for next > 0 {
			batch = batch[:0]
			s.mu.Lock()
			for looked := 0; next > 0 && looked < sweepBatch && len(batch) < publishBatch; looked++ {
				if r := s.intentBlocks.at(next); r.open() {
					batch = append(batch, s.outlookOf(r))
				}
				next--
			}
			s.mu.Unlock()
			for i := range batch {
				if !yield(&batch[i]) {
					return
				}
			}
		}
	}
}

// sweepBatch bounds how many records are looked at while writers wait.
const sweepBatch = 2048

// parcelOutlook is what the watcher needs to know of a shipment.
type parcelOutlook struct {
	id      api.ID
	number  uint32
	intent  api.ID // "" while not known
	status  api.ShipmentStatus
	newest  time.Time
	event   time.Time
	missing int
}

func (s *Store) parcelOutlookOf(r *shipmentRecord) parcelOutlook {
	o := parcelOutlook{
		id: r.id, number: r.number, status: r.status,
		newest: s.clock.measured(r.newest), event: r.lastEvent.time(), missing: int(r.missing),
	}
	if r.intent != nil {
		o.intent = r.intent.id
	}
	return o
}

// parcelAt is the outlook of a shipment by its number.
func (s *Store) parcelAt(number uint32) parcelOutlook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parcelOutlookOf(s.shipmentBlocks.at(number))
}

func (s *Store) openParcels() []parcelOutlook {
	var list []parcelOutlook
	each(s, &s.shipmentBlocks, doNothing, func(r *shipmentRecord) {
		if !r.status.Terminal() {
			list = append(list, s.parcelOutlookOf(r))
		}
	})
	return list
}

// watch is [Store.know] for an intent that somebody has named to be watched.
func (s *Store) watch(id api.ID) {
	s.mu.Lock()
	defer s.release()
	s.named = true
	s.intent(id)
}

// know begins the record of an intent of which only the id is known.
func (s *Store) know(id api.ID) {
	s.mu.Lock()
	defer s.release()
	s.intent(id)
}
