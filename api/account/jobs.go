package account

// jobs keeps jobs side by side, without gaps, under numbers from 1. A number is
// good until the next job is removed.
type jobs struct {
	blocks [][]job
	last   uint32
	reads  numbers
	lists  numbers
}

const jobsPerBlock = 256

// number is that of the job of a task; 0 when there is none.
func (l *jobs) number(t task) uint32 { return l.of(t).get(t.number) }

func (l *jobs) at(number uint32) *job {
	return &l.blocks[(number-1)/jobsPerBlock][(number-1)%jobsPerBlock]
}

// have finds or makes the job of a task.
func (l *jobs) have(t task) (number uint32, j *job) {
	if n := l.number(t); n != 0 {
		return n, l.at(n)
	}
	if int(l.last) == len(l.blocks)*jobsPerBlock {
		l.blocks = append(l.blocks, make([]job, jobsPerBlock))
	}
	l.last++
	j = l.at(l.last)
	*j = job{number: t.number, list: t.list, asked: never, planned: never}
	l.of(t).set(t.number, l.last)
	return l.last, j
}

// remove takes a job out. The last one moves into its place and is returned,
// unless it was that one.
func (l *jobs) remove(number uint32) (moved *job) {
	gone, last := l.at(number), l.at(l.last)
	l.of(gone.task()).set(gone.number, 0)
	if number != l.last {
		*gone = *last
		l.of(gone.task()).set(gone.number, number)
		moved = gone
	}
	l.last--
	if spare := len(l.blocks) - int(l.last)/jobsPerBlock; spare > 2 {
		l.blocks[len(l.blocks)-1] = nil
		l.blocks = l.blocks[:len(l.blocks)-1]
	}
	return moved
}

func (l *jobs) of(t task) *numbers {
	if t.list {
		return &l.lists
	}
	return &l.reads
}

// numbers maps numbers that start at 1 and lie close together to others.
type numbers struct{ pages []*numberPage }

type numberPage struct {
	to   [numbersPerPage]uint32
	used int
}

const numbersPerPage = 1024

func (m *numbers) get(number uint32) uint32 {
	if page := int(number / numbersPerPage); page < len(m.pages) && m.pages[page] != nil {
		return m.pages[page].to[number%numbersPerPage]
	}
	return 0
}

// set maps a number; to 0 for none.
func (m *numbers) set(number, to uint32) {
	page := int(number / numbersPerPage)
	for page >= len(m.pages) {
		m.pages = append(m.pages, nil)
	}
	p := m.pages[page]
	if p == nil {
		p = &numberPage{}
		m.pages[page] = p
	}
	place := &p.to[number%numbersPerPage]
	switch {
	case *place == 0 && to != 0:
		p.used++
	case *place != 0 && to == 0:
		p.used--
	}
	if *place = to; p.used == 0 {
		m.pages[page] = nil
	}
}
