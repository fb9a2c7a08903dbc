package account

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Reader is what the watcher needs of the service; [api.Client] is one.
type Reader interface {
	Intent(ctx context.Context, id api.ID) (api.Intent, error)
	Shipment(ctx context.Context, id api.ID) (api.Shipment, error)
	Shipments(ctx context.Context, query api.ShipmentQuery) iter.Seq2[api.Shipment, error]
	IntentShipments(ctx context.Context, id api.ID) iter.Seq2[api.Shipment, error]
	Intents(ctx context.Context) iter.Seq2[api.Intent, error]
}

// Watcher keeps a store correct and fresh: it follows a feed, decides what to read next and when, and merges the
// answers.
type Watcher struct {
	cfg   WatcherConfig
	store *Store
	wake  chan struct{} // holds one token
	asked chan struct{} // closed once the list of intents has been requested
	saved uint64        // the version saved last

	// mu may be held while the store's lock is taken, and never the other way round: the store signals once it has
	// let go of its own. So what is changed in the store under mu must raise no signal, which would wait for mu.
	mu       sync.Mutex
	queue    *queue
	feed     FeedState
	lostAt   time.Time           // when the feed was last lost; zero before that
	hold     time.Time           // reconciling reads wait for the replay to end, until then at most
	refusal  refusal             // of the key
	reading  int                 // reads under way
	checking int                 // of these, reconciling ones
	gapOpen  bool                // a gap has not been closed by reads yet
	gapLeft  map[api.ID]struct{} // intents still to be read to close it
	slow     time.Duration       // the slow clock's span
	began    time.Time           // when the watcher was created
	answered time.Time           // when a read was last answered; zero for never
	fail     context.CancelCauseFunc
}

// WatcherConfig configures a watcher.
type WatcherConfig struct {
	Store     *Store
	Reader    Reader
	Feed      Feed          // nil: polling alone
	WatchIDs  []api.ID      // intents to add and read at the start
	Only      []api.ID      // read only these intents and their shipments; nil: all
	Order     api.Text      // read only what may belong to the order of this reference; "": all
	Workers   int           // reads under way at once; default 4
	Poll      time.Duration // how often open intents are read unprompted; default 30 s, widening
	Saved     *Saved        // saves the picture while running and at the end; nil: nothing does
	ListEvery time.Duration // how often the newest pages of the service's list of intents are read again; default Poll
	List      int           // how many intents to take from that list, at most; default 10,000
}

const (
	tickEvery        = time.Second
	settleHint       = 25 * time.Millisecond  // events within it cause one read
	settleShipments  = 150 * time.Millisecond // events of shipments within it cause one list
	shipmentsPerList = 50
	replayPatience   = 3 * time.Second  // how long a replay may hold back reconciling reads
	sleepJump        = 10 * time.Second // of the wall clock against the monotonic one
	personWorkers    = 4                // besides the others, so that a person never waits for them
)

// NewWatcher returns a watcher. [Watcher.Run] starts it.
func NewWatcher(cfg WatcherConfig) *Watcher {
	orDefault(&cfg.Workers, 4)
	orDefault(&cfg.Poll, 30*time.Second)
	orDefault(&cfg.List, 10_000)
	orDefault(&cfg.ListEvery, cfg.Poll)
	return &Watcher{
		cfg: cfg, store: cfg.Store, wake: make(chan struct{}, 1), asked: make(chan struct{}),
		queue: newQueue(), gapLeft: map[api.ID]struct{}{}, began: time.Now(), slow: slowPolls * cfg.Poll,
		refusal: refusal{again: make(chan struct{})},
	}
}

// Run works until ctx ends, and returns after its goroutines have. It returns nil then, or an error if a part of
// it has failed for good.
func (w *Watcher) Run(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w.fail = cancel
	w.store.observe(w.signalled)
	defer w.store.observe(nil)

	now := time.Now()
	if w.cfg.Feed != nil {
		w.store.SetFeed(FeedStatus{State: FeedConnecting, Since: now})
	}
	w.mu.Lock()
	w.feed, w.hold = FeedOff, now
	if w.cfg.Feed != nil {
		w.feed, w.hold = FeedConnecting, now.Add(replayPatience)
	}
	w.mu.Unlock()

	var group sync.WaitGroup
	start := func(what string, work func(context.Context)) {
		group.Go(func() {
			defer w.recovered(what)
			work(ctx)
		})
	}
	w.begin(now)
	start("list intents", w.keepListing)
	start("list shipments", w.keepSweeping)
	start("follow the feed", w.follow)
	start("watch the time", w.passTime)
	start("read", w.dispatch)
	start("keep the picture", w.keepSaving)
	group.Wait()
	w.save()
	if parent.Err() != nil {
		return nil
	}
	return fmt.Errorf("watch the account: %w", context.Cause(ctx))
}

// recovered ends the watcher if one of its goroutines has panicked.
func (w *Watcher) recovered(what string) {
	if p := recover(); p != nil {
		w.fail(fmt.Errorf("%s: %v", what, p))
	}
}

// begin asks for the reads wanted at the start.
func (w *Watcher) begin(now time.Time) {
	for _, id := range w.cfg.WatchIDs {
		w.store.know(id, true)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reconcile(now, now)
	for _, id := range w.cfg.WatchIDs {
		w.askIntent(w.store.intent(id), now, quota.Timer)
	}
}

// Watch adds an intent and reads it, unless that was done.
func (w *Watcher) Watch(id api.ID) {
	w.store.know(id, true)
	w.change(func(now time.Time) {
		if in := w.store.intent(id); in != nil && in.basis.newest.IsZero() {
			w.askIntent(in, now, quota.Timer)
		}
	})
}

// Refresh asks for a read of an intent, ahead of everything else.
func (w *Watcher) Refresh(id api.ID) {
	w.store.know(id, false)
	w.change(func(now time.Time) {
		if in := w.store.intent(id); in != nil {
			w.askIntent(in, now, quota.Person)
		}
	})
}

// change changes what is wanted, and has the dispatcher check again.
func (w *Watcher) change(do func(now time.Time)) {
	defer w.stir()
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	do(now)
}

// stir has the dispatcher check again.
func (w *Watcher) stir() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// passTime lets time pass in the picture, and notices when this machine has slept or its clock was set.
func (w *Watcher) passTime(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	last := time.Now()
	fitted := last
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		switch jump := now.Round(0).Sub(last.Round(0)) - now.Sub(last); {
		case jump > sleepJump:
			w.woke(now)
		case jump < -sleepJump:
			w.store.setBack(now)
			w.change(w.replan)
		}
		last = now
		w.settleGap()
		w.judgeKey(now)
		w.store.tick(now)
		if now.Sub(fitted) >= w.cfg.Poll {
			fitted = now
			w.setSlowClock(now)
		}
	}
}

// woke asks to read everything open: while this machine slept, nothing was heard.
func (w *Watcher) woke(now time.Time) { w.change(func(time.Time) { w.reconcile(now, now) }) }
