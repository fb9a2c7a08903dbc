package simulator

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// faultPlan decides which requests go wrong: those ordered through the control API, and a
// random share. The simulator's lock guards it.
type faultPlan struct {
	shares Faults
	dice   dice
	orders []faultOrder
	let    chan struct{} // closed and replaced to release requests that are held back
}

// fault is what goes wrong with a request; zero: nothing.
type fault struct {
	Status int     `json:"status"` // answer with this error, 400 to 599; 0: no error
	After  bool    `json:"after"`  // the request takes effect first
	Drop   bool    `json:"drop"`   // break the connection instead of answering
	Twice  bool    `json:"twice"`  // the request arrives twice; the answer is the second's
	LateBy float64 `json:"lateBy"` // hold back the request for these seconds, or with after its answer
}

// faultOrder orders a fault for the next requests under a path.
type faultOrder struct {
	Count  int    `json:"count"`  // default 1
	Path   string `json:"path"`   // prefix of the request's path; "": any
	Method string `json:"method"` // "": any
	fault         // default: status 500
}

func newFaultPlan(cfg Config) faultPlan {
	return faultPlan{shares: cfg.Faults, dice: newDice(cfg.Seed, diceFaults, 0), let: make(chan struct{})}
}

// next returns the fault for a request, and uses it up.
func (p *faultPlan) next(r *request) fault {
	ordered := slices.IndexFunc(p.orders, func(o faultOrder) bool {
		return strings.HasPrefix(r.URL.Path, o.Path) && (o.Method == "" || o.Method == r.Method)
	})
	if ordered >= 0 {
		o := &p.orders[ordered]
		f := o.fault
		if o.Count--; o.Count <= 0 {
			p.orders = slices.Delete(p.orders, ordered, ordered+1)
		}
		return f
	}
	var f fault
	mutation := r.Method == http.MethodPost
	hit := func(share float64) bool { return share > 0 && p.dice.chance(share) }
	if hit(p.shares.Errors) {
		f.Status = http.StatusInternalServerError
	}
	f.Drop = hit(p.shares.Drop)
	if hit(p.shares.Late) {
		f.LateBy = p.dice.Float64() * p.shares.LateBy.Seconds()
	}
	f.After = !f.none() && mutation && p.dice.chance(0.5)
	f.Twice = mutation && hit(p.shares.Twice)
	return f
}

func (f fault) none() bool { return f == fault{} }

// suffer performs a request with a fault. A held back request takes effect even if its
// sender has gone. The second of two is charged, too. The caller holds the lock.
func (v *server) suffer(f fault, r *request, run operation, second *bucket) answer {
	var a answer
	if !f.After {
		v.hold(f)
	}
	if f.After || f.Status == 0 && !f.Drop {
		a = run(r)
		if now := v.sim.agenda.seconds(); f.Twice && second.take(now) {
			a = run(r)
		} else if f.Twice {
			a = tooFast(second.reset(now))
		}
	}
	if f.After {
		v.hold(f)
	}
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Status != 0 && !f.After && v.sim.cfg.RememberFailures:
		return v.once(func(*request) answer { return failed(f.Status) })(r)
	case f.Status != 0:
		return failed(f.Status)
	}
	return a
}

// hold waits in real time, until requests are released or the simulator ends. It releases
// the lock, which the caller holds, meanwhile.
func (v *server) hold(f fault) {
	if f.LateBy <= 0 {
		return
	}
	ctx, let := v.sim.goroutines.running, v.faults.let
	if ctx == nil {
		ctx = context.Background()
	}
	v.sim.mu.Unlock()
	defer v.sim.mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, seconds(f.LateBy))
	defer cancel()
	select {
	case <-ctx.Done():
	case <-let:
	}
}

func seconds(n float64) time.Duration { return span(n * float64(time.Second)) }

func (p *faultPlan) letGo() {
	close(p.let)
	p.let = make(chan struct{})
}
