package simulator

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
)

// faultPlan decides which requests go wrong: those that the control API asked
// for, and a share at random. It is guarded by the simulator's lock.
type faultPlan struct {
	shares Faults
	dice   dice
	orders []faultOrder
	let    chan struct{} // closed and replaced when what is held back is let go
}

// faultOrder makes the next requests under a path go wrong.
type faultOrder struct {
	Count  int     `json:"count"`  // default 1
	Status int     `json:"status"` // 400 to 599; default 500
	Path   string  `json:"path"`   // prefix of the request's path; "" for all
	Method string  `json:"method"` // "" for all
	After  bool    `json:"after"`  // the request takes effect and only its answer fails
	Drop   bool    `json:"drop"`   // the connection breaks instead of an answer
	Twice  bool    `json:"twice"`  // the request arrives twice, and the second answers
	LateBy float64 `json:"lateBy"` // seconds that the request is held back, or with after its answer
}

// fault is what goes wrong with a request; nothing when it is zero.
type fault struct {
	status int           // of the error that is answered; 0 for none
	drop   bool          // the connection breaks instead of an answer
	after  bool          // the request takes effect before anything goes wrong
	twice  bool          // the request arrives twice, and the second answers
	late   time.Duration // the request is held back, or with after its answer
}

func newFaultPlan(cfg Config) faultPlan {
	return faultPlan{shares: cfg.Faults, dice: newDice(cfg.Seed, diceFaults, 0), let: make(chan struct{})}
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
			f := fault{o.Status, o.Drop, o.After, o.Twice, time.Duration(o.LateBy * float64(time.Second))}
			if o.Count--; o.Count <= 0 {
				p.orders = append(p.orders[:i], p.orders[i+1:]...)
			}
			return f
		}
	}
	var f fault
	mutation := r.Method == http.MethodPost
	hit := func(share float64) bool { return share > 0 && p.dice.chance(share) }
	if hit(p.shares.Errors) {
		f.status = http.StatusInternalServerError
	}
	f.drop = hit(p.shares.Drop)
	if hit(p.shares.Late) {
		f.late = time.Duration(p.dice.Float64() * float64(p.shares.LateBy))
	}
	f.after = !f.none() && mutation && p.dice.chance(0.5)
	f.twice = mutation && hit(p.shares.Twice)
	return f
}

func (f fault) none() bool { return f == fault{} }

// fails reports whether the request gets no answer of its own.
func (f fault) fails() bool { return f.status != 0 || f.drop }

// suffer performs a request while the fault strikes. A request that is held back
// takes effect even when its sender is gone. again charges the second of two and
// reports whether there was room for it.
func (s *Simulator) suffer(f fault, r *http.Request, run operation, again func() (answer, bool)) answer {
	if f.late > 0 || f.twice {
		raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			raw = nil
		}
		r = r.WithContext(context.WithoutCancel(r.Context()))
		whole := run
		run = func(r *http.Request) answer {
			r.Body = io.NopCloser(bytes.NewReader(raw))
			return whole(r)
		}
	}
	if !f.after {
		s.hold(f.late)
	}
	var a answer
	if !f.fails() || f.after {
		a = run(r)
		if f.twice {
			var room bool
			if a, room = again(); room {
				a = run(r)
			}
		}
	}
	if f.after {
		s.hold(f.late)
	}
	switch {
	case f.drop:
		panic(http.ErrAbortHandler)
	case f.status != 0:
		return failed(f.status)
	}
	return a
}

// hold waits for a real time, until what is held back is let go, or until the
// simulator ends.
func (s *Simulator) hold(d time.Duration) {
	if d <= 0 {
		return
	}
	s.mu.Lock()
	ctx, let := s.running, s.faults.let
	s.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-let:
	}
}

// LetGo ends the wait of all requests and answers that are held back now.
func (s *Simulator) LetGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.faults.let)
	s.faults.let = make(chan struct{})
}

// placing is how many agents are at work. The caller holds the lock.
func (s *Simulator) placing() int { return s.states[api.PlacingOrder] }
