package account

import (
	"errors"
	"fmt"
	"time"

	"tillwatch/api"
)

// ListState is how much of one of the service's lists was read. The contract does not show a list of intents.
type ListState uint8

// The states of a list.
const (
	ListUnread    ListState = iota // none of it was read yet
	ListPartly                     // some of its pages were read
	ListWhole                      // read to its end
	ListCut                        // read up to our own bound; there may be more
	ListNotServed                  // the service has no such list
	ListForbidden                  // the key may not read it
)

// String returns the state's name.
func (s ListState) String() string {
	return wordOf(s, "unread", "partly", "whole", "cut", "not served", "forbidden")
}

// MarshalText returns the state's name.
func (s ListState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes an unknown name for the first state.
func (s *ListState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, ListForbidden)
	return nil
}

// ListStatus is what was read of one of the service's lists in this run.
type ListStatus struct {
	State      ListState `json:"state"`
	Intents    int       `json:"intents,omitempty"`    // on the pages read; 0 for the list of shipments
	Unreadable int       `json:"unreadable,omitempty"` // items that could not be decoded
	Err        error     `json:"-"`                    // why the last read failed; nil if it succeeded
}

// lists is how far the service's lists have been read.
type lists struct {
	status [2]ListStatus // by listKind
	named  bool          // the user has named intents to watch
}

type listKind int

const (
	intentList listKind = iota
	shipmentList
)

// String says what the list lists.
func (k listKind) String() string { return [...]string{"intents", "shipments"}[k] }

// setList records how much of a list was read. It raises an alert while the service keeps back a part of it.
func (s *Store) setList(kind listKind, status ListStatus) {
	s.update(func(now time.Time) {
		s.lists.status[kind] = status
		key := alertKey{kind: AlertAPI, cause: kind.String()}
		text := fmt.Sprintf("%s may be missing: %s", kind, errorText(status.Err))
		s.alerts.renew(errors.Is(status.Err, api.ErrIncomplete), key, Alert{Since: s.alerts.since(key, now), Text: text})
	})
}

// forbidShipments records that the key may not read shipments if err is a 403, and reports whether it is. For a key that
// has read shipments, a 403 is a failure like any other.
func (s *Store) forbidShipments(err error) (forbidden bool) {
	s.update(func(time.Time) {
		if forbidden = errors.Is(err, api.ErrScope) && !s.health.shipmentsRead; forbidden {
			s.lists.status[shipmentList] = ListStatus{State: ListForbidden, Err: fmt.Errorf("the API key may not read shipments: %w", err)}
		}
	})
	return forbidden
}

// permitShipments forgets whether the key may read shipments, because it may be another one. It reports whether
// the key was forbidden them.
func (s *Store) permitShipments() (forbidden bool) {
	s.update(func(time.Time) {
		s.health.shipmentsRead = false
		if list := &s.lists.status[shipmentList]; list.State == ListForbidden {
			forbidden, *list = true, ListStatus{}
		}
	})
	return forbidden
}

// forbids reports whether the key may not read a list.
func (s *Store) forbids(kind listKind) bool {
	return look(s, func() bool { return s.lists.status[kind].State == ListForbidden })
}

// readsUnlisted reports whether the key has read shipments, but never their list.
func (s *Store) readsUnlisted() bool {
	return look(s, func() bool {
		list := s.lists.status[shipmentList].State
		return s.health.shipmentsRead && (list == ListUnread || list == ListNotServed)
	})
}
