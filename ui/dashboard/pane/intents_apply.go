package pane

import (
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
)

// Apply applies changes. first keeps the first picture from glowing.
func (p *Intents) Apply(c *account.Changes, first bool) {
	held, pinned := p.lanes.current().Held(), p.lanes.current().Pinned()
	p.letGo(c.GoneIntents)
	var moves [lanes]struct {
		out []*intentRow
		in  []*intentRow
	}
	rows := make([]*intentRow, 0, len(c.Intents))
	if len(p.rows) == 0 {
		p.rows = make(map[api.ID]*intentRow, len(c.Intents)) // it does not grow row by row
	}
	for _, in := range c.Intents {
		old := p.rows[in.ID]
		if old != nil && old.Intent == in {
			continue // unchanged
		}
		row := p.newRow(in, old, first)
		p.unread += row.unread() - old.unread()
		rows = append(rows, row)
		p.rows[in.ID] = row
		if old != nil && old.State != in.State {
			delete(p.cards.notes, in.ID)
		}
		if old != nil && old.lane != row.lane && old.lane < lanes {
			moves[old.lane].out = append(moves[old.lane].out, old)
		}
		if row.lane < lanes {
			moves[row.lane].in = append(moves[row.lane].in, row)
		}
	}
	outdated := func(row *intentRow) bool { return p.rows[row.ID] != row } // replaced by a later row
	if p.orders == nil {
		p.list.Upsert(rows...) // keeps the last of each
	} else {
		p.list.Upsert(p.arrange(rows, c.GoneIntents)...)
	}
	for i, m := range moves {
		for _, row := range m.out {
			p.lanes.tables[i].Remove(string(row.ID))
		}
		p.lanes.tables[i].Upsert(slices.DeleteFunc(m.in, outdated)...)
	}
	p.lanes.begin()
	if _, there := p.lanes.current().Get(held); !there {
		p.lanes.take(held, pinned)
	}
	p.stale = p.stale || len(rows) > 0 || p.agents != c.Summary.Agents || len(p.cards.stuck)+len(c.Summary.Alerts) > 0 ||
		!maps.Equal(p.cards.pace, c.Summary.Pace) || p.look.freshness(p.read) != p.look.freshness(c.Summary.LastRead)
	if older := c.Summary.LetGo > 0; p.older != older {
		p.older, p.stale = older, true
	}
	p.agents, p.read = c.Summary.Agents, c.Summary.LastRead
	p.cards.stuck, p.cards.pace = stuckIntents(c.Summary.Alerts), c.Summary.Pace
	if known := c.Summary.IntentsKnown(); p.known != known {
		p.known, p.stale = known, true
	}
}

// letGo removes the intents that are no longer kept.
func (p *Intents) letGo(ids []api.ID) {
	for _, id := range ids {
		row := p.rows[id]
		if row == nil {
			continue
		}
		if row.lane < lanes {
			p.lanes.tables[row.lane].Remove(string(id))
		}
		p.list.Remove(string(id))
		p.unread -= row.unread()
		delete(p.rows, id)
		delete(p.cards.notes, id)
		p.stale = true
	}
}

// newRow returns the row of an intent. old is the row that it replaces, or nil.
func (p *Intents) newRow(in *account.Intent, old *intentRow, first bool) *intentRow {
	row := newIntentRow(in)
	row.expires = expiryOf(in, p.cards.window)
	p.cards.widest, p.cards.times = max(p.cards.widest, paint.Width(row.total)), max(p.cards.times, paint.Width(times(row)))
	switch {
	case old != nil:
		row.turned, row.changed = old.turned, old.changed
		if old.State != in.State {
			row.turned = p.look.Now
		} else if !sameMoney(old.Total, in.Total) || old.Product != in.Product || old.Certainty != in.Certainty || old.Missing != in.Missing {
			row.changed = p.look.Now
		}
	case !first:
		row.turned = p.look.Now
	}
	return row
}

func sameMoney(a, b *api.Money) bool { return a == b || a != nil && b != nil && *a == *b }

// expiryOf returns the end of the confirm window: the service's, or else counted from the
// creation; zero if neither is known.
func expiryOf(in *account.Intent, window time.Duration) time.Time {
	if in.ExpiresAt.IsZero() && !in.CreatedAt.IsZero() && in.State == api.AwaitingConfirmation {
		return in.CreatedAt.Add(window)
	}
	return in.ExpiresAt
}
