package account

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"tillwatch/api"
)

// events keeps the newest events in full and the ids of many more, to recognise repeated ones.
type events struct {
	EventCounters
	table[Event]
	keep     int
	newest   time.Time           // when the newest was received; zero for none
	order    []api.ID            // of the kept events, in order of arrival
	bySource map[api.ID][]api.ID // likewise, by source
	total    int                 // how many there ever were
	births   []uint64            // the versions at which the kept events became known
	bodies   int                 // total bytes of the kept bodies
	bare     int                 // bodies are dropped up to this ordinal
	known    knownIDs            // of the newest events, kept or not
}

// mostBodies bounds the total bytes of the kept bodies.
const mostBodies = 8 << 20

func newEvents(n *news, keep int) events {
	return events{
		table: newTable(n, func(e *Event) (*api.ID, *uint64) { return &e.ID, &e.Version }), keep: keep,
		bySource: map[api.ID][]api.ID{}, known: newKnownIDs(max(1<<12, 22*keep)),
	}
}

// take keeps a delivered event and returns it; nil if it is a repetition. epoch is that of the followed journal.
func (l *events) take(d *Delivery, epoch int) *Event {
	event := &d.Event
	switch e := l.get(event.ID); {
	case e != nil:
		l.again(e, d, epoch)
		return nil
	case l.known.has(event.ID):
		l.Duplicate++
		l.news.stamp()
		return nil
	}
	l.Received++
	l.Duplicate += d.Duplicates
	if d.Origin == "backfill" {
		l.Backfilled++
	}
	e := d.Kept()
	e.epoch = epoch
	return l.add(e)
}

// Kept returns the event as the picture keeps it.
func (d *Delivery) Kept() Event {
	event := &d.Event
	return Event{
		Seq: d.Seq, ID: event.ID, Type: event.Type, SourceType: event.Source.Type, SourceID: event.Source.ID,
		CreatedAt: plausible(event.CreatedAt), Received: plausible(d.Received), Origin: d.Origin,
		Duplicates: max(d.Duplicates, 0), Raw: event.Raw,
	}
}

// again counts a repeated delivery of a kept event. The same position in the same journal only means that this
// client read it twice; another journal has other positions for the same events.
func (l *events) again(e *Event, d *Delivery, epoch int) {
	duplicates := max(d.Duplicates, 0)
	switch {
	case e.epoch == epoch && d.Seq != e.Seq:
		l.Duplicate++
		l.edit(e.ID).Duplicates++
	case e.epoch != epoch || duplicates > e.Duplicates:
		e = l.edit(e.ID)
		l.Duplicate += max(0, duplicates-e.Duplicates)
		e.epoch, e.Seq, e.Duplicates = epoch, d.Seq, max(e.Duplicates, duplicates)
	}
}

// add keeps a new event, dropping the oldest if there are too many.
func (l *events) add(event Event) *Event {
	if len(l.order) == l.keep {
		l.forget(l.get(l.order[0]))
	}
	e := l.edit(event.ID)
	event.Version, event.ordinal = e.Version, l.total
	*e = event
	l.order = append(l.order, e.ID)
	l.bySource[e.SourceID] = append(l.bySource[e.SourceID], e.ID)
	l.known.add(e.ID)
	l.total++
	if l.births = append(l.births, e.Version); len(l.births) > 8*l.keep {
		l.births = slices.Clone(l.births[4*l.keep:])
	}
	l.bodies += len(e.Raw)
	l.dropBodies()
	return e
}

func (l *events) forget(e *Event) {
	l.bodies -= len(e.Raw)
	l.order = l.order[1:]
	delete(l.byID, e.ID)
	if l.bySource[e.SourceID] = l.bySource[e.SourceID][1:]; len(l.bySource[e.SourceID]) == 0 {
		delete(l.bySource, e.SourceID)
	}
}

// of lists the kept events of a source.
func (l *events) of(source api.ID) []*Event {
	var list []*Event
	for _, id := range l.bySource[source] {
		list = append(list, l.get(id))
	}
	return list
}

// first returns the ordinal of the oldest kept event.
func (l *events) first() int { return l.total - len(l.order) }

// name sets the product name of a source's kept events.
func (l *events) name(source api.ID, product api.Text) {
	for _, id := range l.bySource[source] {
		l.edit(id).Product = product
	}
}

// since lists the kept events that changed after a version, the oldest first, and counts those that became known
// after it and are no longer kept.
func (l *events) since(version uint64) (changed []*Event, skipped int) {
	changed = l.table.since(version)
	slices.SortFunc(changed, func(a, b *Event) int { return cmp.Compare(a.ordinal, b.ordinal) })
	if version == 0 {
		return changed, l.first()
	}
	born := len(l.births) - sort.Search(len(l.births), func(i int) bool { return l.births[i] > version })
	return changed, max(0, born-len(l.order))
}

// dropBodies drops the bodies of the oldest events while there are too many bytes of them: the relay still has
// them.
func (l *events) dropBodies() {
	for l.bare = max(l.bare, l.first()); l.bodies > mostBodies && l.bare+1 < l.total; l.bare++ {
		e := l.edit(l.order[l.bare-l.first()])
		l.bodies -= len(e.Raw)
		e.Raw = nil
	}
}

// put takes over an event of a frame, new or changed. A known event keeps its source, by which it is listed.
func (l *events) put(e *Event) {
	before := l.get(e.ID)
	if before == nil {
		l.add(*e)
		return
	}
	e.ordinal, e.SourceType, e.SourceID = before.ordinal, before.SourceType, before.SourceID
	l.bodies += len(e.Raw) - len(before.Raw)
	l.table.put(e)
}

// restore keeps an event of an earlier run unless it is known already.
func (l *events) restore(saved *Event, epoch int, lined bool) {
	if l.get(saved.ID) != nil {
		return
	}
	e := *saved
	e.CreatedAt, e.Received, e.Duplicates = plausible(e.CreatedAt), plausible(e.Received), max(e.Duplicates, 0)
	e.epoch, e.lined = epoch, lined
	l.add(e)
}
