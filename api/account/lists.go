package account

import "time"

// ListState says how far one of the service's lists was read. The contract does not
// show a list of intents.
type ListState uint8

// The states of a list.
const (
	ListUnread    ListState = iota // nothing of it was read yet
	ListPartly                     // some of its pages were read
	ListWhole                      // it was read to its end
	ListCut                        // as much as is taken of it was read; there may be more
	ListNotServed                  // the service has none
)

// String is the state in a word.
func (s ListState) String() string {
	return wordOf(s, "unread", "partly", "whole", "cut", "not served")
}

// MarshalText makes the state the word that it has in JSON.
func (s ListState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a word that is not known for the first state.
func (s *ListState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, ListNotServed)
	return nil
}

// ListStatus is what was read of one of the service's lists in this run.
type ListStatus struct {
	State      ListState `json:"state"`
	Intents    int       `json:"intents,omitempty"`    // on the pages that were read; 0 for the list of shipments
	Unreadable int       `json:"unreadable,omitempty"` // items on them that could not be read
	Err        error     `json:"-"`                    // why it could not be read the last time; nil when it could
}

// lists is how far the service's lists were read.
type lists struct {
	status [2]ListStatus // by listKind
	named  bool          // somebody has named intents to be watched
}

type listKind int

const (
	intentList listKind = iota
	shipmentList
)

func (s *Store) setList(kind listKind, status ListStatus) {
	s.update(func(time.Time) { s.lists.status[kind] = status })
}
