package simulator

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"time"

	"tillwatch/api"
)

// eventWire is an event as it goes over the wire: closed, compact and with its
// keys in this order (contract, Event).
type eventWire struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	Type      api.EventType   `json:"type"`
	CreatedAt string          `json:"createdAt"`
	Source    sourceWire      `json:"source"`
	Data      json.RawMessage `json:"data,omitempty"`
}

type sourceWire struct {
	Type api.SourceType `json:"type"`
	ID   string         `json:"id"`
}

// event is an event as it is kept.
type event struct {
	kind   api.EventType
	source string
	suffix string
	at     int64 // Unix milliseconds
	data   json.RawMessage
}

func (e *event) id() string { return "evt_" + e.source + "_" + e.suffix }

func (e *event) wire() eventWire {
	group, _, _ := strings.Cut(string(e.kind), ".")
	return eventWire{
		ID: e.id(), Object: "event", Type: e.kind, CreatedAt: stamp(time.UnixMilli(e.at)),
		Source: sourceWire{api.SourceType(group), e.source}, Data: e.data,
	}
}

// eventLog holds every event in the order in which it happened. Its index holds
// hashes of the ids, as the ids themselves would be most of the memory.
type eventLog struct {
	events       []event
	seed         maphash.Seed
	byHash       map[uint64]int32
	clashes      map[string]int32 // ids whose hash was taken
	wholeSeconds bool
}

func newEventLog(wholeSeconds bool) eventLog {
	return eventLog{seed: maphash.MakeSeed(), byHash: map[uint64]int32{}, clashes: map[string]int32{}, wholeSeconds: wholeSeconds}
}

func (l *eventLog) len() int { return len(l.events) }

func (l *eventLog) find(id string) (event, bool) {
	if i, ok := l.byHash[maphash.String(l.seed, id)]; ok && l.events[i].id() == id {
		return l.events[i], true
	}
	if i, ok := l.clashes[id]; ok {
		return l.events[i], true
	}
	return event{}, false
}

// has reports whether a source has an event with this suffix.
func (l *eventLog) has(source, suffix string) bool {
	_, ok := l.find((&event{source: source, suffix: suffix}).id())
	return ok
}

// add appends an event. An event that is there already is not added again: an
// id stands for one happening.
func (l *eventLog) add(e event) bool {
	id := e.id()
	if _, ok := l.find(id); ok {
		return false
	}
	if l.wholeSeconds {
		e.at -= e.at % 1000
	}
	at := int32(len(l.events))
	if hash := maphash.String(l.seed, id); l.taken(hash) {
		l.clashes[id] = at
	} else {
		l.byHash[hash] = at
	}
	l.events = append(l.events, e)
	return true
}

func (l *eventLog) taken(hash uint64) bool {
	_, ok := l.byHash[hash]
	return ok
}

// emit records an event and wakes those who deliver it.
func (s *Simulator) emit(at time.Time, kind api.EventType, source, suffix string, data any) event {
	e := event{kind: kind, source: source, suffix: suffix, at: at.UnixMilli()}
	if data != nil {
		e.data = encode(data)
	}
	if s.events.add(e) {
		for _, endpoint := range s.endpoints {
			endpoint.wake()
		}
	}
	return e
}
