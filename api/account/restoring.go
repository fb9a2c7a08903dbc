package account

import (
	"time"

	"tillwatch/api"
)

// restore fills an empty picture with the lines of a frame. It takes what they hold
// for its own.
func (s *Store) restore(lines []*Frame) {
	s.update(func(now time.Time) {
		var told ToldQuota
		for _, f := range lines {
			told.Merge(f)
			if f.Whole {
				s.restoreHead(f, now)
			}
			for _, sh := range f.Shipments {
				s.shipments.restore(sh, f.Memory.ofShipment(sh), now)
			}
		}
		for _, f := range lines {
			for _, saved := range f.Intents {
				s.restoreIntent(saved, f.Memory.ofIntent(saved), now)
			}
		}
		for _, f := range lines {
			for _, sh := range f.Shipments {
				s.adopt(sh.IntentID, sh.ID)
			}
		}
		for _, f := range lines {
			for _, e := range f.Events {
				in := s.intentOf(e)
				s.events.restore(e, s.feed.epoch, in != nil && in.remembers(e.ID))
			}
		}
		s.spenders.recall(told.Spenders, now)
		s.limits.recall(told.Limits, now)
	})
}

func (s *Store) restoreHead(f *Frame, now time.Time) {
	sum := SummaryOf(f.Summary, ToldQuota{})
	s.feed.Epoch, s.feed.Cursor, s.feed.Head = sum.Feed.Epoch, sum.Feed.Cursor, sum.Feed.Cursor
	s.events.EventCounters, s.events.newest, s.intents.reads.last = sum.Events, sum.LastEvent, sum.LastRead
	s.watchedSince(sum.Known)
	if f.Memory != nil {
		s.recallMemory(f.Memory, now)
	}
}

func (s *Store) restoreIntent(saved *IntentDetail, m intentMemory, now time.Time) {
	in := s.intents.restore(saved, m, now)
	if in == nil {
		return
	}
	for _, id := range saved.Shipments {
		s.adopt(in.ID, id)
	}
	for i := range in.Timeline {
		if id := in.Timeline[i].EventID; id != "" {
			s.events.known.add(id)
		}
	}
	s.alerts.judgeIntent(in, now)
}

// adopt ties a restored shipment to its intent, if both are there.
func (s *Store) adopt(intent, shipment api.ID) {
	sh := s.shipments.get(shipment)
	if sh == nil || sh.IntentID != "" || s.intents.get(intent) == nil {
		return
	}
	in := s.intents.edit(intent)
	s.shipments.edit(shipment).IntentID = intent
	in.Shipments = append(in.Shipments, shipment)
}

// intentOf returns the intent in whose timeline an event may stand; nil for none.
func (s *Store) intentOf(e *Event) *IntentDetail {
	switch e.SourceType {
	case api.SourceIntent:
		return s.intents.get(e.SourceID)
	case api.SourceShipment:
		if sh := s.shipments.get(e.SourceID); sh != nil {
			return s.intents.get(sh.IntentID)
		}
	}
	return nil
}
