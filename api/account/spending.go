package account

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Spender is somebody who spends the account's quota. It is immutable.
type Spender struct {
	Kind    SpenderKind    `json:"kind"`
	Name    api.Text       `json:"name,omitempty"`   // of an observed one, unique, as in [api.Exchange.By]; else ""
	Purpose quota.Priority `json:"purpose,omitzero"` // of an own one: why it spends
	Key     string         `json:"key,omitempty"`    // the fingerprint of its API key; "" if unknown
	Last    time.Time      `json:"last,omitzero"`    // when its newest request was sent, as far as known
	Uses    []Use          `json:"uses,omitempty"`   // by class and endpoint, at most 20
}

// SpenderKind is how a spender is known.
type SpenderKind string

// The kinds of spenders.
const (
	SpenderOwn      SpenderKind = "own"      // tillwatch itself, for one purpose
	SpenderObserved SpenderKind = "observed" // a caller whose requests a proxy saw
	SpenderOthers   SpenderKind = "others"   // observed callers beyond those kept apart
	SpenderRest     SpenderKind = "rest"     // everybody that no proxy saw: inferred from headers, a lower bound
)

// Use is a spender's use of one endpoint.
type Use struct {
	Class    quota.Class   `json:"class,omitempty"`    // the bucket it charges; "" if the contract names none
	Endpoint string        `json:"endpoint,omitempty"` // method and template: "GET /api/v1/checkout-intents/{id}"; "" for those not kept apart
	P50      time.Duration `json:"p50Ns,omitzero"`     // the median time to an answer, over the newest 256 at most, however old; 0 before the first
	P95      time.Duration `json:"p95Ns,omitzero"`     // likewise the 95th percentile
	Series[Tally]
}

// Tally counts the requests sent in one second, minute or hour.
type Tally struct {
	At       time.Time `json:"at"` // its start
	Requests int       `json:"requests"`
	Refused  int       `json:"refused,omitempty"` // of these, answered 429
	Errors   int       `json:"errors,omitempty"`  // of these, without an answer, or answered 400 and above other than 429
}

// Span is a stretch of time up to now.
type Span uint8

// The spans.
const (
	LastMinute Span = iota // by the second
	LastHour               // by the minute
	LastDay                // by the hour
)

// Spans lists all spans.
func Spans() []Span { return []Span{LastMinute, LastHour, LastDay} }

// Length is the greatest number of tallies in a span.
func (s Span) Length() int { return [...]int{60, 60, 24}[s] }

// Width is the time that one tally of the span covers.
func (s Span) Width() time.Duration {
	return [...]time.Duration{time.Second, time.Minute, time.Hour}[s]
}

// Over returns the spending of a class in a span, oldest first; of all classes if class is "".
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

// Total adds tallies up.
func Total(tallies []Tally) Tally {
	var sum Tally
	for _, t := range tallies {
		sum = sum.plus(t)
	}
	return sum
}
