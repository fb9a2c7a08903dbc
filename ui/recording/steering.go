package recording

import (
	"context"
	"slices"
	"sort"
	"time"
)

// Pause stops time or lets it go on; at the end it begins again.
func (p *Player) Pause() {
	p.steer(func() {
		if p.clock.paused && p.at() >= p.file.length {
			p.moveTo(0)
		}
		p.setClock(p.at(), !p.clock.paused)
	})
}

// Step moves by a number of changes, backward if it is negative, and pauses there.
func (p *Player) Step(by int) {
	p.steer(func() {
		p.setClock(p.at(), true)
		target := min(max(p.want-1+by, 0), len(p.file.changes)-1)
		if by > 0 && p.want-1 == target { // no further change: go to the end
			p.moveTo(p.file.length)
			return
		}
		p.want = target + 1
		p.setClock(p.file.changes[target].at, true)
	})
}

// Seek goes to a moment after the beginning.
func (p *Player) Seek(to time.Duration) { p.steer(func() { p.moveTo(to) }) }

// SeekBy moves by a duration, backward if it is negative.
func (p *Player) SeekBy(by time.Duration) { p.steer(func() { p.moveTo(p.at() + by) }) }

// SeekMark goes to the next mark, or to the one before if by is negative, and pauses
// there. ok is false if there is none.
func (p *Player) SeekMark(by int) (mark Mark, ok bool) {
	at := p.Position().At
	marks := p.file.marks
	i := sort.Search(len(marks), func(i int) bool { return marks[i].At > at })
	if by < 0 {
		i = sort.Search(len(marks), func(i int) bool { return marks[i].At >= at }) - 1
	}
	if i < 0 || i >= len(marks) {
		return Mark{}, false
	}
	mark = marks[i]
	for _, m := range marks { // the most urgent of the same moment
		if m.At == mark.At && m.Kind.Rank() > mark.Kind.Rank() {
			mark = m
		}
	}
	p.steer(func() {
		p.moveTo(mark.At)
		p.setClock(mark.At, true)
	})
	return mark, true
}

// speeds are the steps of ChangeSpeed.
var speeds = [...]float64{Slowest, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, Fastest}

// ChangeSpeed moves by a number of steps among the usual speeds, down if it is negative.
func (p *Player) ChangeSpeed(by int) {
	p.steer(func() {
		at, speed := p.at(), p.clock.speed
		for ; by > 0; by-- {
			i := slices.IndexFunc(speeds[:], func(s float64) bool { return s > speed })
			if i < 0 {
				break
			}
			speed = speeds[i]
		}
		for ; by < 0; by++ {
			i := sort.SearchFloat64s(speeds[:], speed)
			speed = speeds[max(i-1, 0)]
		}
		p.clock.speed = speed
		p.setClock(at, p.clock.paused)
	})
}

// steer makes Run do something: reading a chapter takes longer than a key may.
func (p *Player) steer(what func()) {
	p.asked.Lock()
	p.asked.steps = append(p.asked.steps, what)
	if p.asked.since.IsZero() {
		p.asked.since = time.Now()
	}
	p.asked.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Player) askedAgain() bool {
	p.asked.Lock()
	defer p.asked.Unlock()
	return len(p.asked.steps) > 0
}

// perform does what was asked for, and shows only the position where all of it leads.
func (p *Player) perform(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for there := false; !there && ctx.Err() == nil; {
		p.asked.Lock()
		asked := p.asked.steps
		p.asked.steps = nil
		p.asked.Unlock()
		for _, do := range asked {
			do()
		}
		p.publish()
		there = p.show(ctx) && p.settled()
	}
	p.picture.Touch() // the screen is drawn, whatever was done
}

// settled reports whether nothing else was asked for, and notes that nothing is.
func (p *Player) settled() bool {
	p.asked.Lock()
	defer p.asked.Unlock()
	if len(p.asked.steps) > 0 {
		return false
	}
	p.asked.since = time.Time{}
	return true
}
