package command

import (
	"fmt"

	"tillwatch/api/account"
)

// restoring is the work of filling a picture with what the last run knew. The nil
// one is done.
type restoring struct {
	done chan struct{} // closed at its end
	err  error
}

// restore begins to fill a picture. One that cannot be opened is told of as an
// alert, and all is read anew.
func restore(saved *account.Saved, store *account.Store) *restoring {
	r := &restoring{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("opening the saved picture: panic: %v", p)
			}
		}()
		_, _ = saved.Restore(store)
	}()
	return r
}

// wait returns once the picture is filled. Its error is a fault of this program.
func (r *restoring) wait() error {
	if r == nil {
		return nil
	}
	<-r.done
	return r.err
}

// filled is a picture that tells nothing before it is restored.
type filled struct {
	*account.Store
	restored *restoring
}

// Changes waits for the picture.
func (f filled) Changes(since uint64) account.Changes {
	_ = f.restored.wait() // running the session tells of it
	return f.Store.Changes(since)
}
