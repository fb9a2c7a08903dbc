package groupcommit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"tillwatch/relay/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// committer collects batches; each waits until it is released.
type committer struct {
	release chan error
	mu      sync.Mutex
	batches [][]int
}

func (c *committer) commit(b *Batch[int]) {
	var batch []int
	for n, ok := b.Next(); ok; n, ok = b.Next() {
		batch = append(batch, n)
	}
	err := <-c.release
	c.mu.Lock()
	c.batches = append(c.batches, batch)
	c.mu.Unlock()
	b.Answer(err)
}

// started runs a queue in a bubble until the test ends.
func started(t *testing.T) (*Queue[int], *committer) {
	q, c := New[int](), &committer{release: make(chan error)}
	go q.Run(c.commit)
	t.Cleanup(func() { q.Stop() })
	return q, c
}

func TestWhatQueuesDuringACommitIsCommittedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := started(t)
		answers := make(chan error, 10)
		for n := range 10 {
			go func() { answers <- q.Do(t.Context(), n) }()
			synctest.Wait()
		}
		c.release <- nil
		c.release <- nil
		for range 10 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if len(c.batches) != 2 || !slices.Equal(c.batches[0], []int{0}) || len(c.batches[1]) != 9 {
			t.Errorf("the batches are %v", c.batches)
		}
	})
}

func TestEverybodyInABatchLearnsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := started(t)
		broken := errors.New("broken")
		answers := make(chan error, 3)
		for n := range 3 {
			go func() { answers <- q.Do(t.Context(), n) }()
			synctest.Wait()
		}
		c.release <- nil
		if first := <-answers; first != nil {
			t.Errorf("the first is answered %v", first)
		}
		c.release <- broken
		for range 2 {
			if err := <-answers; !errors.Is(err, broken) {
				t.Errorf("answered %v", err)
			}
		}
	})
}

func TestWhoGivesUpIsLeftOutOfTheNextBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := started(t)
		answered := make(chan error, 3)
		go func() { answered <- q.Do(t.Context(), 0) }()
		synctest.Wait()
		ctx, giveUp := context.WithCancel(t.Context())
		go func() { answered <- q.Do(ctx, 1) }()
		go func() { answered <- q.Do(t.Context(), 2) }()
		synctest.Wait()
		giveUp()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up is answered %v", err)
		}
		c.release <- nil
		c.release <- nil
		for range 2 {
			if err := <-answered; err != nil {
				t.Error(err)
			}
		}
		if len(c.batches) != 2 || !slices.Equal(c.batches[1], []int{2}) {
			t.Errorf("the batches are %v", c.batches)
		}
	})
}

func TestAStoppedQueueRefusesWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := started(t)
		begun, queued := make(chan error, 1), make(chan error, 1)
		go func() { begun <- q.Do(t.Context(), 0) }()
		synctest.Wait()
		go func() { queued <- q.Do(t.Context(), 1) }()
		synctest.Wait()
		go func() {
			<-q.closing
			c.release <- nil
		}()
		if !q.Stop() || q.Stop() {
			t.Error("one call of Stop is the first")
		}
		if err := <-begun; err != nil {
			t.Errorf("what had begun is answered %v", err)
		}
		if err := <-queued; !errors.Is(err, journal.ErrClosed) {
			t.Errorf("what had queued is answered %v", err)
		}
		if err := q.Do(t.Context(), 2); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("what came later is answered %v", err)
		}
	})
}

func TestABatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, c := started(t)
		answers := make(chan error, MaxBatch+2)
		for n := range MaxBatch + 2 {
			go func() { answers <- q.Do(t.Context(), n) }()
		}
		synctest.Wait()
		for range 3 {
			select {
			case c.release <- nil:
			case <-t.Context().Done():
			}
			synctest.Wait()
			if len(answers) == MaxBatch+2 {
				break
			}
		}
		for _, batch := range c.batches {
			if len(batch) > MaxBatch {
				t.Errorf("a batch of %d", len(batch))
			}
		}
		if len(answers) != MaxBatch+2 {
			t.Errorf("%d are answered", len(answers))
		}
	})
}
