package account

import "tillwatch/api"

// Whole answers are kept of so many intents, with bodies of so many bytes
// together: those that were read last. Of others the buyer, the body and the
// shipping that was not selected are dropped; reading the intent again brings
// them back.
const (
	wholeAnswers = 512
	wholeBodies  = 4 << 20
)

// answers keeps the newest reads whole.
type answers struct {
	whole map[*intentRecord]answer
	queue []turn // the longest kept first; those that were replaced are left in it
	turns uint64
	bytes int
}

type answer struct {
	in   *api.Intent
	turn uint64
}

type turn struct {
	of   *intentRecord
	turn uint64
}

func (a *answers) of(r *intentRecord) *api.Intent { return a.whole[r].in }

// put keeps the newest read of an intent and packs those that give way.
func (a *answers) put(r *intentRecord, in *api.Intent) {
	if a.whole == nil {
		a.whole = map[*intentRecord]answer{}
	}
	if old := a.whole[r].in; old != nil {
		a.bytes -= len(old.Raw)
	}
	a.turns++
	a.whole[r] = answer{in, a.turns}
	a.bytes += len(in.Raw)
	a.queue = append(a.queue, turn{r, a.turns})
	r.packed = ""
	for len(a.whole) > wholeAnswers || a.bytes > wholeBodies && len(a.whole) > 1 {
		a.drop()
	}
	if len(a.queue) > 4*wholeAnswers {
		a.tidy()
	}
}

// drop packs the read that was kept the longest.
func (a *answers) drop() {
	oldest := a.queue[0]
	a.queue = a.queue[1:]
	kept := a.whole[oldest.of]
	if kept.turn != oldest.turn {
		return
	}
	oldest.of.packed = packRead(savedReadOf(kept.in))
	a.bytes -= len(kept.in.Raw)
	delete(a.whole, oldest.of)
}

// tidy takes out of the queue what was replaced.
func (a *answers) tidy() {
	kept := make([]turn, 0, 2*wholeAnswers)
	for _, t := range a.queue {
		if a.whole[t.of].turn == t.turn {
			kept = append(kept, t)
		}
	}
	a.queue = kept
}
