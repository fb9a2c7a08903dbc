package account

import (
	"context"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Store is the picture. It is safe for use by several goroutines.
type Store struct {
	cfg StoreConfig

	mu       sync.Mutex
	version  uint64
	stamped  bool          // the version has moved in this critical section
	changed  chan struct{} // closed at the next change; nil while nobody waits
	notices  []notice
	observer func([]notice)

	intents   intents
	shipments shipments
	products  products
	events    eventLog
	counters  EventCounters
	missing   missingEvents // events that are still to come
	lastEvent time.Time

	requests requestLog
	health   health
	reads    ReadCounters
	lastRead time.Time
	list     ListStatus
	named    bool // somebody has named intents to be watched

	shipmentList ListStatus

	feed     following
	day      day
	confirms confirmHistory
	pace     paces
	alerts   alertBook
}

// StoreConfig sets a store up.
type StoreConfig struct {
	ConfirmWindow time.Duration                      // default api.ConfirmWindow
	KeepIntents   int                                // that have ended; default 10,000. All that are open are kept
	KeepEvents    int                                // default 5,000
	KeepRequests  int                                // default 500
	Quota         func(now time.Time) []quota.Bucket // nil: none
	AgentsLimit   int                                // default 10
	DayLimit      int                                // default 50
	MissedAfter   time.Duration                      // how long an event may take until it counts as missed; default 30 s
	SlowAfter     time.Duration                      // a pause for quota from which the service counts as slow; default 2 s
	Alerts        AlertConfig
}

// NewStore makes an empty picture.
func NewStore(cfg StoreConfig) *Store {
	cfg = cfg.withDefaults()
	pace := paces{}
	return &Store{
		cfg:       cfg,
		intents:   newIntents(cfg.KeepIntents, cfg.ConfirmWindow),
		shipments: newShipments(),
		products:  products{},
		events:    newEventLog(cfg.KeepEvents),
		missing:   newMissing(),
		requests:  requestLog{keep: cfg.KeepRequests},
		day:       day{dayCounter: dayCounter{minutes: map[minute]int{}}, limit: cfg.DayLimit},
		pace:      pace,
		alerts:    newAlertBook(cfg.Alerts, cfg.ConfirmWindow, pace),
	}
}

func (c StoreConfig) withDefaults() StoreConfig {
	orDefault(&c.ConfirmWindow, api.ConfirmWindow)
	orDefault(&c.KeepIntents, 10_000)
	orDefault(&c.KeepEvents, 5000)
	orDefault(&c.KeepRequests, 500)
	orDefault(&c.AgentsLimit, 10)
	orDefault(&c.DayLimit, 50)
	orDefault(&c.MissedAfter, 30*time.Second)
	orDefault(&c.SlowAfter, 2*time.Second)
	c.Alerts = c.Alerts.withDefaults()
	return c
}

func orDefault[T int | float64 | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// Wait returns once the picture is newer than since, or when ctx ends.
func (s *Store) Wait(ctx context.Context, since uint64) error {
	for {
		s.mu.Lock()
		if s.version > since {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Intent returns all that is known of one intent, with the whole newest answer
// where that is kept.
func (s *Store) Intent(id api.ID) (*IntentDetail, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.intents.get(id)
	if in == nil {
		return nil, false
	}
	if answer := s.intents.whole.of(id); answer != nil {
		whole := *in
		whole.Latest = answer
		in = &whole
	}
	return in, true
}

// Shipment returns what is known of one shipment.
func (s *Store) Shipment(id api.ID) (*Shipment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shipments.get(id)
	return sh, sh != nil
}

// editIntent returns an intent for changes; one of which only the id is known when
// it is new.
func (s *Store) editIntent(id api.ID) *IntentDetail {
	if s.intents.get(id) == nil {
		id = api.ScrubID(string(id))
	}
	s.notice(notice{intent: id})
	return s.intents.editNew(id, s.stamp())
}

// letGo lets go of the intents that ended first, as far as there are too many, with
// all that stands for them. That their events were here stays known.
func (s *Store) letGo() {
	for {
		in, any := s.intents.surplus(s.version)
		if !any {
			return
		}
		for i := range in.Timeline {
			if id := in.Timeline[i].EventID; id != "" {
				s.events.known.add(id)
			}
		}
		for _, id := range in.Shipments {
			s.shipments.leave(s.shipments.get(id).Status())
			s.shipments.drop(id, s.version)
			delete(s.missing.shipments, id)
			s.notice(notice{shipment: id})
		}
		for _, kind := range intentAlerts() {
			s.alerts.judge(false, alertKey{kind: kind, intent: in.ID}, time.Time{}, nil)
		}
		delete(s.missing.intents, in.ID)
		s.notice(notice{intent: in.ID})
	}
}

// notice tells the watcher what a change may call for.
type notice struct {
	intent   api.ID // "" where it is about a shipment
	shipment api.ID
	hint     bool // an event says that it changed
	fresh    bool // and it has only just happened
	again    bool // the last read may not have been the newest
}

// observe names who is told of changes; nil for nobody.
func (s *Store) observe(observer func([]notice)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observer = observer
}

func (s *Store) notice(n notice) {
	if s.observer != nil {
		s.addNotice(n)
	}
}

func (s *Store) addNotice(n notice) {
	if last := len(s.notices) - 1; last >= 0 && s.notices[last].intent == n.intent && s.notices[last].shipment == n.shipment {
		s.notices[last].hint = s.notices[last].hint || n.hint
		s.notices[last].fresh = s.notices[last].fresh || n.fresh
		s.notices[last].again = s.notices[last].again || n.again
		return
	}
	s.notices = append(s.notices, n)
}

// stamp is the version of what changes in this critical section.
func (s *Store) stamp() uint64 {
	if !s.stamped {
		s.version++
		s.stamped = true
	}
	return s.version
}

// release ends a critical section that may have changed something: it wakes
// whoever waits and tells the watcher, outside the lock.
func (s *Store) release() {
	if s.alerts.changed {
		s.stamp()
	}
	if s.stamped {
		s.letGo()
		s.stamped, s.alerts.changed = false, false
		if s.changed != nil {
			close(s.changed)
			s.changed = nil
		}
	}
	notices, observer := s.notices, s.observer
	s.notices = nil
	s.mu.Unlock()
	if len(notices) > 0 && observer != nil {
		observer(notices)
	}
}
