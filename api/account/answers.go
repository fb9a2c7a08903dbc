package account

// Whole answers are kept of so many intents and as many shipments, with bodies of
// so many bytes together: those that were read last. Of others the body is
// dropped, and of intents the buyer and the shipping that was not selected;
// reading one again brings them back.
const (
	wholeAnswers = 512
	wholeBodies  = 4 << 20
)

// answers keeps the newest reads whole.
type answers[R comparable, A any] struct {
	body  func(A) int // bytes
	pack  func(R, A)  // makes small what gives way
	whole map[R]answer[A]
	queue []turn[R] // the longest kept first; those that were replaced are left in it
	turns uint64
	bytes int
}

type answer[A any] struct {
	in   A
	turn uint64
}

type turn[R any] struct {
	of   R
	turn uint64
}

// of is the newest read, if it is kept whole.
func (a *answers[R, A]) of(r R) A { return a.whole[r].in }

// put keeps the newest read of something and packs those that give way.
func (a *answers[R, A]) put(r R, in A) {
	if a.whole == nil {
		a.whole = map[R]answer[A]{}
	}
	if old, kept := a.whole[r]; kept {
		a.bytes -= a.body(old.in)
	}
	a.turns++
	a.whole[r] = answer[A]{in, a.turns}
	a.bytes += a.body(in)
	a.queue = append(a.queue, turn[R]{r, a.turns})
	for len(a.whole) > wholeAnswers || a.bytes > wholeBodies && len(a.whole) > 1 {
		a.drop()
	}
	if len(a.queue) > 4*wholeAnswers {
		a.tidy()
	}
}

// drop packs the read that was kept the longest.
func (a *answers[R, A]) drop() {
	oldest := a.queue[0]
	a.queue = a.queue[1:]
	kept := a.whole[oldest.of]
	if kept.turn != oldest.turn {
		return
	}
	a.pack(oldest.of, kept.in)
	a.bytes -= a.body(kept.in)
	delete(a.whole, oldest.of)
}

// tidy takes out of the queue what was replaced.
func (a *answers[R, A]) tidy() {
	kept := make([]turn[R], 0, 2*wholeAnswers)
	for _, t := range a.queue {
		if a.whole[t.of].turn == t.turn {
			kept = append(kept, t)
		}
	}
	a.queue = kept
}
