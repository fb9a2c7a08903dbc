package account

// entry is the place of a value in an order of change.
type entry[T any] struct {
	value      T
	version    uint64
	prev, next *entry[T]
}

// order lists values by when they last changed. To see what changed after a
// version costs what changed, however much is listed.
type order[T any] struct{ oldest, newest *entry[T] }

// touch makes e the newest of the order.
func (o *order[T]) touch(e *entry[T], version uint64) {
	e.version = version
	if o.newest == e {
		return
	}
	o.remove(e)
	e.prev = o.newest
	if o.newest != nil {
		o.newest.next = e
	} else {
		o.oldest = e
	}
	o.newest = e
}

// remove takes e out of the order; it may not be in it.
func (o *order[T]) remove(e *entry[T]) {
	if e.prev != nil {
		e.prev.next = e.next
	} else if o.oldest == e {
		o.oldest = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else if o.newest == e {
		o.newest = e.prev
	}
	e.prev, e.next = nil, nil
}

// since lists what changed after version, the longest unchanged first.
func (o *order[T]) since(version uint64) []T {
	count, first := 0, (*entry[T])(nil)
	for e := o.newest; e != nil && e.version > version; e = e.prev {
		first = e
		count++
	}
	if count == 0 {
		return nil
	}
	values := make([]T, 0, count)
	for e := first; e != nil; e = e.next {
		values = append(values, e.value)
	}
	return values
}

// touches remembers which intents changed last. An intent that changed again
// stands in it again: its newest place counts.
type touches struct {
	ring  []touch
	total uint32 // ever, modulo 2³²
}

type touch struct {
	number  uint32
	at      uint32 // what total was
	version uint64
}

// mostTouches are remembered. Where more has changed, all intents are looked at.
const mostTouches = 1 << 12

// add makes r the one that changed last.
func (t *touches) add(r *intentRecord) {
	if len(t.ring) == 0 {
		t.ring = make([]touch, mostTouches)
	}
	newest := &t.ring[t.total%mostTouches]
	if newest.number != r.number {
		t.total++
		newest = &t.ring[t.total%mostTouches]
	}
	*newest = touch{r.number, t.total, r.version}
	r.touched = t.total
}
