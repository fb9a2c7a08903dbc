package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

// appendUntilCut appends events of many sizes from several goroutines until the
// power is cut, and prunes meanwhile.
func appendUntilCut(t *testing.T, j *Journal, d *disk) {
	powered, end := context.WithCancel(t.Context())
	defer end()
	var tasks sync.WaitGroup
	for writer := range childWriters {
		tasks.Go(func() {
			for i := 0; powered.Err() == nil; i++ {
				id := fmt.Sprintf("%d-%d", writer, i)
				if _, err := j.Append(t.Context(), []journal.Entry{{ID: id, Received: time.Now(), Body: bytes.Repeat([]byte(id), rand.IntN(2000))}}); err != nil {
					t.Error(err)
					return
				}
				d.acknowledge(id)
			}
		})
	}
	tasks.Go(func() {
		for cursor := int64(150); j.Wait(powered, cursor) == nil; cursor += 50 {
			if _, err := j.Prune(t.Context(), time.Now().Add(-100*time.Millisecond)); err != nil {
				t.Error(err)
			}
		}
	})
	<-d.cut
	end()
	tasks.Wait()
}

// copyLogOften has the log copied often, so that it begins anew often.
func copyLogOften(t *testing.T, j *Journal) {
	t.Helper()
	if _, err := j.writing.ExecContext(t.Context(), "PRAGMA wal_autocheckpoint = 20; PRAGMA journal_size_limit = 80000"); err != nil {
		t.Fatal(err)
	}
}

// expectPromised checks that what was acknowledged is there, in one order
// without holes.
func expectPromised(t *testing.T, j *Journal, promised []string) {
	t.Helper()
	for _, id := range promised {
		if _, found, err := j.Find(t.Context(), id); err != nil || !found {
			t.Fatalf("event %s was acknowledged and is gone, %v", id, err)
		}
	}
	oldest, err := j.Oldest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head, err := j.Head(t.Context())
	if err != nil || head < int64(len(promised)) {
		t.Fatalf("the head is %d, %d were acknowledged, %v", head, len(promised), err)
	}
	for after := oldest - 1; after < head; {
		records, err := j.Read(t.Context(), after, 1000)
		if err != nil || len(records) == 0 {
			t.Fatalf("read after %d of %d: %v", after, head, err)
		}
		for _, r := range records {
			if after++; r.Seq != after || len(r.Body) > 0 && !bytes.HasPrefix(r.Body, []byte(r.ID)) {
				t.Fatalf("record %d (%s) where %d was due", r.Seq, r.ID, after)
			}
		}
	}
}

func TestNothingAcknowledgedIsLostInAPowerCut(t *testing.T) {
	for n := range *powerCuts {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := newDisk(t, seed)
			j := through(t, d, t.TempDir())
			epoch := j.Epoch()
			copyLogOften(t, j)
			d.cutAfter(200 + rand.IntN(4000))
			appendUntilCut(t, j, d)
			if len(d.promised) == 0 {
				t.Error("nothing was acknowledged before the cut")
			}
			survived := opened(t, d.leave(t)).(*Journal)
			if survived.Epoch() != epoch {
				t.Errorf("the epoch was %s and is %s", epoch, survived.Epoch())
			}
			expectPromised(t, survived, d.promised)
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
			closeAll(t, j)
			closeAll(t, survived)
		})
	}
}

func TestADiskThatDoesNotSyncLosesWhatWasAcknowledged(t *testing.T) {
	d := newDisk(t, 0)
	d.reaches = 0
	d.lies = true
	j := through(t, d, t.TempDir())
	for n := range 20 {
		if _, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n)}}); err != nil {
			t.Fatal(err)
		}
		d.acknowledge(fmt.Sprint(n))
	}
	d.cutAfter(0)
	if _, err := j.Append(t.Context(), []journal.Entry{{ID: "last"}}); err != nil {
		t.Fatal(err)
	}
	survived := opened(t, d.leave(t))
	if _, found, err := survived.Find(t.Context(), d.promised[19]); found || err != nil {
		t.Errorf("what was never synced is found: %t, %v", found, err)
	}
	closeAll(t, j)
	closeAll(t, survived)
}

func TestWhatAFailedSyncLeftInDoubtIsDurableBeforeItsRetryIsAcknowledged(t *testing.T) {
	d := newDisk(t, 0)
	d.reaches = 0
	j := through(t, d, t.TempDir())
	appended := func() ([]journal.Result, error) {
		return j.Append(t.Context(), []journal.Entry{{ID: "one", Body: []byte("1")}})
	}
	d.beforeSync(func() error { return errors.New("the disk is broken") })
	if _, err := appended(); err == nil {
		t.Fatal("it is acknowledged")
	}
	if _, found, err := j.Find(t.Context(), "one"); found || err != nil {
		t.Errorf("what is not durable is found, %v", err)
	}
	if head, _ := j.Head(t.Context()); head != 0 {
		t.Errorf("the head is %d", head)
	}
	d.beforeSync(nil)
	if results, err := appended(); err != nil || results[0].Seq != 1 {
		t.Errorf("the retry is %+v, %v", results, err)
	}
	d.cutAfter(0)
	if _, err := j.Append(t.Context(), []journal.Entry{{ID: "two"}}); err != nil {
		t.Fatal(err)
	}
	survived := opened(t, d.leave(t))
	if record, found, err := survived.Find(t.Context(), "one"); !found || record.Duplicates != 0 || err != nil {
		t.Errorf("after a power cut: %+v, %t, %v", record, found, err)
	}
	closeAll(t, j)
	closeAll(t, survived)
}

func TestAStalledSyncIsNoAcknowledgementAndNoHead(t *testing.T) {
	d := newDisk(t, 0)
	j := through(t, d, t.TempDir())
	begun, release := make(chan struct{}, 8), make(chan struct{})
	d.beforeSync(func() error {
		begun <- struct{}{}
		<-release
		return nil
	})
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
