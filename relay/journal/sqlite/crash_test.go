package sqlite

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

	"go.uber.org/goleak"

	"tillwatch/relay/journal"
)

// childFolder names the journal that a child process of these tests appends to
// until it is killed.
const childFolder = "TILLWATCH_TEST_JOURNAL"

const (
	killAfter     = 150 // acknowledged events
	childWriters  = 16
	acknowledgeOK = "ok "
)

// The long form of the tests that crash:
//
//	go test ./relay/journal/sqlite -run 'Killed|PowerCut' -kills 200 -power-cuts 200 -timeout 20m
var (
	kills     = flag.Int("kills", 5, "how often a process that appends is killed")
	powerCuts = flag.Int("power-cuts", 10, "how often what was not synced is dropped")
)

// appendForEver appends events of its own from several goroutines and prints
// the id of each after it was acknowledged.
func appendForEver(dir string) error {
	j, err := Open(context.Background(), dir)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for writer := range childWriters {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), writer, n)
				if _, err := j.Append(context.Background(), []journal.Entry{{ID: id, Body: []byte(id)}}); err != nil {
					return
				}
				mu.Lock()
				fmt.Println(acknowledgeOK + id)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.New("appending has ended")
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		fmt.Fprintln(os.Stderr, appendForEver(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// killed runs a child process on the journal in dir, kills it after it has
// acknowledged some events, and returns their ids.
func killed(t *testing.T, dir string) []string {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+dir)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if id, whole := strings.CutPrefix(lines.Text(), acknowledgeOK); whole {
			ids = append(ids, id)
		}
		if len(ids) == killAfter {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if len(ids) < killAfter {
		t.Fatalf("the child ended after %d events", len(ids))
	}
	return ids
}

func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	dir := t.TempDir()
	var acknowledged []string
	epoch := ""
	for range *kills {
		acknowledged = append(acknowledged, killed(t, dir)...)
		j := opened(t, dir)
		if epoch == "" {
			epoch = j.Epoch()
		}
		if j.Epoch() != epoch {
			t.Errorf("the epoch was %s and is %s", epoch, j.Epoch())
		}
		stored := map[string]int{}
		for after := int64(0); ; {
			records, err := j.Read(t.Context(), after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			for _, r := range records {
				if after++; r.Seq != after || r.ID != string(r.Body) {
					t.Fatalf("record %+v at %d", r, after)
				}
				stored[r.ID]++
			}
		}
		for _, id := range acknowledged {
			if stored[id] != 1 {
				t.Fatalf("event %s was acknowledged and is stored %d times", id, stored[id])
			}
		}
		closeAll(t, j)
	}
}
