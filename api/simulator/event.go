package simulator

import (
	"encoding/json"
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

// event is an event in the log.
type event struct {
	kind   api.EventType
	source string
	suffix string
	at     int64 // Unix milliseconds
	data   json.RawMessage
	fault  EventFault // what goes wrong with its deliveries
}

func (e *event) id() string { return "evt_" + e.source + "_" + e.suffix }

func (e *event) wire() eventWire {
	group, _, _ := strings.Cut(string(e.kind), ".")
	return eventWire{
		ID: e.id(), Object: "event", Type: e.kind, CreatedAt: stamp(time.UnixMilli(e.at)),
		Source: sourceWire{api.SourceType(group), e.source}, Data: e.data,
	}
}

// eventLog holds the newest events in the order in which they happened.
type eventLog struct {
	series[event]
	most int            // how many are kept
	byID map[string]int // numbers, from 0
}

func (l *eventLog) find(id string) (event, bool) {
	number, ok := l.byID[id]
	if !ok {
		return event{}, false
	}
	return l.since(number)[0], true
}

func (l *eventLog) has(e event) bool {
	_, ok := l.byID[e.id()]
	return ok
}

// add appends an event unless the log has one with its id. It returns those that it lets go for it.
func (l *eventLog) add(e event) (gone []event) {
	if l.has(e) {
		return nil
	}
	l.byID[e.id()] = l.made()
	l.items = append(l.items, e)
	gone = l.letGo(l.most, func(event) bool { return true })
	for _, old := range gone {
		delete(l.byID, old.id())
	}
	return gone
}
