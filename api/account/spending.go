package account

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Spender is somebody who spends the account's quota. It is immutable.
type Spender struct {
	Kind    SpenderKind    `json:"kind"`
	Name    api.Text       `json:"name,omitempty"`   // of an observed one, as [api.Exchange.By] has it, unlike any other's; else ""
	Purpose quota.Priority `json:"purpose,omitzero"` // of an own one: for whom it asks
	Key     string         `json:"key,omitempty"`    // the fingerprint of its API key; "" when it is not known
	Last    time.Time      `json:"last,omitzero"`    // when its newest request was sent, as far as known
	Uses    []Use          `json:"uses,omitempty"`   // by class and endpoint, at most 20
}

// SpenderKind is how somebody is known to spend.
type SpenderKind string

// The kinds of spenders.
const (
	SpenderOwn      SpenderKind = "own"      // tillwatch itself, for one purpose
	SpenderObserved SpenderKind = "observed" // a caller whose requests a proxy saw
	SpenderOthers   SpenderKind = "others"   // those observed that are too many to be told apart
	SpenderRest     SpenderKind = "rest"     // everybody whom no proxy saw: inferred from what headers say, at least so much
)

// Use is what a spender does with one endpoint.
type Use struct {
	Class    quota.Class   `json:"class,omitempty"`    // the bucket that it charges; "" where the contract names none
	Endpoint string        `json:"endpoint,omitempty"` // method and template: "GET /api/v1/checkout-intents/{id}"; "" for all that are not told apart
	P50      time.Duration `json:"p50Ns,omitzero"`     // of the latency of its newest answers; 0 before the first of this run
	P95      time.Duration `json:"p95Ns,omitzero"`     // likewise
	Courses[Tally]
}

// Tally counts the requests that were sent in one second, minute or hour.
type Tally struct {
	At       time.Time `json:"at"` // its start
	Requests int       `json:"requests"`
	Refused  int       `json:"refused,omitempty"` // of them, those that were answered 429
	Errors   int       `json:"errors,omitempty"`  // of them, those that got no answer or one of 400 and above but for 429
}

// Span is a stretch of time up to now over which spending is told.
type Span uint8

// The spans.
const (
	LastMinute Span = iota // told by the second
	LastHour               // told by the minute
	LastDay                // told by the hour
)

// Spans lists them.
func Spans() []Span { return []Span{LastMinute, LastHour, LastDay} }

// Length is how many tallies a span has at most.
func (s Span) Length() int { return [...]int{60, 60, 24}[s] }

// Width is the time that each tally of the span covers.
func (s Span) Width() time.Duration {
	return [...]time.Duration{time.Second, time.Minute, time.Hour}[s]
}

// Over is the spending of all uses of one class in a span, oldest first; of all
// classes where class is "".
func (s *Spender) Over(span Span, class quota.Class) []Tally {
	var sum []Tally
	for i := range s.Uses {
		if u := &s.Uses[i]; class == "" || u.Class == class {
			sum = addTallies(sum, u.Over(span))
		}
	}
	return sum
}

// addTallies adds two lists, each oldest first.
func addTallies(a, b []Tally) []Tally {
	if len(a) == 0 {
		return b
	}
	sum := make([]Tally, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch order := a[0].At.Compare(b[0].At); {
		case order < 0:
			sum, a = append(sum, a[0]), a[1:]
		case order > 0:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum, a, b = append(sum, a[0].plus(b[0])), a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

func (t Tally) plus(o Tally) Tally {
	t.Requests, t.Refused, t.Errors = t.Requests+o.Requests, t.Refused+o.Refused, t.Errors+o.Errors
	return t
}

// Total is the sum of tallies.
func Total(tallies []Tally) Tally {
	var sum Tally
	for _, t := range tallies {
		sum = sum.plus(t)
	}
	return sum
}
