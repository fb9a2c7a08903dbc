package simulator

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// faultPlan decides which requests go wrong: those ordered through the control API, and a random share; and which
// deliveries do, as ordered. The simulator's lock guards it.
type faultPlan struct {
	shares Faults
	dice   dice
	orders []faultOrder
	let    chan struct{} // closed and replaced to release requests that are held back
}

// fault is what goes wrong with a request or, but for Status and After, with the deliveries of an event; zero:
// nothing.
type fault struct {
	Status int     `json:"status,omitempty"` // answer with this error, 400 to 599; 0: no error
	After  bool    `json:"after,omitempty"`  // the request takes effect first
	Drop   bool    `json:"drop,omitempty"`   // break the connection instead of answering; never deliver
	Twice  bool    `json:"twice,omitempty"`  // it arrives twice; the answer is the second's
	LateBy float64 `json:"lateBy,omitempty"` // seconds: hold back the request, with After its answer, or the delivery
}

// faultOrder orders a fault for the next requests under a path or, with Event, for the deliveries of the next events.
type faultOrder struct {
	Count  int    `json:"count"`            // default 1
	Path   string `json:"path,omitempty"`   // prefix of the request's path; "": any
	Method string `json:"method,omitempty"` // "": any
	Event  string `json:"event,omitempty"`  // a type, a group such as "shipment.*", or "*"
	Source string `json:"source,omitempty"` // id of the events' source; "": any
	fault         // default: status 500
}

func newFaultPlan(cfg *Config) faultPlan {
	return faultPlan{shares: cfg.Faults, dice: newDice(cfg.Seed, diceFaults, 0), let: make(chan struct{})}
}

// order adds a fault, or returns the field that is wrong, and what is wrong with it.
func (p *faultPlan) order(o *faultOrder) (field, wrong string) {
	if o.Event == "" && o.Status == 0 && !o.Drop && !o.Twice && o.LateBy == 0 {
		o.Status = http.StatusInternalServerError
	}
	known := slices.DeleteFunc(api.EventTypes(), func(t api.EventType) bool { return t == api.VerificationChallenge })
	ofEvents := o.Event != "" || o.Source != ""
	switch {
	case o.Count < 1:
		return "body.count", "must be at least 1"
	case !(o.LateBy >= 0 && o.LateBy <= 3600):
		return "body.lateBy", "must be from 0 to 3600"
	case ofEvents && (o.Path != "" || o.Method != "" || o.Status != 0 || o.After):
		return "body", "path, method, status and after are of requests, event and source of deliveries"
	case ofEvents && !slices.ContainsFunc(known, func(t api.EventType) bool { return t.Matches(o.Event) }):
		return "body.event", "must be one of " + listed(known) + ", a group of them such as shipment.*, or *"
	case ofEvents && o.fault.none():
		return "body", "say what goes wrong: drop, twice or lateBy"
	case o.Status != 0 && (o.Status < 400 || o.Status > 599):
		return "body.status", "must be from 400 to 599"
	case o.Path != "" && !strings.HasPrefix(o.Path, "/"):
		return "body.path", "must begin with a slash, such as /api/v1/shipments"
	case o.Method != strings.ToUpper(o.Method):
		return "body.method", "must be in capitals, such as POST"
	}
	p.orders = append(p.orders, *o)
	return "", ""
}

// take returns the first ordered fault that matches, and uses it up once.
func (p *faultPlan) take(matches func(o *faultOrder) bool) (f fault, found bool) {
	for i := range p.orders {
		o := &p.orders[i]
		if !matches(o) {
			continue
		}
		f = o.fault
		if o.Count--; o.Count <= 0 {
			p.orders = slices.Delete(p.orders, i, i+1)
		}
		return f, true
	}
	return fault{}, false
}

// ofEvent returns the ordered fault for the deliveries of an event.
func (p *faultPlan) ofEvent(e event) fault {
	f, _ := p.take(func(o *faultOrder) bool {
		return o.Event != "" && e.kind.Matches(o.Event) && (o.Source == "" || o.Source == e.source)
	})
	return f
}

// ofRequest returns the fault for a request.
func (p *faultPlan) ofRequest(r *request) fault {
	f, ordered := p.take(func(o *faultOrder) bool {
		return o.Event == "" && strings.HasPrefix(r.URL.Path, o.Path) && (o.Method == "" || o.Method == r.Method)
	})
	if ordered {
		return f
	}
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

// end forgets the orders and releases what is held back.
func (p *faultPlan) end() {
	p.orders = nil
	close(p.let)
	p.let = make(chan struct{})
}

// suffer performs a request with a fault. A held back request takes effect even if its sender has gone. The second of
// two is charged, too. The caller holds the lock.
func (v *server) suffer(f fault, r *request, run operation, second *bucket) answer {
	var a answer
	if !f.After {
		v.hold(f)
	}
	if f.After || f.Status == 0 && !f.Drop {
		a = run(r)
		if now := v.sim.agenda.now(); f.Twice && second.take(now) {
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

// hold waits in real time, until requests are released or the simulator ends. It releases the lock, which the caller
// holds, meanwhile.
func (v *server) hold(f fault) {
	if f.LateBy <= 0 {
		return
	}
	ctx, let := v.sim.goroutines.running, v.sim.faults.let
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
