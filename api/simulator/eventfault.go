package simulator

import (
	"fmt"
	"slices"
	"time"

	"tillwatch/api"
)

// EventFault lets the delivery of the next events go wrong, at every endpoint.
type EventFault struct {
	Type   string  `json:"type"`   // of the events, or a group of types such as "shipment.*"; "" for all
	Source string  `json:"source"` // id of what the events are about; "" for all
	Do     string  `json:"do"`     // lose, double, late or reorder
	LateBy float64 `json:"lateBy"` // real seconds: of late, how long; of reorder, how long at most; default 10
	Count  int     `json:"count"`  // events that it strikes; default 1
}

// What a fault does to an event: it is never delivered, delivered twice, delivered
// later, or held back until the endpoint has taken a later one.
const (
	lose    = "lose"
	double  = "double"
	late    = "late"
	reorder = "reorder"
)

// check names the field that is wrong, if one is.
func (f *EventFault) check() (field, wrong string) {
	known := slices.DeleteFunc(api.EventTypes(), func(t api.EventType) bool { return t == api.VerificationChallenge })
	switch {
	case f.Type != "" && !slices.ContainsFunc(known, f.strikes):
		return "body.type", fmt.Sprintf("must be one of %v, or a group of them such as shipment.*", known)
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

// fault takes the fault that strikes an event; one that does nothing if none does.
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

// faultEvents orders a fault for events. Faults strike in the order in which they
// were ordered, one an event.
func (c controlAPI) faultEvents(_ *request, f EventFault) answer {
	if field, wrong := f.check(); wrong != "" {
		return invalidField(field, wrong)
	}
	c.sim.webhooks.faults = append(c.sim.webhooks.faults, f)
	return created(f)
}

// eventFaults lists what has not struck yet.
func (c controlAPI) eventFaults(*request) answer {
	return ok(append([]EventFault{}, c.sim.webhooks.faults...))
}

func (c controlAPI) forgetEventFaults(*request) answer {
	c.sim.webhooks.faults = nil
	return ok([]EventFault{})
}
