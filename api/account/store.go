package account

import (
	"context"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Store is the picture of one account. It holds its parts under one lock and passes on to the others what one part
// learns. It is safe for concurrent use.
type Store struct {
	cfg StoreConfig

	mu        sync.Mutex
	news      *news
	intents   intents
	shipments shipments
	products  products
	events    events
	links     links
	missing   missing
	requests  requestLog
	health    health
	lists     lists
	spenders  spenders
	limits    limits
	feed      following
	alerts    alerts
	orders    orderBook
	confirms  confirmBook
	latencies latencies
	known     time.Time // since when the account has been watched; zero: never
}

// StoreConfig configures a store. The zero value is usable.
type StoreConfig struct {
	ConfirmWindow time.Duration                      // default api.ConfirmWindow
	KeepIntents   int                                // ended intents to keep, give or take a few; default 10,000. Open ones are all kept
	KeepEvents    int                                // default 5,000
	KeepRequests  int                                // default 500
	Quota         func(now time.Time) []quota.Bucket // nil: no bucket is known
	Observed      func(o *quota.Observation)         // receives each request of another client once, and must not block; nil: nothing does
	AgentsLimit   int                                // how many intents may be placing at once; default 10
	DayLimit      int                                // intents a day; default 50
	MissedAfter   time.Duration                      // how long an event may take until it counts as missed; default 30 s
	SlowAfter     time.Duration                      // the pause for quota from which the service counts as slow; default 2 s
	Alerts        *AlertConfig                       // nil: [DefaultAlerts]
}

// NewStore returns an empty picture.
func NewStore(cfg StoreConfig) *Store {
	cfg = cfg.withDefaults()
	n := &news{}
	s := &Store{
		cfg:       cfg,
		news:      n,
		intents:   newIntents(n, &cfg),
		shipments: newShipments(n, cfg.KeepIntents),
		products:  products{},
		events:    newEvents(n, cfg.KeepEvents),
		requests:  requestLog{news: n, keep: cfg.KeepRequests},
		health:    health{slowAfter: cfg.SlowAfter},
		spenders:  newSpenders(),
	}
	s.missing = newMissing(&s.feed, &s.events.EventCounters, cfg.ConfirmWindow, cfg.MissedAfter)
	s.alerts = newAlerts(n, *cfg.Alerts, cfg.ConfirmWindow, s.intents.pace, &s.health.clock)
	s.orders = newOrderBook(n, &s.intents, &s.alerts)
	s.links = links{news: n, intents: &s.intents, shipments: &s.shipments, events: &s.events}
	return s
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
	if c.Alerts == nil {
		c.Alerts = new(DefaultAlerts())
	}
	return c
}

func orDefault[T int | float64 | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// Wait returns nil once the picture is newer than since, or ctx's error.
func (s *Store) Wait(ctx context.Context, since uint64) error {
	for {
		s.mu.Lock()
		changed := s.news.after(since)
		s.mu.Unlock()
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Until returns nil once done returns true, or ctx's error. It calls done at once and after each change.
func (s *Store) Until(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		version := s.news.version
		s.mu.Unlock()
		if done() {
			return nil
		}
		if err := s.Wait(ctx, version); err != nil {
			return err
		}
	}
}

// Intent returns all that is known of one intent, with the whole newest answer if that is kept.
func (s *Store) Intent(id api.ID) (*IntentDetail, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.intents.detail(id)
	return in, in != nil
}

// Shipment returns what is known of one shipment.
func (s *Store) Shipment(id api.ID) (*Shipment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shipments.get(id)
	return sh, sh != nil
}

// observe sets who is notified of changes; nil for nobody.
func (s *Store) observe(observer func([]signal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news.observer = observer
}

// look reads parts of the picture under the lock.
func look[V any](s *Store, read func() V) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return read()
}

// update changes parts of the picture under the lock.
func (s *Store) update(change func(now time.Time)) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.news.stamp()
	change(now)
	if s.intents.reads.Total > 0 || s.feed.State == FeedReplaying || s.feed.State == FeedLive { // before that, nothing would have been noticed
		s.watchedSince(now)
	}
}

// watchedSince records that the account has been watched since t or earlier.
func (s *Store) watchedSince(t time.Time) {
	if t = plausible(t); !t.IsZero() && (s.known.IsZero() || t.Before(s.known)) {
		s.known = t
	}
}

// release ends a critical section that may have changed something: it drops what is too much, wakes the waiting,
// and notifies the watcher outside the lock.
func (s *Store) release() { s.conclude()() }

func (s *Store) conclude() (notify func()) {
	defer s.mu.Unlock()
	for _, in := range s.intents.dropSurplus() {
		s.letGo(in)
		s.known = later(s.known, in.Since)
	}
	return s.news.publish()
}

// letGo drops everything about an intent that is no longer kept.
func (s *Store) letGo(in *IntentDetail) {
	for _, id := range in.Shipments {
		s.letGoShipment(id)
	}
	s.alerts.forget(in.ID)
	delete(s.missing.intents, in.ID)
}

// letGoShipment drops everything about a shipment that is no longer kept.
func (s *Store) letGoShipment(id api.ID) {
	s.shipments.drop(id)
	delete(s.missing.shipments, id)
}

// tick lets time pass in the picture: things become overdue, late or due soon.
func (s *Store) tick(now time.Time) {
	buckets := s.buckets(now)
	s.mu.Lock()
	defer s.release()
	s.orders.update()
	for _, in := range s.intents.byID {
		if in.State != api.Completed { // no alert concerns a completed one
			s.alerts.judgeIntent(in, now)
			s.intents.noteLapse(in, now)
		}
	}
	s.missing.count(now, s.events.newest, func(id api.ID, to api.IntentState) {
		s.intents.edit(id).remember(&Moment{What: EventMissed, To: to, When: utc(now), Learnt: utc(now)})
	}, func(id api.ID) {
		s.news.stamp()
		if sh := s.shipments.get(id); sh.IntentID != "" {
			s.intents.edit(sh.IntentID).remember(&Moment{What: ShipmentQuiet, Status: sh.Status(), When: utc(now), Learnt: utc(now)})
		}
	})
	s.orders.judge(now)
	s.alerts.judgeConfirms(s.confirms.list, now)
	s.judgeFeed(now)
	s.alerts.judgeQuota(buckets, now)
	day := s.intents.day.of(buckets, now)
	s.intents.day.remember(day)
	s.alerts.judgeDay(day, now)
	sum := s.summary(now, buckets)
	s.limits.remember(&sum, now)
}

func (s *Store) judgeFeed(now time.Time) {
	s.alerts.judgeFeed(&s.feed, s.missing.silence.lasts(s.events.newest), now)
}
