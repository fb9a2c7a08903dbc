package simulator

import (
	"net/http"
	"strings"

	"tillwatch/api"
)

// faultPlan decides which answers are errors: those that the control API asked
// for, and a share at random. It is guarded by the simulator's lock.
type faultPlan struct {
	share  float64
	dice   dice
	orders []faultOrder
}

// faultOrder makes the next requests under a path fail.
type faultOrder struct {
	Count  int    `json:"count"`  // default 1
	Status int    `json:"status"` // 400 to 599; default 500
	Path   string `json:"path"`   // prefix of the request's path; "" for all
	Method string `json:"method"` // "" for all
	After  bool   `json:"after"`  // the request takes effect and only its answer fails
}

// fault is the error that a request gets; none when status is 0.
type fault struct {
	status int
	after  bool
}

func newFaultPlan(cfg Config) faultPlan {
	return faultPlan{share: cfg.Faults.Errors, dice: newDice(cfg.Seed, diceFaults, 0)}
}

// next takes the fault for a request; a request that is rejected anyway takes
// none.
func (p *faultPlan) next(r *http.Request, room bool) fault {
	if !room {
		return fault{}
	}
	for i := range p.orders {
		o := &p.orders[i]
		if strings.HasPrefix(r.URL.Path, o.Path) && (o.Method == "" || o.Method == r.Method) {
			f := fault{o.Status, o.After}
			if o.Count--; o.Count <= 0 {
				p.orders = append(p.orders[:i], p.orders[i+1:]...)
			}
			return f
		}
	}
	if p.share > 0 && p.dice.chance(p.share) {
		return fault{http.StatusInternalServerError, r.Method == http.MethodPost && p.dice.chance(0.5)}
	}
	return fault{}
}

// answer is the contract's body for the status (contract, Errors).
func (f fault) answer() answer {
	switch f.status {
	case http.StatusUnauthorized:
		return answer{status: f.status, body: errorWire{"AuthenticationError", "Invalid API key"}}
	case http.StatusNotFound:
		return notFound("Not found")
	case http.StatusUnprocessableEntity:
		return invalid(map[string]fieldWire{"body": {Message: "injected"}})
	case http.StatusTooManyRequests:
		return answer{status: f.status, body: messageWire{"Too many requests per second"}, retryAfter: 1}
	case http.StatusInternalServerError:
		return answer{status: f.status, body: errorWire{"RuntimeError", "Internal server error"}}
	}
	return answer{status: f.status, body: errorWire{"RuntimeError", http.StatusText(f.status)}}
}

// invalid is a validation error, with the empty message and the inner status 400
// that the service's framework writes under HTTP 422.
func invalid(fields map[string]fieldWire) answer {
	return answer{status: http.StatusUnprocessableEntity, body: validationWire{Name: "ValidateError", Status: http.StatusBadRequest, Fields: fields}}
}

// placing is how many agents are at work. The caller holds the lock.
func (s *Simulator) placing() int { return s.states[api.PlacingOrder] }
