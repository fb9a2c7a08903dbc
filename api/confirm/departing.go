package confirm

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"tillwatch/api"
)

// errSettled says that another process recorded what came of a request in the meantime.
var errSettled = errors.New("another tillwatch has recorded its outcome meanwhile")

// departure looks at the audit log again right before the request of a line goes out. A suspended process and a
// sleeping machine do not notice that time passes, so others may have concluded that the request was not taken.
func (a *auditLog) departure(line Line) api.Departure {
	return func() (func(), error) { return a.depart(line) }
}

// depart returns an error if the request of a line must not go out any more. Otherwise the log stays locked until
// written is called, so nobody can conclude anything about the line between this look and the request.
func (a *auditLog) depart(line Line) (written func(), err error) {
	unlock, err := a.hold()
	if err != nil {
		return nil, err
	}
	// By the wall clock, as wherever a line's age counts: the monotonic clock stops while the machine sleeps.
	held := time.Now().Round(0).Sub(line.At)
	switch {
	case !a.isOpen(line):
		err = errSettled
	case held > sendWithin:
		err = fmt.Errorf("it was held for %s, and nothing is sent after %s", held.Round(time.Second), sendWithin)
	default:
		// An error means that the lock is still held: the next to take it says so.
		return sync.OnceFunc(func() { _ = unlock() }), nil
	}
	return nil, errors.Join(err, unlock())
}
