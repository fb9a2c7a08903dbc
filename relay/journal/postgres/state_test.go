package postgres

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// lockHead keeps every append waiting until release is called.
func lockHead(t *testing.T, dsn string) (release func()) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Exec(t.Context(), "BEGIN; SELECT FROM tillwatch_journal FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = connection.Close(context.Background()) }
}

func appended(t *testing.T, j journal.Journal, ids ...string) []journal.Result {
	t.Helper()
	var entries []journal.Entry
	for _, id := range ids {
		entries = append(entries, journal.Entry{ID: id, Type: "type", Body: []byte(id)})
	}
	results, err := j.Append(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestRelaysThatStartTogetherMakeOneJournal(t *testing.T) {
	dsn := schema(t)
	epochs := make([]string, 4)
	var wg sync.WaitGroup
	for i := range epochs {
		wg.Go(func() {
			j, err := Open(t.Context(), dsn)
			if err != nil {
				t.Error(err)
				return
			}
			epochs[i] = j.Epoch()
			_ = j.Close()
		})
	}
	wg.Wait()
	for _, epoch := range epochs {
		if epoch == "" || epoch != epochs[0] {
			t.Errorf("the epochs are %q", epochs)
		}
	}
}

func TestACommitIsSeenWithoutItsNotification(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	waited := make(chan error, 1)
	go func() { waited <- j.Wait(t.Context(), 0) }()
	execute(t, dsn, "UPDATE tillwatch_journal SET head = 1")
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestADatabaseThatLostEventsIsFollowedFromWhereItEnds(t *testing.T) {
	dsn := schema(t)
	relays := []journal.Journal{opened(t, dsn), opened(t, dsn)}
	appended(t, relays[0], "1", "2", "3", "4", "5")
	for _, j := range relays {
		if err := j.Wait(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dsn, "BEGIN; DELETE FROM tillwatch_events WHERE seq > 3; DELETE FROM tillwatch_ids WHERE seq > 3; "+
		"UPDATE tillwatch_journal SET head = 3; COMMIT")
	time.Sleep(2 * pollInterval)
	waited := make(chan error, len(relays))
	for _, j := range relays {
		if head, err := j.Head(t.Context()); head != 3 || err != nil {
			t.Errorf("the head is %d, %v", head, err)
		}
		go func() { waited <- j.Wait(t.Context(), 3) }()
	}
	if results := appended(t, relays[1], "4", "1"); results[0] != (journal.Result{Seq: 4}) || !results[1].Duplicate {
		t.Errorf("after the loss: %+v", results)
	}
	for range relays {
		if err := <-waited; err != nil {
			t.Error(err)
		}
	}
}

func TestADamagedRowHarmsNothingButItself(t *testing.T) {
	dsn := schema(t)
	j := opened(t, dsn)
	appended(t, j, "a", "b", "c", "d", "e")
	execute(t, dsn, "UPDATE tillwatch_events SET body = 'B' WHERE seq = 2; DELETE FROM tillwatch_events WHERE seq IN (3, 5)")
	expect := func(want string) {
		t.Helper()
		records, err := j.Read(t.Context(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, r := range records {
			if r.Seq != int64(i+1) || r.Damaged != (r.ID == "") {
				t.Errorf("record %d is %+v", i+1, r)
			}
			got += cmp.Or(r.ID, "-")
		}
		if got != want {
			t.Errorf("it reads as %s, want %s", got, want)
		}
	}
	expect("a--d-")
	for i, result := range appended(t, j, "a", "b", "c", "d", "e") {
		if result != (journal.Result{Seq: int64(i + 1), Duplicate: true}) {
			t.Errorf("event %d again: %+v", i+1, result)
		}
	}
	appended(t, j, "f")
	expect("a--d-f")
	for id, damaged := range map[string]bool{"a": false, "b": true, "c": true, "f": false} {
		if r, found, err := j.Find(t.Context(), id); !found || err != nil || r.ID != id || r.Damaged != damaged {
			t.Errorf("event %s is found as %+v, %v", id, r, err)
		}
	}
	if records, err := j.Read(t.Context(), 1, 2); err != nil || len(records) != 2 || !records[1].Damaged {
		t.Errorf("two of them are %+v, %v", records, err)
	}
}

func TestSessionsAreDurableWhateverTheDefaultAndLetGoOfTheLock(t *testing.T) {
	j := opened(t, with(schema(t), "synchronous_commit", "off")).(*Journal)
	var commit, idle string
	err := j.pool.QueryRow(t.Context(), "SELECT current_setting('synchronous_commit'), current_setting('idle_in_transaction_session_timeout')").
		Scan(&commit, &idle)
	if err != nil || commit != "on" || idle != "5s" {
		t.Errorf("synchronous_commit %q, idle_in_transaction_session_timeout %q, %v", commit, idle, err)
	}
}

func TestABatchOfManyLargeBodiesIsStored(t *testing.T) {
	j := opened(t, schema(t))
	entries := make([]journal.Entry, 20)
	for i := range entries {
		entries[i] = journal.Entry{ID: strings.Repeat("x", i+1), Body: make([]byte, 1<<20)}
	}
	if _, err := j.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	if head, err := j.Head(t.Context()); err != nil || head != int64(len(entries)) {
		t.Errorf("head %d, %v", head, err)
	}
}

func TestARelayWritesWhereTransactionsAreReadOnlyByDefault(t *testing.T) {
	j, err := Open(t.Context(), with(schema(t), "default_transaction_read_only", "on"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
