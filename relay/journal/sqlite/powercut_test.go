package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

// cut is a power cut: after a chosen sync of the log the files are as the disk
// has them, and nothing that is written later reaches it.
type cut struct {
	mu           sync.Mutex
	after        int // syncs until the cut
	acknowledged []string
	expected     []string // acknowledged before the sync that never came
	err          error
	dead         chan struct{}
}

// flush syncs the log as long as there is power.
func (c *cut) flush(log *os.File, from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.after--; {
	case c.after < -1:
		return errors.New("no power")
	case c.after == -1:
		c.expected = append(c.expected, c.acknowledged...)
		close(c.dead)
		return errors.New("no power")
	}
	err := syncData(log)
	if err == nil && c.after == 0 {
		for _, name := range []string{databaseName, databaseName + "-wal", markName} {
			content, err := os.ReadFile(filepath.Join(from, name))
			c.err = errors.Join(c.err, err, os.WriteFile(filepath.Join(to, name), content, 0o600))
		}
	}
	return err
}

func (c *cut) acknowledge(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged = append(c.acknowledged, id)
}

func TestNothingAcknowledgedIsLostInAPowerCut(t *testing.T) {
	for n := range *powerCuts {
		dir, disk := t.TempDir(), t.TempDir()
		j := opened(t, dir).(*Journal)
		// With more syncs than writers one of them has come a second time, and so
		// was acknowledged once.
		c := &cut{after: childWriters + 1 + rand.IntN(60), dead: make(chan struct{})}
		j.writer.log.flush = func(log *os.File) error { return c.flush(log, dir, disk) }
		var tasks sync.WaitGroup
		for writer := range childWriters {
			tasks.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("%d-%d-%d", n, writer, i)
					if _, err := j.Append(t.Context(), []journal.Entry{{ID: id, Body: make([]byte, rand.IntN(20_000))}}); err != nil {
						return
					}
					c.acknowledge(id)
				}
			})
		}
		<-c.dead
		tasks.Wait()
		if c.err != nil {
			t.Fatal(c.err)
		}
		survived := opened(t, disk)
		for _, id := range c.expected {
			if _, found, err := survived.Find(t.Context(), id); err != nil || !found {
				t.Fatalf("cut %d: event %s was acknowledged and is gone, %v", n, id, err)
			}
		}
		if len(c.expected) == 0 {
			t.Errorf("cut %d: nothing was acknowledged before", n)
		}
		j.writer.log.flush = syncData
		closeAll(t, j)
		closeAll(t, survived)
	}
}

func TestWhatAFailedSyncLeftInDoubtIsDurableBeforeItsRetryIsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir).(*Journal)
	broken := errors.New("the disk is broken")
	j.writer.log.flush = func(*os.File) error { return broken }
	appended := func() ([]journal.Result, error) {
		return j.Append(t.Context(), []journal.Entry{{ID: "one", Body: []byte("1")}})
	}
	if _, err := appended(); !errors.Is(err, broken) {
		t.Fatalf("append: %v", err)
	}
	if _, found, err := j.Find(t.Context(), "one"); found || err != nil {
		t.Errorf("what is not durable is found, %v", err)
	}
	if head, _ := j.Head(t.Context()); head != 0 {
		t.Errorf("the head is %d", head)
	}
	j.writer.log.flush = syncData
	if results, err := appended(); err != nil || results[0].Seq != 1 {
		t.Errorf("the retry is %+v, %v", results, err)
	}
	if head, _ := j.Head(t.Context()); head != 1 || j.writer.doubtful {
		t.Errorf("the head is %d, doubtful %t", head, j.writer.doubtful)
	}
}

func TestAStalledSyncIsNoAcknowledgementAndNoHead(t *testing.T) {
	j := opened(t, t.TempDir()).(*Journal)
	begun, release := make(chan struct{}, 8), make(chan struct{})
	j.writer.log.flush = func(log *os.File) error {
		begun <- struct{}{}
		<-release
		return syncData(log)
	}
	appended := make(chan error, 2)
	for _, id := range []string{"one", "two"} {
		go func() {
			_, err := j.Append(context.Background(), []journal.Entry{{ID: id}})
			appended <- err
		}()
	}
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := j.Append(ctx, []journal.Entry{{ID: "given up"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("append: %v", err)
	}
	if head, _ := j.Head(t.Context()); head != 0 || len(appended) != 0 {
		t.Errorf("the head is %d, %d are acknowledged", head, len(appended))
	}
	close(release)
	for range 2 {
		if err := <-appended; err != nil {
			t.Error(err)
		}
	}
	results, err := j.Append(t.Context(), []journal.Entry{{ID: "one"}, {ID: "two"}, {ID: "given up"}})
	if err != nil || !results[0].Duplicate || !results[1].Duplicate || results[2].Seq > 3 {
		t.Errorf("again: %+v, %v", results, err)
	}
}
