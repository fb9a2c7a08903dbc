package account

import (
	"errors"
	"net/http"
	"time"

	"tillwatch/api"
)

// Settling is how far the picture is from everything that can be known without a new event. It is settled once
// nothing is missing.
type Settling struct {
	Missing    []Missing // nil once settled
	Unreadable int       // intents, shipments and list items whose reads failed: they are counted, not waited for
	Reported   int       // intents reported to have ended so long ago that no read will verify it
}

// Missing is a part of the picture that is not complete.
type Missing struct {
	Part  Part
	Count int   // how many intents, shipments or events; 0 for other parts, and if unknown
	Err   error // what prevents it; nil if it only takes time
	Final bool  // waiting does not help
}

// Part names a part of the picture.
type Part string

// The parts of an account.
const (
	PartSource    Part = "source"    // nothing names the account's intents, except those with shipments: no list, no feed, no id
	PartList      Part = "list"      // the service's list of intents, to its end
	PartFeed      Part = "feed"      // the feed's events, to its head
	PartIntents   Part = "intents"   // reads of intents that are open or that an event named
	PartShipments Part = "shipments" // reads of such shipments

	PartEvents       Part = "events"           // events that the relay no longer has; a list of intents makes up for them
	PartParcels      Part = "intent_shipments" // lists of the shipments of completed intents that nothing named
	PartShipmentList Part = "shipment_list"    // the service's list of shipments, if no feed reports them
)

// enoughTries is how often a read must fail before it counts as failed, if another try may succeed.
const enoughTries = 2

// counted reports whether a failed read is counted instead of waited for: another try would fail alike, or the
// service has answered other reads since. It last answered at answered; zero: never.
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

// Settling returns what the picture still lacks since the watcher began.
func (w *Watcher) Settling() Settling {
	sum := w.store.Summary()
	var s Settling
	s.Unreadable = sum.List.Unreadable
	w.mu.Lock()
	defer w.mu.Unlock()
	s.missLists(&sum, w.cfg)
	s.missFeed(&sum, w.cfg)
	w.missIntents(&s)
	switch sum.ShipmentList.State {
	case ListForbidden:
		s.Missing = append(s.Missing, Missing{Part: PartShipmentList, Err: sum.ShipmentList.Err, Final: true})
	case ListWhole:
		w.missShipments(&s)
	default:
		w.missShipments(&s)
		w.missParcels(&s)
	}
	if sum.Sourceless() && sum.ShipmentList.State != ListUnread {
		s.Missing = append(s.Missing, Missing{Part: PartSource, Final: true})
	}
	s.blame(sum.API)
	if b := sum.Holds(time.Now()); b != nil && b.Kept() {
		s.holdBack()
	}
	return s
}

// blame says what prevents reads while the service is unhealthy.
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

// holdBack says that no more will be read: what is left of the quota is kept for others.
func (s *Settling) holdBack() {
	for i := range s.Missing {
		s.Missing[i].Final = s.Missing[i].Final || s.Missing[i].Part != PartFeed
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

func (s *Settling) missFeed(sum *Summary, cfg WatcherConfig) {
	feed := sum.Feed
	if cfg.Feed != nil && feed.State != FeedLive {
		s.Missing = append(s.Missing, Missing{Part: PartFeed, Err: feed.Err, Final: feed.State == FeedRefused})
	}
	if (feed.LostFrom > 0 || feed.Reset) && sum.List.State == ListNotServed && len(cfg.Only) == 0 {
		lost := Missing{Part: PartEvents, Final: true}
		if feed.LostFrom > 0 {
			lost.Count = int(feed.LostTo - feed.LostFrom + 1)
		}
		s.Missing = append(s.Missing, lost)
	}
}

// missIntents counts the intents not read since the watcher began, except those reported to have ended long ago.
func (w *Watcher) missIntents(s *Settling) {
	missing, now := Missing{Part: PartIntents}, time.Now()
	for _, in := range w.store.openIntents() {
		t := task{readIntent, in.ID}
		read := !in.basis.newest.Before(w.began) && (in.Certainty == Verified || in.basis.missing > 0) && !w.queue.pending(t)
		if read || !w.wanted(in.ID) {
			continue
		}
		if !w.worthReading(in, now) {
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
		if !read && sh.missing <= len(notFound) && w.wantsShipments(sh.IntentID) {
			w.miss(s, &missing, t)
		}
	}
	s.add(missing)
}

// missParcels counts the completed intents of which no shipment is known and none was looked for, as the only event
// of a shipment may be lost, and those whose list could not be read to its end.
func (w *Watcher) missParcels(s *Settling) {
	missing := Missing{Part: PartParcels}
	for t, j := range w.queue.jobs {
		if t.kind != listOfIntent || !j.wanted() && !j.underWay() {
			continue
		}
		if in := w.store.intent(t.id); in != nil && (len(in.Shipments) == 0 || w.queue.failure(t).counted(w.answered)) {
			w.miss(s, &missing, t)
		}
	}
	s.add(missing)
}

// miss counts an unread task as missing, or as failed.
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
