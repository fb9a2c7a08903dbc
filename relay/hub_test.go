package relay

import (
	"context"
	"testing"
	"testing/synctest"

	"tillwatch/relay/journal"
)

// slowHead is a journal that takes its time to say its head.
type slowHead struct {
	journal.Journal
	answer chan struct{}
}

func (s slowHead) Head(ctx context.Context) (int64, error) {
	<-s.answer
	return s.Journal.Head(ctx)
}

func TestAJournalThatTakesItsTimeHoldsNoStreamUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowHead{newMemory(t), make(chan struct{})}
		r := newTestRelay(t, s, nil)
		opened := make(chan error)
		go func() { opened <- r.hub.reserve(t.Context()) }()
		synctest.Wait()
		if !r.hub.mu.TryLock() {
			t.Error("the hub is locked while the journal is asked")
		} else {
			r.hub.mu.Unlock()
		}
		close(s.answer)
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		r.hub.release()
	})
}
