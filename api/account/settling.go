package account

import (
	"errors"
	"net/http"
	"time"

	"tillwatch/api"
)

// Settling is how far the picture is from showing all that can be known without
// a new event. It is settled once nothing is missing.
type Settling struct {
	Missing    []Missing // nil once the picture is settled
	Unreadable int       // intents, shipments and items of lists whose reads failed: they are counted, not waited for
	Reported   int       // intents that ended so long ago that an event's word is taken for it
}

// Missing is a part of the account that the picture does not show yet.
type Missing struct {
	Part  Part
	Count int   // intents or shipments; 0 for other parts
	Err   error // what stands in the way; nil when it only takes time
	Final bool  // waiting does not help
}

// Part is a part of an account.
type Part string

// The parts of an account.
const (
	PartSource    Part = "source"    // nothing names the intents there are, but for those with shipments: no list, no feed and no id
	PartList      Part = "list"      // the service's list of intents, to its end
	PartFeed      Part = "feed"      // what the feed holds, to its head
	PartIntents   Part = "intents"   // reads of intents that are open, or that an event named
	PartShipments Part = "shipments" // likewise

	PartShipmentList Part = "shipment_list" // the service's list of shipments, where no feed reports them
)

// enoughTries is how often a read must fail until its failure is counted, where
// another try may bring another answer.
const enoughTries = 2

// counted reports whether a failed read is counted instead of waited for: another
// would be answered alike, or the service answers others since. It answered last
// at answered; never when zero.
func (f failure) counted(answered time.Time) bool {
	if answer := (*api.Error)(nil); errors.As(f.err, &answer) {
		switch answer.Status {
		case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		default:
			if answer.Status/100 == 4 {
				return true
			}
		}
	}
	if unreadable := (*api.UnreadableError)(nil); errors.As(f.err, &unreadable) && !answered.IsZero() {
		return true
	}
	return f.tries >= enoughTries && answered.After(f.since)
}

// Settling says what the picture still lacks since the watcher began.
func (w *Watcher) Settling() Settling {
	sum := w.store.Summary()
	var s Settling
	s.Unreadable = sum.List.Unreadable
	w.mu.Lock()
	defer w.mu.Unlock()
	s.missLists(&sum, w.cfg)
	s.missFeed(sum.Feed, w.cfg)
	w.missIntents(&s)
	w.missShipments(&s)
	if sum.Sourceless() && sum.ShipmentList.State != ListUnread {
		s.Missing = append(s.Missing, Missing{Part: PartSource, Final: true})
	}
	s.blame(sum.API)
	return s
}

// blame says what stands in the way of reads while the service does not answer as
// it should.
func (s *Settling) blame(health APIStatus) {
	if health.State == APIHealthy || health.State == APIUnknown {
		return
	}
	for i := range s.Missing {
		m := &s.Missing[i]
		if m.Part == PartFeed || m.Part == PartSource {
			continue
		}
		m.Final = m.Final || health.State == APIUnauthorized
		if m.Err == nil {
			m.Err = health.Err
		}
	}
}

func (s *Settling) missLists(sum *Summary, cfg WatcherConfig) {
	if len(cfg.Only) > 0 {
		return
	}
	switch sum.List.State {
	case ListUnread, ListPartly:
		s.Missing = append(s.Missing, Missing{Part: PartList, Err: sum.List.Err})
	case ListCut:
		s.Missing = append(s.Missing, Missing{Part: PartList, Final: true})
	}
	if cfg.Feed == nil && sum.ShipmentList.State == ListUnread {
		s.Missing = append(s.Missing, Missing{Part: PartShipmentList, Err: sum.ShipmentList.Err})
	}
}

func (s *Settling) missFeed(feed FeedStatus, cfg WatcherConfig) {
	if cfg.Feed != nil && feed.State != FeedLive {
		s.Missing = append(s.Missing, Missing{Part: PartFeed, Err: feed.Err, Final: feed.State == FeedRefused})
	}
}

// missIntents counts the intents that were not read since the watcher began. It does
// not wait for those whose end an event reported long ago.
func (w *Watcher) missIntents(s *Settling) {
	missing, now := Missing{Part: PartIntents}, time.Now()
	for _, in := range w.store.openIntents() {
		t := task{readIntent, in.ID}
		read := !in.basis.newest.Before(w.began) && (in.Certainty == Verified || in.basis.missing > 0) && !w.queue.pending(t)
		if read || !w.wanted(in.ID) {
			continue
		}
		if !worthReading(in, now) {
			if in.State.Terminal() {
				s.Reported++
			}
			continue
		}
		w.miss(s, &missing, t)
	}
	s.add(missing)
}

func (w *Watcher) missShipments(s *Settling) {
	missing := Missing{Part: PartShipments}
	for _, sh := range w.store.openShipments() {
		t := task{readShipment, sh.ID}
		read := !sh.newest.Before(w.began) && !w.queue.pending(t)
		if !read && sh.missing <= len(notFound) && w.wanted(sh.IntentID) {
			w.miss(s, &missing, t)
		}
	}
	s.add(missing)
}

// miss counts what was not read: as missing, or by its failure.
func (w *Watcher) miss(s *Settling, missing *Missing, t task) {
	failure := w.queue.failure(t)
	if failure.tries > 0 && failure.counted(w.answered) {
		s.Unreadable++
		return
	}
	missing.Count++
	if failure.tries > 0 {
		missing.Err = failure.err
	}
}

func (s *Settling) add(missing Missing) {
	if missing.Count > 0 {
		s.Missing = append(s.Missing, missing)
	}
}
