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

	clock clock

	intents       map[api.ID]*intentRecord
	intentBlocks  blocks[intentRecord]
	intentTouches touches
	intentCounts  stateCounts
	answers       answers[*intentRecord]
	expected      map[*intentRecord][]expectation
	expecting     map[*intentRecord]struct{} // intents whose event is overdue
	parcelDebts   map[*shipmentRecord]*parcelDebt
	heard         time.Time // the earliest that the feed is known to have been heard; zero before that
	day           dayCounter
	dayKnown      dayKnowledge
	named         bool // somebody has named intents to be watched
	confirms      confirmHistory
	pace          map[api.IntentState]*paceHistory

	shipments       map[api.ID]*shipmentRecord
	shipmentBlocks  blocks[shipmentRecord]
	shipmentTouches touches
	shipmentCounts  map[api.ShipmentStatus]int
	parcels         answers[*shipmentRecord]

	products map[api.ID]*ProductSnapshot

	events    eventLog
	counters  EventCounters
	lastEvent time.Time

	requests requestLog
	health   APIStatus
	failures int // exchanges in a row that failed
	reads    ReadCounters
	lastRead time.Time
	list     ListStatus

	shipmentList ListStatus

	feed      FeedStatus
	feedDown  time.Time // since when there is no connection to the feed; zero while there is
	epoch     int       // how many journals were followed before this one
	gap       gap
	gaps      int // how many there were
	alerts    alertBook
	alertable []uint32 // intents that time alone may raise an alert for, and some that no longer
}

// StoreConfig sets a store up.
type StoreConfig struct {
	ConfirmWindow time.Duration                      // default api.ConfirmWindow
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
	s := &Store{
		cfg:            cfg,
		clock:          newClock(),
		intentBlocks:   newBlocks[intentRecord](intentsPerBlock),
		shipmentBlocks: newBlocks[shipmentRecord](shipmentsPerBlock),
		intentCounts:   stateCounts{},
		expected:       map[*intentRecord][]expectation{},
		intents:        map[api.ID]*intentRecord{},
		expecting:      map[*intentRecord]struct{}{},
		parcelDebts:    map[*shipmentRecord]*parcelDebt{},
		pace:           map[api.IntentState]*paceHistory{},
		shipments:      map[api.ID]*shipmentRecord{},
		shipmentCounts: map[api.ShipmentStatus]int{},
		products:       map[api.ID]*ProductSnapshot{},
		events:         newEventLog(cfg.KeepEvents),
		requests:       requestLog{keep: cfg.KeepRequests},
		answers:        newAnswers(reduceIntent),
		parcels:        newAnswers(reduceShipment),
	}
	return s
}

func (c StoreConfig) withDefaults() StoreConfig {
	orDefault(&c.ConfirmWindow, api.ConfirmWindow)
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

// Intent returns all that is known of one intent.
func (s *Store) Intent(id api.ID) (*IntentDetail, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findIntent(id)
	if r == nil {
		return nil, false
	}
	return s.detail(r), true
}

// Shipment returns what is known of one shipment.
func (s *Store) Shipment(id api.ID) (*Shipment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.shipments[id]
	if r == nil {
		return nil, false
	}
	return s.publishShipment(r), true
}

// notice tells the watcher what a change may call for.
type notice struct {
	intent   *intentRecord // nil where it is about a shipment
	shipment *shipmentRecord
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
	if s.stamped {
		return s.version
	}
	return s.newVersion()
}

func (s *Store) newVersion() uint64 {
	s.version++
	s.stamped = true
	return s.version
}

// release ends a critical section that may have changed something: it wakes
// whoever waits and tells the watcher, outside the lock.
func (s *Store) release() {
	if s.stamped {
		s.stamped = false
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
