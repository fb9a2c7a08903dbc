package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

const (
	// maxBatch bounds the bytes of the bodies in a transaction: the server holds them as one message. One call may
	// exceed it.
	maxBatch = 16 << 20
	// pruneStep bounds the events that one transaction removes: appends wait for it.
	pruneStep = 2000
)

// appending is one call of [Journal.Append].
type appending struct {
	entries []journal.Entry
	results []journal.Result // set once it is committed
}

// Append stores entries in one transaction, together with those of concurrent calls.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	a := &appending{entries: entries}
	if err := j.Do(ctx, a); err != nil {
		return nil, err
	}
	return a.results, nil
}

// batch is the work of one transaction.
type batch struct {
	calls   []*appending
	size    int // of the bodies
	state   state
	locked  bool
	seqs    map[journal.Digest]int64
	records map[int64]*journal.Record // of those ids; none for a pruned event
	fresh   []int64
	again   map[int64]bool // the earlier ones that came again
	results []journal.Result
}

// gather takes what is queued.
func (b *batch) gather(works *groupcommit.Batch[*appending]) {
	for b.size < maxBatch {
		a, ok := works.Next()
		if !ok {
			return
		}
		b.calls = append(b.calls, a)
		for _, e := range a.entries {
			b.size += len(e.Body)
		}
	}
}

// commit stores all work that is queued by the time it holds the lock, and answers the callers.
func (j *Journal) commit(works *groupcommit.Batch[*appending]) {
	b := &batch{}
	b.gather(works)
	if len(b.calls) == 0 {
		return // every caller has given up
	}
	err := j.store(b, works)
	if err != nil && !b.locked && j.life.Err() == nil {
		j.pool.Reset() // an idle connection may have died; nothing was written
		err = j.store(b, works)
	}
	if err == nil {
		for _, a := range b.calls {
			n := len(a.entries)
			a.results, b.results = b.results[:n:n], b.results[n:]
		}
		if b.state.head > j.now().head {
			j.publish(b.state)
		}
	}
	works.Answer(err)
}

func (j *Journal) store(b *batch, works *groupcommit.Batch[*appending]) (err error) {
	defer journal.Recovered(&err)
	return j.changing(j.life, func(ctx context.Context, tx pgx.Tx) (err error) {
		if b.state, err = scanState(tx.QueryRow(ctx, selectState+" FOR UPDATE")); err != nil {
			return err
		}
		b.locked = true
		b.gather(works)
		if err := b.find(ctx, tx); err != nil {
			return err
		}
		for _, a := range b.calls {
			for _, e := range a.entries {
				b.results = append(b.results, b.add(e))
			}
		}
		return b.write(ctx, tx)
	})
}

// find looks up the ids that are known.
func (b *batch) find(ctx context.Context, tx pgx.Tx) error {
	b.seqs, b.records, b.again = map[journal.Digest]int64{}, map[int64]*journal.Record{}, map[int64]bool{}
	var digests []journal.Digest
	var seqs []int64
	for _, a := range b.calls {
		for _, e := range a.entries {
			digests = append(digests, journal.DigestOf(e.ID))
		}
	}
	var digest journal.Digest
	var seq int64
	rows, _ := tx.Query(ctx, "SELECT digest, seq FROM tillwatch_ids WHERE digest = ANY ($1::uuid[])", digests)
	_, err := pgx.ForEachRow(rows, []any{&digest, &seq}, func() error {
		b.seqs[digest], seqs = seq, append(seqs, seq)
		return nil
	})
	if err != nil || len(seqs) == 0 {
		return err
	}
	rows, _ = tx.Query(ctx, selectRecords+" WHERE seq = ANY ($1::bigint[])", seqs)
	records, err := pgx.CollectRows(rows, scanRecord)
	for i, r := range records {
		b.records[r.Seq] = &records[i]
	}
	return err
}

// add numbers a new entry, or counts one that came again, unless there is no body left to compare.
func (b *batch) add(e journal.Entry) journal.Result {
	digest := journal.DigestOf(e.ID)
	seq, known := b.seqs[digest]
	if !known {
		b.state.head++
		b.state.latest = max(b.state.latest, journal.Nanoseconds(e.Received))
		seq = b.state.head
		b.seqs[digest], b.fresh = seq, append(b.fresh, seq)
		b.records[seq] = &journal.Record{Seq: seq, Entry: e, Latest: journal.Instant(b.state.latest)}
		return journal.Result{Seq: seq}
	}
	result := journal.Result{Seq: seq, Duplicate: true}
	if r := b.records[seq]; r != nil && !r.Damaged {
		*r, result.Conflict = r.Again(e)
		b.again[seq] = true
	}
	return result
}

// write stores what was added.
func (b *batch) write(ctx context.Context, tx pgx.Tx) error {
	var requests pgx.Batch
	if len(b.fresh) > 0 {
		b.insert(&requests)
	}
	for _, seq := range b.fresh {
		delete(b.again, seq)
	}
	for seq := range b.again {
		r := b.records[seq]
		requests.Queue("UPDATE tillwatch_events SET duplicates = $2, conflicts = $3, sum = $4 WHERE seq = $1",
			seq, r.Duplicates, r.Conflicts, r.Checksum())
	}
	return tx.SendBatch(ctx, &requests).Close()
}

// insert stores the new events, the numbers of their ids and the head, and announces them.
func (b *batch) insert(requests *pgx.Batch) {
	var digests []journal.Digest
	var numbers [6][]int64 // created, received, latest, duplicates, conflicts, sum
	var texts [4][][]byte  // id, type, origin, body
	for _, seq := range b.fresh {
		r := b.records[seq]
		digests = append(digests, journal.DigestOf(r.ID))
		for i, n := range []int64{journal.Nanoseconds(r.CreatedAt), journal.Nanoseconds(r.Received),
			journal.Nanoseconds(r.Latest), int64(r.Duplicates), int64(r.Conflicts), r.Checksum()} {
			numbers[i] = append(numbers[i], n)
		}
		for i, text := range [][]byte{[]byte(r.ID), []byte(r.Type), []byte(r.Origin), journal.NonNil(r.Body)} {
			texts[i] = append(texts[i], text)
		}
	}
	requests.Queue("INSERT INTO tillwatch_ids SELECT * FROM unnest($1::uuid[], $2::bigint[])", digests, b.fresh)
	requests.Queue(`INSERT INTO tillwatch_events
		(seq, created, received, latest, duplicates, conflicts, sum, id, type, origin, body)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
		$8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[])`, b.fresh,
		numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], texts[0], texts[1], texts[2], texts[3])
	requests.Queue("UPDATE tillwatch_journal SET head = $1, latest = $2", b.state.head, b.state.latest)
	requests.Queue("SELECT pg_notify('" + channel + "', '')")
}

// Prune removes old events in steps, each in a transaction of its own, and quarantined bodies of that age.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	return journal.PruneSteps(func() (removed int64, err error) {
		err = j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
			s, err := scanState(tx.QueryRow(ctx, selectState+" FOR UPDATE"))
			if err != nil {
				return err
			}
			// Up to the first that is young enough; a missing one is no reason to stop.
			var keep int64
			err = tx.QueryRow(ctx, `SELECT coalesce(min(seq) FILTER (WHERE received >= $3), $4) FROM
				(SELECT seq, received FROM tillwatch_events WHERE seq BETWEEN $1 AND $2) AS step`,
				s.oldest, s.oldest+pruneStep-1, journal.Nanoseconds(t), min(s.oldest+pruneStep, s.head+1)).Scan(&keep)
			if err != nil {
				return err
			}
			removed = keep - s.oldest
			var requests pgx.Batch
			requests.Queue("DELETE FROM tillwatch_events WHERE seq < $1", keep)
			requests.Queue("UPDATE tillwatch_journal SET oldest = $1", keep)
			requests.Queue("DELETE FROM tillwatch_quarantine WHERE received < $1", journal.Nanoseconds(t))
			return tx.SendBatch(ctx, &requests).Close()
		})
		return removed, err
	})
}

// Quarantine keeps a body that is not an event, and the newest of earlier ones.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var requests pgx.Batch
		requests.Queue("INSERT INTO tillwatch_quarantine (received, reason, body) VALUES ($1, $2, $3)",
			journal.Nanoseconds(u.Received), []byte(u.Reason), journal.NonNil(u.Body))
		requests.Queue(`DELETE FROM tillwatch_quarantine WHERE number <=
			(SELECT number FROM tillwatch_quarantine ORDER BY number DESC LIMIT 1 OFFSET $1)`, journal.MostQuarantined)
		return tx.SendBatch(ctx, &requests).Close()
	})
}

// Check commits a change to the row that every append changes.
func (j *Journal) Check(ctx context.Context) error {
	return j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
		changed, err := tx.Exec(ctx, "UPDATE tillwatch_journal SET checks = checks + 1")
		if err == nil && changed.RowsAffected() != 1 {
			err = errors.New("it " + errMissing.Error())
		}
		return err
	})
}
