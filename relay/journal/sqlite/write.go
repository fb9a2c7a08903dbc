package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/groupcommit"
)

// work is something to do in the next transaction.
type work = func(*batch) error

const (
	// maxBatch bounds the bytes of the bodies in a transaction; one call may exceed it.
	maxBatch = 1 << 20
	// tailLength is how many events may be on the page that an append changes.
	tailLength = 32
	// pruneStep bounds the events that one transaction removes: appends wait for it.
	pruneStep = 500
)

// batch is one transaction.
type batch struct {
	j     *Journal
	works []work
	state state
	size  int // of the bodies
	fresh []journal.Digest
	dirty bool // a page of events was written
}

// commit commits works in one transaction, and answers once it is durable.
func (j *Journal) commit(works *groupcommit.Batch[work]) {
	b := &batch{j: j}
	err := b.transact(works)
	if isDamage(err) && !j.frail {
		j.frail = true
		b.undo()
		err = b.transact(works)
	}
	switch {
	case err == nil:
		j.publish(b.state)
		if len(b.fresh) > 0 {
			j.broken = nil
		}
	default:
		b.undo()
		j.doubt = true
		err = j.explain("write", err)
		if isDamage(err) {
			j.broken = err
		}
	}
	works.Answer(err)
}

func (b *batch) transact(works *groupcommit.Batch[work]) (err error) {
	defer journal.Recovered(&err)
	if len(b.works) == 0 && !b.take(works) {
		b.state = b.j.state
		return nil // every caller has given up
	}
	if err := b.begin(); err != nil {
		return err
	}
	for i := 0; i < len(b.works) || b.size < maxBatch && b.take(works); i++ {
		if err := b.works[i](b); err != nil {
			return err
		}
	}
	if err := b.verifyTail(); err != nil {
		return err
	}
	if err := b.do("COMMIT"); err != nil {
		return err
	}
	return b.j.inPlace() // else it may be durable where nobody will look
}

// verifyTail reads the new rows and those before them, as far as they may be on one page: where that page is damaged,
// SQLite may write one row over another. Later pages are this process's own.
func (b *batch) verifyTail() error {
	if !b.dirty || b.j.state.head > b.j.opened+tailLength {
		return nil
	}
	find, err := b.statement(selectRecords + " WHERE seq = ?")
	if err != nil {
		return err
	}
	for seq := max(b.j.state.head-tailLength+1, b.state.oldest); seq <= b.state.head; seq++ {
		if b.j.spoilt[seq] {
			continue
		}
		if r, err := scanRecord(find.QueryRow(seq)); err != nil || r.Damaged {
			return fmt.Errorf("%w where event %d was written", errDamaged, b.state.head)
		}
	}
	return nil
}

// take takes the next work, if there is any.
func (b *batch) take(works *groupcommit.Batch[work]) bool {
	next, ok := works.Next()
	if ok {
		b.works = append(b.works, next)
	}
	return ok
}

func (b *batch) begin() error {
	if err := b.j.inPlace(); err != nil {
		return err
	}
	if b.j.doubt {
		if err := b.j.load(context.Background()); err != nil {
			return err
		}
		b.j.doubt = false
	}
	b.state = b.j.state
	return b.do("BEGIN IMMEDIATE")
}

// undo rolls the transaction back. Its error adds nothing.
func (b *batch) undo() {
	_ = b.do("ROLLBACK")
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	for _, digest := range b.fresh {
		delete(b.j.ids, digest)
	}
	b.fresh, b.dirty = nil, false
}

// statement prepares a statement once.
func (b *batch) statement(text string) (*sql.Stmt, error) {
	if b.j.prepared[text] == nil {
		prepared, err := b.j.writing.PrepareContext(context.Background(), text)
		if err != nil {
			return nil, err
		}
		b.j.prepared[text] = prepared
	}
	return b.j.prepared[text], nil
}

func (b *batch) do(text string, args ...any) error {
	s, err := b.statement(text)
	if err == nil {
		_, err = s.Exec(args...)
	}
	return err
}

// change changes or deletes a row, unless that may fail and keep others from being added.
func (b *batch) change(text string, args ...any) error {
	if b.j.frail {
		return nil
	}
	b.dirty = true
	return b.do(text, args...)
}

func (b *batch) append(e journal.Entry) (journal.Result, error) {
	b.size += len(e.Body)
	digest := journal.DigestOf(e.ID)
	seq, known := b.j.know(digest, b.state.head+1)
	if known {
		return b.repeat(seq, e)
	}
	b.fresh, b.dirty = append(b.fresh, digest), true
	// A row that has the number already is damaged: all others were taken into account.
	err := b.do("REPLACE INTO ids VALUES (?, ?, ?)", seq, digest[:], journal.DigestChecksum(seq, digest[:]))
	if err != nil {
		return journal.Result{}, err
	}
	b.state.head, b.state.latest = seq, max(b.state.latest, journal.Nanoseconds(e.Received))
	r := journal.Record{Seq: seq, Entry: e, Latest: journal.Instant(b.state.latest)}
	err = b.do("REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)",
		seq, e.ID, e.Type, journal.Nanoseconds(e.CreatedAt), journal.Nanoseconds(e.Received), b.state.latest,
		string(e.Origin), journal.NonNil(e.Body), r.Checksum())
	return journal.Result{Seq: seq}, err
}

// repeat counts an entry whose id is known, unless its event was pruned or is damaged: there is no body to compare.
func (b *batch) repeat(seq int64, e journal.Entry) (journal.Result, error) {
	result := journal.Result{Seq: seq, Duplicate: true}
	if seq < b.state.oldest {
		return result, nil
	}
	r, err := b.first(seq)
	if err != nil || r.Damaged {
		return result, err
	}
	r, result.Conflict = r.Again(e)
	return result, b.change("UPDATE events SET duplicates = ?, conflicts = ?, sum = ? WHERE seq = ?",
		r.Duplicates, r.Conflicts, r.Checksum(), seq)
}

// first returns the record of a known id. A page that cannot be read fails the transaction in which it is read.
func (b *batch) first(seq int64) (journal.Record, error) {
	if b.j.frail && seq <= b.j.state.head {
		return b.j.one(context.Background(), seq)
	}
	find, err := b.statement(selectRecords + " WHERE seq = ?")
	if err != nil {
		return journal.Record{}, err
	}
	r, err := scanRecord(find.QueryRow(seq))
	if errors.Is(err, sql.ErrNoRows) {
		return journal.Record{Seq: seq, Damaged: true}, nil
	}
	return r, err
}

// know returns the sequence number of an id, which is next if it is new.
func (j *Journal) know(digest journal.Digest, next int64) (seq int64, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq, known = j.ids[digest]; !known {
		seq, j.ids[digest] = next, next
	}
	return seq, known
}

// Append stores entries in one transaction, together with those of concurrent calls.
func (j *Journal) Append(ctx context.Context, entries []journal.Entry) ([]journal.Result, error) {
	results := make([]journal.Result, len(entries))
	err := j.Do(ctx, func(b *batch) (err error) {
		for i := range entries {
			if results[i], err = b.append(entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Check commits a change, and waits for the disk.
func (j *Journal) Check(ctx context.Context) error {
	return j.Do(ctx, func(b *batch) error {
		if j.broken != nil {
			return j.broken
		}
		return b.do("UPDATE journal SET checks = checks + 1")
	})
}

// Prune removes old events in steps, each in a transaction of its own, and quarantined bodies of that age.
func (j *Journal) Prune(ctx context.Context, t time.Time) (int64, error) {
	if err := j.Do(ctx, func(b *batch) error { return b.pruneQuarantine(t) }); err != nil {
		return 0, err
	}
	return journal.PruneSteps(func() (int64, error) {
		oldest, err := j.Oldest(ctx)
		if err != nil {
			return 0, err
		}
		records, err := j.Read(ctx, oldest-1, pruneStep)
		if err != nil {
			return 0, err
		}
		for i, r := range records {
			if !r.Damaged && !r.Received.Before(t) {
				records = records[:i]
				break
			}
		}
		if len(records) == 0 {
			return 0, nil
		}
		if err := j.remove(ctx, records); err != nil {
			return 0, err // the step may still be under way
		}
		return int64(len(records)), nil
	})
}

// remove lets go of the oldest records. Damaged ones keep their rows.
func (j *Journal) remove(ctx context.Context, oldest []journal.Record) error {
	return j.Do(ctx, func(b *batch) error {
		for _, r := range oldest {
			if r.Damaged {
				continue
			}
			if err := b.change("DELETE FROM events WHERE seq = ?", r.Seq); err != nil {
				return err
			}
		}
		b.state.oldest = max(b.state.oldest, oldest[len(oldest)-1].Seq+1)
		return b.do("UPDATE journal SET oldest = ?, sum = ?", b.state.oldest, b.state.sum())
	})
}

// Quarantine keeps a body that is not an event, and the newest of earlier ones.
func (j *Journal) Quarantine(ctx context.Context, u journal.Unreadable) error {
	return j.Do(ctx, func(b *batch) error {
		b.size += len(u.Body)
		if err := b.do("INSERT INTO quarantine (received, reason, body, sum) VALUES (?, ?, ?, ?)",
			journal.Nanoseconds(u.Received), u.Reason, journal.NonNil(u.Body), sumUnreadable(u)); err != nil {
			return err
		}
		return b.pruneQuarantine(time.Time{})
	})
}

func sumUnreadable(u journal.Unreadable) int64 {
	return journal.Checksum([]int64{journal.Nanoseconds(u.Received)}, []byte(u.Reason), u.Body)
}

// pruneQuarantine removes what is older than t, and all but the newest.
func (b *batch) pruneQuarantine(t time.Time) error {
	find, err := b.statement(selectQuarantine + ` WHERE received < ? OR number <=
		(SELECT number FROM quarantine ORDER BY number DESC LIMIT 1 OFFSET ?) ORDER BY number`)
	if err != nil {
		return err
	}
	rows, err := find.Query(journal.Nanoseconds(t), journal.MostQuarantined)
	if err != nil {
		return err
	}
	var old []int64
	for rows.Next() {
		if number, _, err := scanUnreadable(rows); err == nil {
			old = append(old, number)
		}
	}
	_ = rows.Close()
	for _, number := range old {
		if err := b.change("DELETE FROM quarantine WHERE number = ?", number); err != nil {
			return err
		}
	}
	return nil
}
