package account

import "time"

// restore fills an empty picture with the lines of a frame, whose values it keeps. It returns the quota in them.
func (s *Store) restore(lines []*Frame) (known frameQuota) {
	s.update(func(now time.Time) {
		for _, f := range lines {
			known.merge(f)
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
				s.links.adopt(sh.IntentID, sh.ID)
			}
		}
		for _, f := range lines {
			for _, e := range f.Events {
				in := s.links.intentOf(e)
				s.events.restore(e, s.feed.epoch, in != nil && in.remembers(e.ID))
			}
		}
		s.spenders.recall(known.Spenders, now)
		for _, f := range lines {
			if f.Whole && f.Memory != nil {
				s.spenders.recallAnswers(f.Memory.Answers)
			}
		}
		s.limits.recall(known.Limits, now)
	})
	return known
}

func (s *Store) restoreHead(f *Frame, now time.Time) {
	sum := summaryOf(f.Summary, frameQuota{})
	s.feed.Epoch, s.feed.Cursor, s.feed.Last = sum.Feed.Epoch, sum.Feed.Cursor, sum.Feed.Last
	s.feed.Head = sum.Feed.Cursor
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
		s.links.adopt(in.ID, id)
	}
	for _, m := range in.Timeline {
		if m.EventID != "" {
			s.events.known.add(m.EventID)
		}
	}
	s.alerts.judgeIntent(in, now)
}
