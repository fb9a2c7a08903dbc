package quota

// mostOverlapping is how many answers are remembered to compare later ones with.
const mostOverlapping = 64

// overlap remembers what the last answers reported. Of requests that were in
// flight together, those that were told of more remaining quota are counted in
// the smaller figure: they came first, or quota has come back since.
type overlap struct {
	answers []reported
}

type reported struct {
	ended     int64 // requests of the class that had ended by then, itself included
	remaining int64
}

func (o *overlap) add(ended, remaining int64) {
	if len(o.answers) == mostOverlapping {
		o.answers = append(o.answers[:0], o.answers[1:]...)
	}
	o.answers = append(o.answers, reported{ended, remaining})
}

// counted is how many answers after the first so many are counted in remaining.
func (o *overlap) counted(ended, remaining int64) int64 {
	n := int64(0)
	for _, a := range o.answers {
		if a.ended > ended && a.remaining > remaining {
			n++
		}
	}
	return n
}
