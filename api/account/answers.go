package account

import (
	"container/list"
)

// Whole answers are kept of so many intents and as many shipments, with bodies of
// so many bytes together: those that were read last. Of others the body is
// dropped, and of intents the buyer and the shipping that was not selected;
// reading one again brings them back.
const (
	wholeAnswers = 512
	wholeBodies  = 4 << 20
)

// answers knows whose newest answers are kept whole.
type answers[R comparable] struct {
	reduce func(R)    // drops of an answer what is not kept for long
	order  *list.List // of answer[R]; the longest kept is in front
	places map[R]*list.Element
	bytes  int
}

type answer[R any] struct {
	of    R
	bytes int // of its body
}

func newAnswers[R comparable](reduce func(R)) answers[R] {
	return answers[R]{reduce: reduce, order: list.New(), places: map[R]*list.Element{}}
}

// put notes that a new answer with a body of so many bytes is kept whole, and
// reduces those that give way to it.
func (a *answers[R]) put(of R, bytes int) {
	if old := a.places[of]; old != nil {
		a.remove(old)
	}
	a.places[of] = a.order.PushBack(answer[R]{of, bytes})
	a.bytes += bytes
	for a.order.Len() > wholeAnswers || a.bytes > wholeBodies && a.order.Len() > 1 {
		a.reduce(a.remove(a.order.Front()))
	}
}

func (a *answers[R]) remove(place *list.Element) R {
	gone := a.order.Remove(place).(answer[R])
	a.bytes -= gone.bytes
	delete(a.places, gone.of)
	return gone.of
}

func reduceIntent(r *intentRecord) { r.answer = keepOrder(r.answer) }

func reduceShipment(r *shipmentRecord) {
	reduced := *r.answer
	reduced.Raw = nil
	r.answer = &reduced
}
