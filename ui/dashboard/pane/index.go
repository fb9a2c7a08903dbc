package pane

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// index holds what intents are found by, side by side in memory: a filter over
// 100,000 rows that are spread over the heap would wait for the memory most of
// the time.
type index struct {
	built   bool
	scratch []byte // the text of one row
	text    []byte
	waste   int // bytes of text that no entry uses
	entries []entry
	version int

	hits    []uint64 // a bit an entry, of the filter that was asked last
	filter  *Filter
	now     time.Time
	counted int // version at that time
}

// entry is where the text of a row is, and its figures.
type entry struct {
	from, to uint32
	ends     [len(needle{}.ends)]uint16 // of the columns, from from
	quantity int32                      // -1 while not known
	since    int64                      // Unix nanoseconds; 0 while not known
	worth    float64
	currency string // "" without a total
}

// put replaces what the row of a place is found by.
func (x *index) put(place uint32, r *intentRow) {
	for int(place) >= len(x.entries) {
		x.entries = append(x.entries, entry{})
	}
	x.version++
	old, e := x.entries[place], r.figures()
	x.write(r, &e)
	if room := int(old.to - old.from); len(x.scratch) <= room {
		copy(x.text[old.from:], x.scratch)
		e.from = old.from
		x.waste += room - len(x.scratch)
	} else {
		e.from = uint32(len(x.text))
		x.text = append(x.text, x.scratch...)
		x.waste += room
	}
	e.to = e.from + uint32(len(x.scratch))
	x.entries[place] = e
	if x.waste > 1<<16 && x.waste > len(x.text)/2 {
		x.compact()
	}
}

// write makes the text of a row, in lower case, and notes where columns end.
func (x *index) write(r *intentRow, e *entry) {
	x.scratch = x.scratch[:0]
	for i, column := range r.text() {
		if i > 0 {
			e.ends[i-1] = uint16(min(len(x.scratch), longestText))
			x.scratch = append(x.scratch, between...)
		}
		for k, part := range column {
			if k > 0 {
				x.scratch = append(x.scratch, ' ')
			}
			x.scratch = appendLower(x.scratch, part)
		}
	}
}

// longestText is as far as ends of columns reach.
const longestText = 1<<16 - 1

func appendLower(to []byte, s string) []byte {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return append(to, strings.ToLower(s)...)
		}
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

func (x *index) compact() {
	text := make([]byte, 0, len(x.text)-x.waste)
	for i := range x.entries {
		e := &x.entries[i]
		from := uint32(len(text))
		text = append(text, x.text[e.from:e.to]...)
		e.from, e.to = from, uint32(len(text))
	}
	x.text, x.waste = text, 0
}

// matching is a bit for each row: whether the filter finds it.
func (x *index) matching(f *Filter) []uint64 {
	if x.filter == f && x.now.Equal(f.now) && x.counted == x.version {
		return x.hits
	}
	x.filter, x.now, x.counted = f, f.now, x.version
	x.hits = slices.Grow(x.hits[:0], len(x.entries)/64+1)[:len(x.entries)/64+1]
	clear(x.hits)
	needles := f.needles()
	for i := range x.entries {
		if x.holds(&x.entries[i], f, needles) {
			x.hits[i>>6] |= 1 << (i & 63)
		}
	}
	return x.hits
}

// finds reports whether the filter finds one row.
func (x *index) finds(place uint32, f *Filter) bool {
	return x.holds(&x.entries[place], f, f.needles())
}

func (x *index) holds(e *entry, f *Filter, needles [][]byte) bool {
	for i := range f.terms {
		t := &f.terms[i]
		found := false
		if t.bound != nil {
			found = t.bound.holds(e, f.now)
		} else {
			from, to := e.from, e.to
			if t.field > inState {
				from = e.from + uint32(e.ends[t.field-inPlace]) + 1
			}
			if t.field != inAll && t.field < inMore {
				to = e.from + uint32(e.ends[t.field-inState])
			}
			found = from <= to && bytes.Contains(x.text[from:to], needles[i])
		}
		if found == t.not {
			return false
		}
	}
	return true
}

// needles are the texts of the terms as bytes.
func (f *Filter) needles() [][]byte {
	all := make([][]byte, len(f.terms))
	for i, t := range f.terms {
		all[i] = []byte(t.text)
	}
	return all
}

func (e *entry) figure(f figure, now time.Time) (float64, string, bool) {
	switch f {
	case amount:
		return e.worth, e.currency, e.currency != ""
	case age:
		return float64(now.UnixNano()-e.since) / float64(time.Second), "", e.since != 0
	case count:
		return float64(e.quantity), "", e.quantity >= 0
	}
	return 0, "", false
}
