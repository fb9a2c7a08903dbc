package account

import (
	"math"
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
			s.adopt(s.findIntent(sh.IntentID), s.shipments[sh.ID])
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
	if s.findIntent(saved.ID) != nil {
		return
	}
	r := s.intent(saved.ID)
	s.setState(r, saved.State)
	r.certainty, r.gone = saved.Certainty, saved.Missing
	r.since, r.created, r.readAt = instantOf(saved.Since), instantOf(saved.CreatedAt), instantOf(saved.ReadAt)
	r.product, r.merchant, r.total = saved.Product, saved.Merchant, saved.Total
	r.answers = uint32(min(max(saved.Reads, 0), math.MaxInt32))
	if r.answer = saved.Latest; r.answer != nil {
		r.readRank, r.ordered = int8(r.answer.State.Rank()), len(r.answer.OrderIDs) > 0
	}
	for _, id := range saved.Shipments {
		s.adopt(r, s.shipments[id])
	}
	for _, m := range saved.Timeline {
		if m.EventID == "" || !r.remembers(m.EventID) {
			s.remember(r, m)
		}
	}
	s.recallIntent(r, memory, now)
	s.touch(r)
	s.judgeIntent(r, now)
}

// recallIntent brings back what the store remembered of an intent. A file can be
// written by anybody.
func (s *Store) recallIntent(r *intentRecord, memory *Memory, now time.Time) {
	m := intentMemory{Newest: r.readAt}
	if memory != nil && memory.Intents != nil {
		m = memory.Intents[r.id]
	}
	r.floor = int8(min(max(m.Floor, r.state.Rank()), api.Completed.Rank()))
	// A clock that was set back must not make the past newer than what is read now.
	r.newest, r.lastEvent = min(m.Newest, s.clock.instant(now)), m.LastEvent
	r.seen, r.listed, r.reads = m.Seen, m.Listed, uint16(min(max(m.StateReads, 0), math.MaxUint16))
	r.behind, r.missing = inARow(m.Behind), inARow(m.NotFound)
	s.knownSince(r, minuteOf(m.Known))
}

// adopt ties a restored shipment to its intent, if both are there.
func (s *Store) adopt(in *intentRecord, sh *shipmentRecord) {
	if in == nil || sh == nil || sh.intent != nil {
		return
	}
	sh.intent, sh.sibling, in.parcel = in, in.parcel, sh.number
	in.parcels++
}

func inARow(saved int) uint8 { return uint8(min(max(saved, 0), mostInARow)) }

func (s *Store) restoreShipment(saved *Shipment, memory *Memory, now time.Time) {
	if s.shipments[saved.ID] != nil {
		return
	}
	var m shipmentMemory
	if memory != nil {
		m = memory.Shipments[saved.ID]
	}
	r := s.shipment(saved.ID)
	r.product, r.certainty, r.gone = saved.Product, saved.Certainty, saved.Missing
	r.readAt, r.missing = instantOf(saved.ReadAt), inARow(m.NotFound)
	r.newest, r.lastEvent = min(m.Newest, s.clock.instant(now)), m.LastEvent
	if latest := saved.Latest; latest != nil {
		r.answer, r.status, r.updated = latest, latest.Status, s.clock.instant(latest.UpdatedAt)
	}
	if status := r.status; status != "" {
		s.shipmentCounts[""]--
		if s.shipmentCounts[""] == 0 {
			delete(s.shipmentCounts, "")
		}
		s.shipmentCounts[status]++
	}
	s.touchShipment(r)
}

func (s *Store) restoreEvent(saved *Event) {
	if s.events.kept[saved.ID] != nil {
		return
	}
	source := api.EventSource{ID: saved.SourceID, Type: saved.SourceType}
	in := s.intentOf(&source)
	r := s.events.add(saved.ID, s.stamp())
	*r = eventRecord{
		ordinal: r.ordinal, seq: saved.Seq, epoch: uint32(s.epoch), created: instantOf(saved.CreatedAt), received: instantOf(saved.Received),
		id: saved.ID, source: source.ID, kind: saved.Type, sourceType: source.Type,
		product: saved.Product, origin: saved.Origin,
		duplicates: uint32(max(saved.Duplicates, 0)), late: saved.Late, status: saved.Status,
		lined: in != nil && in.remembers(saved.ID),
	}
	switch r.sourceType {
	case api.SourceIntent:
		if in != nil {
			r.earlier, in.latest = in.latest, uint32(r.ordinal)+1
		}
	case api.SourceShipment:
		if sh := s.shipments[r.source]; sh != nil {
			r.earlier, sh.latest = sh.latest, uint32(r.ordinal)+1
		}
	}
}
