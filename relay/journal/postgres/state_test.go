package postgres

import (
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

func TestADatabaseThatLostEventsGetsAnotherEpoch(t *testing.T) {
	dsn := schema(t)
	relays := []*Journal{opened(t, dsn).(*Journal), opened(t, dsn).(*Journal)}
	appended(t, relays[0], "1", "2", "3", "4", "5")
	for _, j := range relays {
		if err := j.Wait(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		if from, to := j.Lost(); from <= to {
			t.Errorf("lost %d to %d of a whole journal", from, to)
		}
	}
	before := relays[0].Epoch()
	execute(t, dsn, "BEGIN; DELETE FROM tillwatch_events WHERE seq > 3; DELETE FROM tillwatch_ids WHERE seq > 3; "+
		"UPDATE tillwatch_journal SET head = 3; COMMIT")
	for _, j := range relays {
		for j.Epoch() == before {
			j.mu.Lock()
			epoch, moved := j.state.epoch, j.moved
			j.mu.Unlock()
			if epoch == before {
				<-moved
			}
		}
		if from, to := j.Lost(); from != 4 || to != 5 {
			t.Errorf("lost %d to %d, want 4 to 5", from, to)
		}
	}
	if relays[0].Epoch() != relays[1].Epoch() {
		t.Errorf("the epochs are %s and %s", relays[0].Epoch(), relays[1].Epoch())
	}
	if results := appended(t, relays[1], "4", "1"); results[0] != (journal.Result{Seq: 4}) || !results[1].Duplicate {
		t.Errorf("after the loss: %+v", results)
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

func TestTheSizeIsThatOfTheEventsThatAreKept(t *testing.T) {
	j := opened(t, schema(t)).(*Journal)
	start := time.Now()
	for i := range 10 {
		received := start.Add(time.Duration(i) * time.Hour)
		_, err := j.Append(t.Context(), []journal.Entry{{ID: string(rune('a' + i)), Received: received, Body: make([]byte, 1000)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := j.Size(t.Context())
	if err != nil || whole < 10_000 || whole > 12_000 {
		t.Fatalf("size %d, %v", whole, err)
	}
	if removed, err := j.Prune(t.Context(), start.Add(5*time.Hour)); err != nil || removed != 5 {
		t.Errorf("removed %d, %v, want 5", removed, err)
	}
	if size, _ := j.Size(t.Context()); size != whole/2 {
		t.Errorf("size %d after the prune, want %d", size, whole/2)
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
