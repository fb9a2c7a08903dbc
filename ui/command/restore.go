package command

import (
	"fmt"
	"sync"
	"sync/atomic"

	"tillwatch/api/account"
)

// restore starts to fill a picture with what the last run knew. restored waits for
// that; its error is a bug. glance waits for the part that a screen shows first, if
// there is one. A saved picture that cannot be read raises an alert, and everything
// is read anew.
func restore(saved *account.Saved, store *account.Store) (glance func() (account.Changes, bool), restored func() error) {
	var first account.Changes
	var any bool
	glanced := make(chan struct{})
	glance = func() (account.Changes, bool) {
		<-glanced
		return first, any
	}
	restored = sync.OnceValue(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("opening the saved picture: panic: %v", p)
			}
		}()
		func() {
			defer close(glanced)
			first, any = saved.Glance(store)
		}()
		_ = saved.Restore(store)
		return nil
	})
	go restored()
	return glance, restored
}

// restoredStore is a picture that returns nothing until it is restored.
type restoredStore struct {
	*account.Store
	restored func() error
}

// Changes waits for the picture.
func (r restoredStore) Changes(since uint64) account.Changes {
	_ = r.restored() // running the session reports the error
	return r.Store.Changes(since)
}

// glancedStore is a picture whose first change is the glance, so that the screen need
// not wait until everything is restored.
type glancedStore struct {
	restoredStore
	glance func() (account.Changes, bool)
	shown  atomic.Bool
}

// Changes begins with the glance, if there is one. Its version precedes all of the
// store's.
func (g *glancedStore) Changes(since uint64) account.Changes {
	if !g.shown.Swap(true) {
		if first, ok := g.glance(); ok {
			return first
		}
	}
	return g.restoredStore.Changes(since)
}
