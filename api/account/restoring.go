package account

import (
	"time"

	"tillwatch/api"
)

// restore fills an empty picture with the lines of a frame. It takes what they hold
// for its own.
func (s *Store) restore(lines []*Frame) {
	now := time.Now()
	s.mu.Lock()
	defer s.release()
	s.stamp()
	for _, f := range lines {
		if f.Whole {
			s.restoreHead(f, now)
		}
		for _, sh := range f.Shipments {
			s.restoreShipment(sh, f.Memory, now)
		}
	}
	for _, f := range lines {
		for _, in := range f.Intents {
			s.restoreIntent(in, f.Memory, now)
		}
	}
	for _, f := range lines {
		for _, sh := range f.Shipments {
			s.adopt(sh.IntentID, sh.ID)
		}
	}
	for _, f := range lines {
		for _, e := range f.Events {
			s.restoreEvent(e)
		}
	}
}

func (s *Store) restoreHead(f *Frame, now time.Time) {
	sum := SummaryOf(f.Summary, nil)
	s.feed.Epoch, s.feed.Cursor, s.feed.Head = sum.Feed.Epoch, sum.Feed.Cursor, sum.Feed.Cursor
	s.lastEvent, s.lastRead, s.counters = sum.LastEvent, sum.LastRead, sum.Events
	if f.Memory != nil {
		s.recallMemory(f.Memory, now)
	}
}

func (s *Store) restoreIntent(saved *IntentDetail, memory *Memory, now time.Time) {
	if s.intents.get(saved.ID) != nil {
		return
	}
	in := s.editIntent(saved.ID)
	empty := *in
	*in = *saved
	in.ID, in.Version, in.basis, in.State, in.Shipments, in.Timeline = empty.ID, empty.Version, empty.basis, "", nil, nil
	in.Since, in.CreatedAt, in.ReadAt = plausible(saved.Since), plausible(saved.CreatedAt), measured(saved.ReadAt, now)
	in.Reads = max(saved.Reads, 0)
	if in.Latest != nil {
		in.basis.readRank, in.basis.ordered = in.Latest.State.Rank(), len(in.Latest.OrderIDs) > 0
		in.Quantity, in.ReferenceID, in.Failure = in.Latest.Quantity, in.Latest.ReferenceID, in.Latest.Failure
	}
	s.intents.enter(in, saved.State)
	for _, id := range saved.Shipments {
		s.adopt(in.ID, id)
	}
	for _, m := range saved.Timeline {
		if !in.remembers(m.EventID) {
			s.remember(in, m)
		}
	}
	s.recallIntent(in, memory, now)
	s.intents.ended.note(in)
	s.alerts.judgeIntent(in, now)
}

// recallIntent brings back what the store remembered of an intent. A file can be
// written by anybody.
func (s *Store) recallIntent(in *IntentDetail, memory *Memory, now time.Time) {
	m := intentMemory{Newest: instantOf(in.ReadAt)}
	if memory != nil && memory.Intents != nil {
		m = memory.Intents[in.ID]
	}
	b := &in.basis
	b.floor = min(max(m.Floor, in.State.Rank()), api.Completed.Rank())
	// A clock that was set back must not make the past newer than what is read now.
	b.newest, b.lastEvent = earlier(measured(m.Newest.time(), now), now), m.LastEvent.time()
	b.seen, b.listed, b.reads = m.Seen, m.Listed, max(m.StateReads, 0)
	b.behind, b.missing = max(m.Behind, 0), max(m.NotFound, 0)
	s.knownSince(in, m.Known.time())
}

// measured is a moment that an earlier process measured, as one of this process: it
// keeps its age when the clock is set.
func measured(saved, now time.Time) time.Time {
	if saved = plausible(saved); saved.IsZero() {
		return saved
	}
	return now.Add(saved.Sub(now))
}

// adopt ties a restored shipment to its intent, if both are there.
func (s *Store) adopt(intent, shipment api.ID) {
	sh := s.shipments.get(shipment)
	if sh == nil || sh.IntentID != "" || s.intents.get(intent) == nil {
		return
	}
	in := s.editIntent(intent)
	s.editShipment(shipment).IntentID = intent
	in.Shipments = append(in.Shipments, shipment)
}

func (s *Store) restoreShipment(saved *Shipment, memory *Memory, now time.Time) {
	if s.shipments.get(saved.ID) != nil {
		return
	}
	var m shipmentMemory
	if memory != nil {
		m = memory.Shipments[saved.ID]
	}
	sh := s.editShipment(saved.ID)
	sh.Product, sh.Certainty, sh.Missing, sh.Latest = saved.Product, saved.Certainty, saved.Missing, saved.Latest
	sh.ReadAt, sh.missing = measured(saved.ReadAt, now), max(m.NotFound, 0)
	sh.newest, sh.lastEvent = earlier(measured(m.Newest.time(), now), now), m.LastEvent.time()
	s.shipments.move("", sh.Status())
}

func (s *Store) restoreEvent(saved *Event) {
	if s.events.byID[saved.ID] != nil {
		return
	}
	e := *saved
	e.CreatedAt, e.Received, e.Duplicates = plausible(e.CreatedAt), plausible(e.Received), max(e.Duplicates, 0)
	in := s.intentOf(&api.EventSource{ID: e.SourceID, Type: e.SourceType})
	e.epoch, e.lined = s.feed.epoch, in != nil && in.remembers(e.ID)
	s.events.add(&e, s.stamp())
}
