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

// replace puts one entry in the place of another.
func (o *order[T]) replace(old, e *entry[T]) {
	e.version, e.prev, e.next = old.version, old.prev, old.next
	if e.prev != nil {
		e.prev.next = e
	} else {
		o.oldest = e
	}
	if e.next != nil {
		e.next.prev = e
	} else {
		o.newest = e
	}
	old.prev, old.next = nil, nil
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

// intentOrder is an order of intents, by their numbers.
type intentOrder struct{ oldest, newest uint32 }

// touch makes r the newest of the order.
func (o *intentOrder) touch(s *Store, r *intentRecord, version uint64) {
	fresh := r.version == 0
	r.version = version
	if o.newest == r.number {
		return
	}
	if !fresh {
		if r.older != 0 {
			s.intentBlocks.at(r.older).newer = r.newer
		} else {
			o.oldest = r.newer
		}
		s.intentBlocks.at(r.newer).older = r.older // there is one: r is not the newest
	}
	r.older, r.newer = o.newest, 0
	if o.newest != 0 {
		s.intentBlocks.at(o.newest).newer = r.number
	} else {
		o.oldest = r.number
	}
	o.newest = r.number
}
