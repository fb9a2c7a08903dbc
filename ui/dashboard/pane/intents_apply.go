package pane

import "tillwatch/api/account"

// Apply takes over what changed. first keeps the first picture from glowing.
func (p *Intents) Apply(c *account.Changes, first bool) {
	now := p.tenths(p.look.Now)
	var moves []move
	for _, in := range c.Intents {
		place, known := p.shelf.find(string(in.ID))
		if !known {
			place = p.shelf.add(in.ID)
			p.shelf.at(place).set(isMoving, true)
			moves = append(moves, move{place, in, true})
			continue
		}
		k := p.shelf.at(place)
		next := p.shelf.of(in, k, p.window)
		switch {
		case k.is(isMoving):
			moves = append(moves, move{place, in, false})
		case next == *k:
		case p.staysInPlace(k, &next):
			p.put(place, in, now)
		default:
			p.followed(place, &next)
			k.flags |= isMoving
			moves = append(moves, move{place, in, false})
		}
	}
	p.lift(moves)
	for _, m := range moves {
		p.put(m.place, m.in, now)
		if k := p.shelf.at(m.place); m.fresh {
			k.turned, k.changed = now, 0
			if first {
				k.turned = 0
			}
		}
	}
	p.settle(moves)
	if p.agents != c.Summary.Agents || len(p.stuck)+len(c.Summary.Alerts) > 0 {
		p.stale = true
	}
	p.agents, p.read = c.Summary.Agents, c.Summary.LastRead
	p.stuck, p.pace = stuckIntents(c.Summary.Alerts), c.Summary.Pace
}

// put replaces what is kept of an intent. now is the time on the screen.
func (p *Intents) put(place uint32, in *account.Intent, now uint32) {
	k := p.shelf.at(place)
	next := p.shelf.of(in, k, p.window)
	switch {
	case next.state != k.state:
		next.turned = now
		next.set(isNoted, false)
		delete(p.notes, place)
	case next.total != k.total || next.currency != k.currency || next.product != k.product || next.certainty != k.certainty || next.is(isMissing) != k.is(isMissing):
		next.changed = now
	}
	*k = next
	p.stale = true
	p.changed(place)
}

// move is an intent that changes its place in the tables, or is new.
type move struct {
	place uint32
	in    *account.Intent
	fresh bool
}

// staysInPlace reports whether a change leaves the tables as they are.
func (p *Intents) staysInPlace(k, next *kept) bool {
	return p.filter == nil && k.lane == next.lane && p.inList(k, next) == 0 && (k.lane >= lanes || p.inLane(k, next) == 0)
}

// groups are places, all and by their lanes.
type groups struct {
	all   []uint32
	lanes [lanes][]uint32
}

func (g *groups) add(place uint32, lane int8) {
	g.all = append(g.all, place)
	if lane < lanes {
		g.lanes[lane] = append(g.lanes[lane], place)
	}
}

// lift takes out of the tables what is about to change its place.
func (p *Intents) lift(moves []move) {
	var out groups
	for _, m := range moves {
		if k := p.shelf.at(m.place); k.is(isListed) {
			k.flags &^= isListed
			out.add(m.place, k.lane)
		}
	}
	p.list.Lift(out.all)
	for i, places := range out.lanes {
		p.lanes[i].Lift(places)
	}
}

// settle puts into the tables what was lifted, and what is new.
func (p *Intents) settle(moves []move) {
	var in groups
	for _, m := range moves {
		if k := p.shelf.at(m.place); k.is(isMoving) {
			k.flags = k.flags&^isMoving | isListed
			in.add(m.place, k.lane)
		}
	}
	p.list.Upsert(in.all...)
	for i, places := range in.lanes {
		p.lanes[i].Upsert(places...)
	}
	if k := p.keptOf(p.follow); k != nil && k.lane < lanes && p.lanes[k.lane].Select(string(p.shelf.idOf(k))) {
		p.lane = int(k.lane)
	}
	p.follow = ""
}

// followed notes that the cursor, where a person put it on a row, goes along
// when that changes its lane.
func (p *Intents) followed(place uint32, next *kept) {
	k := p.shelf.at(place)
	if k.lane == next.lane || k.lane >= lanes || next.lane >= lanes || p.lane != int(k.lane) {
		return
	}
	if under, ok := p.lanes[k.lane].Cursor(); ok && under == place && p.lanes[k.lane].Pinned() {
		p.follow = p.shelf.idOf(k)
	}
}
