package quota

// mostOverlapping is how many answers are remembered for comparison.
const mostOverlapping = 64

// overlap remembers what recent answers reported. Among overlapping requests, a smaller remaining quota includes
// the answers that reported more: those came first, or quota was returned since.
type overlap struct {
	answers []reported
}

type reported struct {
	ended     int64 // how many requests of the class had ended by then, including itself
	remaining int64
}

func (o *overlap) add(ended, remaining int64) {
	if len(o.answers) == mostOverlapping {
		o.answers = append(o.answers[:0], o.answers[1:]...)
	}
	o.answers = append(o.answers, reported{ended, remaining})
}

// counted returns how many answers after the first ended ones are counted in remaining.
func (o *overlap) counted(ended, remaining int64) int64 {
	n := int64(0)
	for _, a := range o.answers {
		if a.ended > ended && a.remaining > remaining {
			n++
		}
	}
	return n
}
