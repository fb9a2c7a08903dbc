package postgres

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

// childJournal is the DSN of the journal that a child process of these tests
// appends to until it is killed.
const childJournal = "TILLWATCH_TEST_JOURNAL"

const (
	kills         = 3
	killAfter     = 150 // acknowledged events
	writers       = 8
	acknowledgeOK = "ok "
)

// The long form of the test with relays in two processes:
//
//	go test ./relay/journal/postgres -run Processes -processes 10s
var processes = flag.Duration("processes", 0, "how long two processes append at least")

// acknowledgements are the events that were answered, by their ids.
type acknowledgements struct {
	mu    sync.Mutex
	seqs  map[string]int64
	fresh map[string]int // how often an id was said to be new
}

func newAcknowledgements() *acknowledgements {
	return &acknowledgements{seqs: map[string]int64{}, fresh: map[string]int{}}
}

func (a *acknowledgements) add(id string, r journal.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seqs[id] = r.Seq
	if !r.Duplicate {
		a.fresh[id]++
	}
}

// appendEach appends events with the ids name-0 … from several goroutines,
// spread over journals, each until it is acknowledged.
func appendEach(t *testing.T, journals []journal.Journal, name string, each int, into *acknowledgements) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			j := journals[writer%len(journals)]
			for n := range each {
				id := fmt.Sprintf("%s-%d-%d", name, writer, n)
				for {
					results, err := j.Append(ctx, []journal.Entry{{ID: id, Body: []byte(id)}})
					if ctx.Err() != nil {
						t.Errorf("event %s could not be appended: %v", id, err)
						return
					}
					if err == nil {
						into.add(id, results[0])
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

// followTo reads j as a stream does, from after until the number of the last
// event, and checks that no number is missed or comes twice.
func followTo(t *testing.T, j journal.Journal, after, last int64, seen func(journal.Record)) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for cursor := after; cursor < last; {
		if err := j.Wait(ctx, cursor); err != nil {
			t.Errorf("wait after %d: %v", cursor, err)
			return
		}
		records, err := j.Read(ctx, cursor, 50)
		if ctx.Err() != nil {
			t.Errorf("reading ended at event %d of %d: %v", cursor, last, err)
			return
		}
		if err != nil {
			continue // the database is away
		}
		for _, r := range records {
			if r.Seq != cursor+1 || r.ID != string(r.Body) {
				t.Errorf("read %d (%s, %q) after %d", r.Seq, r.ID, r.Body, cursor)
				return
			}
			cursor = r.Seq
			seen(r)
		}
	}
}

// expectStored checks that what was acknowledged is stored once, where it was
// said to be, and was said to be new at most once.
func expectStored(t *testing.T, order []string, acknowledged *acknowledgements) {
	t.Helper()
	stored := map[string]int64{}
	for i, id := range order {
		if at := stored[id]; at != 0 {
			t.Errorf("event %s is stored at %d and at %d", id, at, i+1)
		}
		stored[id] = int64(i + 1)
	}
	for id, seq := range acknowledged.seqs {
		if stored[id] != seq {
			t.Errorf("event %s was acknowledged at %d and is stored at %d", id, seq, stored[id])
		}
		if acknowledged.fresh[id] > 1 {
			t.Errorf("event %s was accepted %d times", id, acknowledged.fresh[id])
		}
	}
}

func readAll(t *testing.T, j journal.Journal) (order []string) {
	t.Helper()
	head, err := j.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	followTo(t, j, 0, head, func(r journal.Record) { order = append(order, r.ID) })
	return order
}

func TestTwoRelayProcessesWriteOneOrderAndALiveReaderMissesNothing(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	acknowledged := newAcknowledgements()
	var order []string
	seen := func(r journal.Record) { order = append(order, r.ID) }
	writing, end := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for j.Wait(writing, int64(len(order))) == nil {
			followTo(t, j, int64(len(order)), int64(len(order))+1, seen)
			if t.Failed() {
				return
			}
		}
	})
	var relays sync.WaitGroup
	for range 2 {
		relays.Go(func() { killed(t, dsn, *processes, acknowledged) })
	}
	relays.Wait()
	end()
	reader.Wait()
	head, err := j.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	followTo(t, j, int64(len(order)), head, seen)
	if int64(len(order)) != head {
		t.Errorf("%d events were read of %d", len(order), head)
	}
	expectStored(t, order, acknowledged)
}

func TestNothingAcknowledgedIsLostWhenTheDatabaseIsRestarted(t *testing.T) {
	const each = 150
	dsn := schema(t)
	relays := []journal.Journal{opened(t, dsn), opened(t, dsn)}
	half := make(chan struct{})
	var order []string
	var tasks sync.WaitGroup
	tasks.Go(func() {
		followTo(t, relays[1], 0, writers*each, func(r journal.Record) {
			if order = append(order, r.ID); len(order) == writers*each/2 {
				close(half)
			}
		})
	})
	acknowledged := newAcknowledgements()
	tasks.Go(func() { appendEach(t, relays, "event", each, acknowledged) })
	select {
	case <-half:
		interrupt(t, dsn)
	case <-t.Context().Done():
	}
	tasks.Wait()
	expectStored(t, order, acknowledged)
	for _, j := range relays {
		if err := j.Check(t.Context()); err != nil {
			t.Errorf("check after a restart: %v", err)
		}
	}
}

func TestAnIdleRelayRecoversWhenItsSessionsWereEnded(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	for n := range int64(3) {
		terminate(t, dsn)
		results, err := j.Append(t.Context(), []journal.Entry{{ID: fmt.Sprint(n)}})
		if err != nil || results[0] != (journal.Result{Seq: n + 1}) {
			t.Fatalf("append %d: %+v, %v", n, results, err)
		}
	}
}

// appendForEver appends events of its own from several goroutines and prints
// the id of each after it was acknowledged.
func appendForEver(dsn string) error {
	j, err := Open(context.Background(), dsn)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), writer, n)
				results, err := j.Append(context.Background(), []journal.Entry{{ID: id, Body: []byte(id)}})
				if err != nil {
					return
				}
				mu.Lock()
				fmt.Println(acknowledgeOK+id, results[0].Seq)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.New("appending has ended")
}

// killed runs a relay in a process of its own and kills it while it appends,
// after some events and the given time.
func killed(t *testing.T, dsn string, after time.Duration, into *acknowledgements) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childJournal+"="+dsn)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := child.Start(); err != nil {
		t.Error(err)
		return
	}
	n, began, done := 0, time.Now(), false
	for lines := bufio.NewScanner(output); lines.Scan(); {
		rest, whole := strings.CutPrefix(lines.Text(), acknowledgeOK)
		var id string
		var seq int64
		if _, err := fmt.Sscan(rest, &id, &seq); !whole || err != nil {
			continue // cut off by the kill
		}
		into.add(id, journal.Result{Seq: seq})
		if n++; n >= killAfter && !done && time.Since(began) >= after {
			done = true
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if n < killAfter {
		t.Errorf("the child ended after %d events", n)
	}
}

func TestNothingAcknowledgedIsLostWhenARelayIsKilled(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	acknowledged := newAcknowledgements()
	var tasks sync.WaitGroup
	tasks.Go(func() { appendEach(t, []journal.Journal{j}, "survivor", 60, acknowledged) })
	for range kills {
		killed(t, dsn, 0, acknowledged)
	}
	tasks.Wait()
	expectStored(t, readAll(t, j), acknowledged)
}

func TestACallerWhoGivesUpNeverLeavesAHalfBatch(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	release := lockHead(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	entries := []journal.Entry{{ID: "a", Body: []byte("a")}, {ID: "b", Body: []byte("b")}, {ID: "c", Body: []byte("c")}}
	if _, err := j.Append(ctx, entries); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("append behind the lock: %v", err)
	}
	release()
	appended(t, j, "next") // is committed after it
	found := 0
	for _, e := range entries {
		if _, stored, err := j.Find(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		} else if stored {
			found++
		}
	}
	if found != 0 && found != len(entries) {
		t.Errorf("%d of %d entries are stored", found, len(entries))
	}
	if order := readAll(t, j); len(order) != found+1 {
		t.Errorf("%v are stored", order)
	}
}
