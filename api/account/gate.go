package account

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// gate is a mutex that knows whether somebody waits for it. A mutex alone mostly
// goes back to who has just left it: who goes through many records in batches
// would keep a writer out for a millisecond, however short a batch is.
type gate struct {
	sync.Mutex
	waiting atomic.Int32
}

func (g *gate) Lock() {
	if g.TryLock() {
		return
	}
	g.waiting.Add(1)
	g.Mutex.Lock()
	g.waiting.Add(-1)
}

// mostYields bounds how long those who wait go first: they may never end.
const mostYields = 256

// yield lets those who wait for the gate go first. It is called outside of it.
func (g *gate) yield() {
	runtime.Gosched()
	for n := 0; n < mostYields && g.waiting.Load() > 0; n++ {
		runtime.Gosched()
	}
}
