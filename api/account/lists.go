package account

import "time"

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

func (s *Store) listStatus(kind listKind) ListStatus {
	return look(s, func() ListStatus { return s.lists.status[kind] })
}

func (s *Store) setList(kind listKind, status ListStatus) {
	s.update(func(time.Time) { s.lists.status[kind] = status })
}
