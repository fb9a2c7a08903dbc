package account

import (
	"slices"
	"sort"

	"tillwatch/api"
)

// eventLog keeps the newest events whole, and of many older ones that they were
// here. An event in a timeline is known for as long as that holds it, too. An event
// that was handed out is never changed again: an edit puts a copy in its place.
type eventLog struct {
	keep     int
	list     []*Event // those that are kept, in the order in which they came
	byID     map[api.ID]*Event
	bySource map[api.ID][]*Event // likewise
	total    int                 // events ever
	changed  uint64              // the newest version of them
	births   []uint64            // the versions at which the newest events became known
	bodies   int                 // bytes of the bodies that are kept
	bare     int                 // the ordinal up to which bodies were dropped
	known    knownIDs            // those that are kept no longer
}

// mostBodies bounds the bodies that are kept, in bytes together.
const mostBodies = 8 << 20

func newEventLog(keep int) eventLog {
	return eventLog{keep: keep, byID: map[api.ID]*Event{}, bySource: map[api.ID][]*Event{}, known: newKnownIDs(knownBeside(keep))}
}

// add keeps a new event, for which the oldest one may have to go.
func (l *eventLog) add(e *Event, version uint64) {
	if len(l.list) == l.keep {
		l.forget(l.list[0])
	}
	e.Version, e.ordinal = version, l.total
	l.list = append(l.list, e)
	l.byID[e.ID] = e
	l.bySource[e.SourceID] = append(l.bySource[e.SourceID], e)
	l.total++
	l.changed = version
	if l.births = append(l.births, version); len(l.births) > 8*l.keep {
		l.births = slices.Clone(l.births[4*l.keep:])
	}
	l.bodies += len(e.Raw)
	l.dropBodies(version)
}

func (l *eventLog) forget(e *Event) {
	l.bodies -= len(e.Raw)
	l.list[0] = nil
	l.list = l.list[1:]
	delete(l.byID, e.ID)
	l.known.add(e.ID)
	if rest := l.bySource[e.SourceID][1:]; len(rest) > 0 {
		l.bySource[e.SourceID] = rest
	} else {
		delete(l.bySource, e.SourceID)
	}
}

// of lists the events of a source that are kept.
func (l *eventLog) of(source api.ID) []*Event { return slices.Clone(l.bySource[source]) }

// first is the ordinal of the oldest event that is kept.
func (l *eventLog) first() int { return l.total - len(l.list) }

// edit returns an event that is kept for changes that make this version.
func (l *eventLog) edit(e *Event, version uint64) *Event {
	now := l.list[e.ordinal-l.first()]
	l.changed = version
	if now.Version == version {
		return now
	}
	edited := *now
	edited.Version = version
	l.list[e.ordinal-l.first()] = &edited
	l.byID[e.ID] = &edited
	ofSource := l.bySource[e.SourceID]
	ofSource[slices.Index(ofSource, now)] = &edited
	return &edited
}

// since lists the events that are kept and changed after a version, the oldest
// first, and counts those that became known after it and are not kept.
func (l *eventLog) since(version uint64) (changed []*Event, skipped int) {
	if l.changed <= version {
		return nil, 0
	}
	for _, e := range l.list {
		if e.Version > version {
			changed = append(changed, e)
		}
	}
	if version == 0 {
		return changed, l.first()
	}
	born := len(l.births) - sort.Search(len(l.births), func(i int) bool { return l.births[i] > version })
	return changed, max(0, born-len(l.list))
}

// dropBodies drops the bodies of the oldest events while all together are too
// large: the relay still has them.
func (l *eventLog) dropBodies(version uint64) {
	for l.bare = max(l.bare, l.first()); l.bodies > mostBodies && l.bare+1 < l.total; l.bare++ {
		e := l.edit(l.list[l.bare-l.first()], version)
		l.bodies -= len(e.Raw)
		e.Raw = nil
	}
}
