package account

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// gate is a mutex that can be given up to who waits for it. A mutex alone mostly
// goes back to who has just left it: who goes through many records in batches
// would keep a writer out for a millisecond, however short a batch is.
type gate struct {
	sync.Mutex
	waiting atomic.Int32
	turn    sync.Mutex // of the one among those that wait who is the next
}

// mostTries bounds how long the next one keeps its processor, longer than a batch
// mostly takes: whoever is put to sleep may find others in its place when it is its
// turn, for as long as they are let run.
const mostTries = 1 << 14

func (g *gate) Lock() {
	if g.TryLock() {
		return
	}
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	g.turn.Lock()
	defer g.turn.Unlock()
	for range mostTries {
		if g.TryLock() {
			return
		}
	}
	g.Mutex.Lock()
}

// yield lets the next of those who wait have the gate. It is called outside of it,
// and gives up the processor, too, for which they may wait as well.
func (g *gate) yield() {
	runtime.Gosched()
	if g.waiting.Load() > 0 {
		g.turn.Lock()
		defer g.turn.Unlock()
	}
}
