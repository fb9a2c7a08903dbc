package simulator

import (
	"slices"
	"time"

	"tillwatch/api"
)

// EventFault makes the delivery of the next events go wrong, at every endpoint.
type EventFault struct {
	Type   string  `json:"type"`   // of the events, or a group of types such as "shipment.*"; "": any
	Source string  `json:"source"` // id of the events' source; "": any
	Do     string  `json:"do"`     // lose, double, late or reorder
	LateBy float64 `json:"lateBy"` // real seconds of the delay; for reorder the longest delay; default 10
	Count  int     `json:"count"`  // number of events; default 1
}

// What a fault does to an event: never deliver it, deliver it twice, deliver it later, or
// hold it back until the endpoint has taken a later one.
const (
	lose    = "lose"
	double  = "double"
	late    = "late"
	reorder = "reorder"
)

// check returns the field that is wrong, and what is wrong with it; "" if nothing is.
func (f *EventFault) check() (field, wrong string) {
	known := slices.DeleteFunc(api.EventTypes(), func(t api.EventType) bool { return t == api.VerificationChallenge })
	switch {
	case f.Type != "" && !slices.ContainsFunc(known, f.strikes):
		return "body.type", "must be one of " + List(known, "and") + ", or a group of them such as shipment.*"
	case !slices.Contains([]string{lose, double, late, reorder}, f.Do):
		return "body.do", "must be lose, double, late or reorder"
	case !(f.LateBy > 0 && f.LateBy <= 3600):
		return "body.lateBy", "must be above 0 and at most 3600"
	case f.Count < 1:
		return "body.count", "must be at least 1"
	}
	return "", ""
}

func (f *EventFault) strikes(t api.EventType) bool {
	return f.Type == "" || t.Matches(f.Type)
}

// fault returns the fault for an event, and uses it up; zero if there is none.
func (w *webhooks) fault(e event) EventFault {
	i := slices.IndexFunc(w.faults, func(f EventFault) bool {
		return f.strikes(e.kind) && (f.Source == "" || f.Source == e.source)
	})
	if i < 0 {
		return EventFault{}
	}
	f := w.faults[i]
	if w.faults[i].Count--; w.faults[i].Count == 0 {
		w.faults = slices.Delete(w.faults, i, i+1)
	}
	return f
}

func (f EventFault) wait() time.Duration { return seconds(f.LateBy) }

// faultEvents orders a fault for events. Faults apply in the order in which they were
// ordered, one for each event.
func (c controlAPI) faultEvents(_ *request, f EventFault) answer {
	if field, wrong := f.check(); wrong != "" {
		return invalidField(field, wrong)
	}
	c.sim.webhooks.faults = append(c.sim.webhooks.faults, f)
	return created(f)
}

// eventFaults lists the faults that are not used up.
func (c controlAPI) eventFaults(*request) answer {
	return ok(append([]EventFault{}, c.sim.webhooks.faults...))
}

func (c controlAPI) forgetEventFaults(*request) answer {
	c.sim.webhooks.faults = nil
	return ok([]EventFault{})
}
