package dialog

import "time"

const (
	// quietFor is how long the keys must have been quiet, after a dialog opened and
	// before a key that confirms.
	quietFor = 400 * time.Millisecond
	// quietSame is the same for a key that was also the last one pressed: a terminal
	// reports a held key like one that is pressed again, and the first repeat comes up to
	// about 0.7 s after the press.
	quietSame = time.Second
	// AnswerWithin is how long a terminal may take to answer before it is asked again. After
	// that time, a terminal that has never answered counts as one that cannot.
	AnswerWithin = 2 * time.Second
	// lateBy is how late the end of that time may be noticed. Later means a stall,
	// and says nothing about the keys that were typed meanwhile.
	lateBy = 150 * time.Millisecond
)

// Quiet distinguishes keys that were meant for a dialog with money behind it from keys that were
// typed before it was on the screen. Keys carry no time: one that was typed at once and handled
// late, after a stall or over a slow line, looks like one that was typed late. So keys count only
// after the terminal has answered a question: in the output the question follows the dialog, and
// in the input the answer follows everything that was typed before.
//
// A Quiet lives as long as its terminal. It does not wait itself: its methods say what to do
// next.
type Quiet struct {
	last    time.Time // when the last key came, or when the wait began
	lastKey string
	asked   time.Time // when the terminal was asked last
	open    int       // number of unanswered questions
	answers bool      // this terminal answers questions
	proven  bool
}

// Step is what to do next: nothing, or one of these.
type Step struct {
	Wait time.Duration // and then call Waited; 0: do not wait
	Ask  bool          // the terminal for its attributes; call Answered, or Silent after AnswerWithin
}

// Begin holds keys back from now on.
func (q *Quiet) Begin(now time.Time) Step {
	q.last, q.lastKey, q.proven = now, "", false
	return Step{Wait: quietFor}
}

// Proven reports whether keys count.
func (q *Quiet) Proven() bool { return q.proven }

// Waited asks the terminal once the keys have been quiet.
func (q *Quiet) Waited(now time.Time) Step {
	left := quietFor - now.Sub(q.last)
	switch {
	case q.proven:
		return Step{}
	case left > 0:
		return Step{Wait: left}
	}
	return q.ask(now)
}

func (q *Quiet) ask(now time.Time) Step {
	q.asked = now
	q.open++
	return Step{Ask: true}
}

// Answered handles the terminal's answer. waiting is true if a dialog waits for it.
func (q *Quiet) Answered(now time.Time, waiting bool) Step {
	q.answers = true
	q.open = max(q.open-1, 0)
	if q.proven || q.open > 0 || !waiting {
		return Step{}
	}
	return q.prove(now)
}

// Silent handles the end of the wait for an answer: a terminal that can answer is asked again.
func (q *Quiet) Silent(now time.Time) Step {
	if q.proven || q.open == 0 {
		return Step{}
	}
	q.open = 0
	if q.answers || now.Sub(q.asked) > AnswerWithin+lateBy {
		return q.ask(now)
	}
	return q.prove(now)
}

// prove makes keys count, unless one came after the question.
func (q *Quiet) prove(now time.Time) Step {
	if !q.last.Before(q.asked) {
		return q.Waited(now)
	}
	q.proven = true
	return Step{}
}

// press notes a key or a click. It returns how long the keys had been quiet, and
// whether that is long enough for a key that confirms.
func (q *Quiet) press(name string, at time.Time) (since time.Duration, calm bool) {
	since = at.Sub(q.last)
	calm = since >= quietFor && (name != q.lastKey || since >= quietSame)
	q.last, q.lastKey = at, name
	return since, calm
}

// over reports whether any key would count now.
func (q *Quiet) over(now time.Time) bool { return q.proven && now.Sub(q.last) >= quietSame }
