package account

import (
	"slices"
	"sort"

	"tillwatch/api"
)

// table keeps values by id, and in the order in which they changed last. A value
// that was handed out never changes again: an edit puts a copy in its place.
type table[V any] struct {
	news    *news
	head    func(*V) (id *api.ID, version *uint64)
	byID    map[api.ID]*V
	changed []change // the newest last; of an id that stands in it again only its newest place counts
	gone    []change // those that were let go, the newest last
	cut     uint64   // the version up to which the table has forgotten what it let go
}

type change struct {
	id      api.ID
	version uint64
}

// mostGone bounds how many ids that were let go are remembered for whoever looks
// at the changes.
const mostGone = 1 << 12

func newTable[V any](n *news, head func(*V) (*api.ID, *uint64)) table[V] {
	return table[V]{news: n, head: head, byID: map[api.ID]*V{}}
}

// get returns the value of an id; nil for none.
func (t *table[V]) get(id api.ID) *V { return t.byID[id] }

// edit returns the value of an id for changes in this critical section; a new one
// when there is none. Until the section ends nobody else sees it.
func (t *table[V]) edit(id api.ID) *V {
	version := t.news.stamp()
	before := t.byID[id]
	after := new(V)
	if before != nil {
		if _, made := t.head(before); *made == version {
			return before
		}
		*after = *before
	}
	itsID, itsVersion := t.head(after)
	*itsID, *itsVersion = id, version
	t.byID[id] = after
	t.changed = append(t.changed, change{id, version})
	if len(t.changed) > 2*len(t.byID)+64 {
		t.changed = slices.DeleteFunc(t.changed, func(c change) bool { return t.current(c) == nil })
	}
	return after
}

// drop lets a value go.
func (t *table[V]) drop(id api.ID) {
	delete(t.byID, id)
	t.gone = append(t.gone, change{id, t.news.stamp()})
	if surplus := len(t.gone) - mostGone; surplus > mostGone {
		t.cut = t.gone[surplus-1].version
		t.gone = slices.Delete(t.gone, 0, surplus)
	}
}

// current returns the value that a change made; nil when a later one replaced it.
func (t *table[V]) current(c change) *V {
	v := t.byID[c.id]
	if v == nil {
		return nil
	}
	if _, version := t.head(v); *version != c.version {
		return nil
	}
	return v
}

// since lists the values that changed after a version, the longest unchanged
// first, each once.
func (t *table[V]) since(version uint64) []*V {
	var values []*V
	for _, c := range after(t.changed, version) {
		if v := t.current(c); v != nil {
			values = append(values, v)
		}
	}
	return values
}

// goneSince lists the ids that were let go after a version and are not back. The
// list is not complete when that version is too long ago.
func (t *table[V]) goneSince(version uint64) (ids []api.ID, complete bool) {
	for _, c := range after(t.gone, version) {
		if t.byID[c.id] == nil {
			ids = append(ids, c.id)
		}
	}
	return ids, version >= t.cut
}

func after(changes []change, version uint64) []change {
	return changes[sort.Search(len(changes), func(i int) bool { return changes[i].version > version }):]
}
