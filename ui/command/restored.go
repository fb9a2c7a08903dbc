package command

import (
	"fmt"
	"sync"
	"sync/atomic"

	"tillwatch/api/account"
)

// restore begins to fill a picture with what the last run knew. restored waits for
// that; its error is a fault of this program. glance waits for what a screen shows
// first of it, if anything. A saved picture that cannot be read is told of as an
// alert, and all is read anew.
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
		_, _ = saved.Restore(store)
		return nil
	})
	go restored()
	return glance, restored
}

// restoredStore is a picture that tells nothing before it is restored.
type restoredStore struct {
	*account.Store
	restored func() error
}

// Changes waits for the picture.
func (r restoredStore) Changes(since uint64) account.Changes {
	_ = r.restored() // running the session tells of it
	return r.Store.Changes(since)
}

// glancedStore is a picture of which a screen is shown first what it shows of it:
// it does not wait until all is restored.
type glancedStore struct {
	restoredStore
	glance func() (account.Changes, bool)
	shown  atomic.Bool
}

// Changes begins with the glance, if there is one. Its version is before all that
// the store holds.
func (g *glancedStore) Changes(since uint64) account.Changes {
	if !g.shown.Swap(true) {
		if first, ok := g.glance(); ok {
			return first
		}
	}
	return g.restoredStore.Changes(since)
}
