package relay

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"tillwatch/relay/journal"
)

// slowHead is a journal that takes its time to say its head, and counts how often it is asked.
type slowHead struct {
	journal.Journal
	answer chan struct{}
	asked  atomic.Int64
}

func (s *slowHead) Head(ctx context.Context) (int64, error) {
	s.asked.Add(1)
	<-s.answer
	return s.Journal.Head(ctx)
}

func TestAJournalThatTakesItsTimeHoldsNoStreamUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowHead{Journal: newMemory(t), answer: make(chan struct{})}
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

func TestTheJournalIsAskedForItsHeadOnlyByTheFirstStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowHead{Journal: newMemory(t), answer: make(chan struct{})}
		close(s.answer)
		r := newTestRelay(t, s, func(c *Config) { c.MaxStreams = 2 })
		asked := s.asked.Load()
		opens := func(stream string, want error, questions int64) {
			t.Helper()
			if err := r.hub.reserve(t.Context()); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", stream, err, want)
			}
			if got := s.asked.Load() - asked; got != questions {
				t.Errorf("%s: the journal was asked %d times by now, want %d", stream, got, questions)
			}
		}
		opens("the first", nil, 1)
		opens("the second", nil, 1)
		opens("one too many", errStreamsFull, 1)
		r.hub.release()
		r.hub.release()
		opens("the first again", nil, 2)
		r.hub.release()
		if err := r.hub.shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		opens("one after the end", errClosing, 2)
	})
}
