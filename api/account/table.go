package account

import (
	"reflect"
	"slices"
	"sort"

	"tillwatch/api"
)

// table keeps values by id, in the order in which they last changed. A value that was handed out never changes: an
// edit replaces it with a copy.
type table[V any] struct {
	news    *news
	head    func(*V) (id *api.ID, version *uint64)
	byID    map[api.ID]*V
	changed []change // the newest last; only the last entry of an id counts
	gone    []change // those that were dropped, the newest last
	cut     uint64   // the table has forgotten what it dropped up to this version
}

type change struct {
	id      api.ID
	version uint64
}

// mostGone bounds how many dropped ids are remembered for readers of changes.
const mostGone = 1 << 12

func newTable[V any](n *news, head func(*V) (*api.ID, *uint64)) table[V] {
	return table[V]{news: n, head: head, byID: map[api.ID]*V{}}
}

// get returns the value of an id; nil for none.
func (t *table[V]) get(id api.ID) *V { return t.byID[id] }

// edit returns the value of an id for changes in this critical section; a new one if there is none. Others see the
// change when the section ends.
func (t *table[V]) edit(id api.ID) *V {
	version := t.news.stamp()
	before := t.byID[id]
	after := new(V)
	if before != nil {
		itsID, made := t.head(before)
		if *made == version {
			return before
		}
		*after, id = *before, *itsID // all that is kept of it shares one id
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

// put takes over a value, unless it equals the present one.
func (t *table[V]) put(v *V) {
	id, version := t.head(v)
	if before := t.byID[*id]; before != nil {
		_, made := t.head(before)
		if *version = *made; reflect.DeepEqual(before, v) {
			return
		}
	}
	_, made := t.head(t.edit(*id))
	*version, t.byID[*id] = *made, v
}

// drop removes a value.
func (t *table[V]) drop(id api.ID) {
	delete(t.byID, id)
	t.gone = append(t.gone, change{id, t.news.stamp()})
	if surplus := len(t.gone) - mostGone; surplus > mostGone {
		t.cut = t.gone[surplus-1].version
		t.gone = slices.Delete(t.gone, 0, surplus)
	}
}

// dropUnless removes the values that are not listed.
func (t *table[V]) dropUnless(listed map[api.ID]bool) {
	for _, v := range t.since(0) {
		if id, _ := t.head(v); !listed[*id] {
			t.drop(*id)
		}
	}
}

// current returns the value that a change made; nil if a later change replaced it.
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

// since lists the values that changed after a version, each once, in order of their last change.
func (t *table[V]) since(version uint64) []*V {
	var values []*V
	for _, c := range after(t.changed, version) {
		if v := t.current(c); v != nil {
			values = append(values, v)
		}
	}
	return values
}

// goneSince lists the ids that were dropped after a version and are not back. complete is false if the version is
// too long ago.
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
