package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"tillwatch/relay/journal"
)

// batch is one growing transaction. Nobody else sees its content before the commit.
type batch struct {
	ctx      context.Context
	writer   *writer
	head     int64                    // with the new entries
	fresh    map[journal.Digest]int64 // sequence numbers of the new entries
	pack     pack                     // the last of them, not inserted yet
	looked   pack                     // the last stored pack that was read
	repeats  journal.Repeats
	stored   int64
	unstored []journal.Digest
	latest   int64 // the latest time of receipt of all events
	oldest   int64 // the new oldest, 0 when it stays
	bytes    int   // inserted so far
}

const countRepeats = `INSERT INTO repeats (seq, duplicates, conflicts) VALUES (?, ?, ?)
ON CONFLICT (seq) DO UPDATE SET duplicates = duplicates + excluded.duplicates, conflicts = conflicts + excluded.conflicts`

func newBatch(ctx context.Context, w *writer) *batch {
	return &batch{
		ctx:      ctx,
		writer:   w,
		head:     w.journal.newest(),
		fresh:    map[journal.Digest]int64{},
		repeats:  journal.Repeats{},
		pack:     pack{first: 1, data: w.buffer[:0]},
		stored:   w.stored,
		unstored: w.unstored,
		latest:   w.latest,
	}
}

func (b *batch) append(e journal.Entry) (journal.Result, error) {
	d := journal.DigestOf(e.ID)
	seq, found := b.fresh[d]
	if !found {
		seq, found = b.writer.journal.known(d)
	}
	if found {
		return b.repeat(seq, e)
	}
	seq = b.head + 1
	if !b.pack.takes(e) {
		if err := b.insert(); err != nil {
			return journal.Result{}, err
		}
	}
	if b.pack.empty() {
		b.pack.begin(seq, b.latest)
	}
	b.pack.add(e)
	b.latest = max(b.latest, journal.Nanoseconds(e.Received))
	b.head, b.fresh[d], b.unstored = seq, seq, append(b.unstored, d)
	return journal.Result{Seq: seq}, nil
}

// size estimates how many bytes the transaction adds to the log.
func (b *batch) size() int { return b.bytes + len(b.pack.data) + len(b.repeats)*pageSize }

// insert writes the pending pack.
func (b *batch) insert() error {
	if b.pack.empty() {
		return nil
	}
	data := b.pack.seal()
	err := b.execute("INSERT INTO packs (last, first, latest, events) VALUES (?, ?, ?, ?)",
		b.pack.last, b.pack.first, b.pack.latest, data)
	b.bytes += len(data)
	b.pack.begin(b.pack.last+1, b.latest)
	return err
}

// repeat counts an entry whose id is known. It does not count one whose event was
// pruned: there is no body left to compare.
func (b *batch) repeat(seq int64, e journal.Entry) (journal.Result, error) {
	result := journal.Result{Seq: seq, Duplicate: true}
	in, found, err := b.packOf(seq)
	if err != nil || !found {
		return result, err
	}
	first, err := in.find(seq)
	if err != nil {
		return result, err
	}
	result.Conflict = journal.Contradicts(first.Entry, e)
	b.repeats.Count(result)
	return result, nil
}

// packOf finds the pack that holds seq.
func (b *batch) packOf(seq int64) (p *pack, found bool, err error) {
	if b.pack.holds(seq) {
		return &b.pack, true, nil
	}
	if b.looked.holds(seq) {
		return &b.looked, true, nil
	}
	b.looked, err = scanPack(b.writer.connection.QueryRowContext(b.ctx, selectFrom+" LIMIT 1", seq))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return &b.looked, b.looked.holds(seq), err
}

// finish writes what the batch gathered for the end of the transaction.
func (b *batch) finish() error {
	if err := b.insert(); err != nil {
		return err
	}
	for seq, counts := range b.repeats {
		if seq < b.oldest {
			continue // it was pruned since
		}
		if err := b.execute(countRepeats, seq, counts.Duplicates, counts.Conflicts); err != nil {
			return err
		}
	}
	for len(b.unstored) >= runLength {
		if err := b.storeDigests(b.stored + runLength); err != nil {
			return err
		}
	}
	return nil
}

// storeDigests writes the run of digests that ends at last.
func (b *batch) storeDigests(last int64) error {
	if last <= b.stored {
		return nil
	}
	count := last - b.stored
	run := make([]byte, 0, count*digestSize)
	for _, d := range b.unstored[:count] {
		run = append(run, d[:]...)
	}
	if err := b.execute("INSERT INTO id_digests (first, digests) VALUES (?, ?)", b.stored+1, run); err != nil {
		return err
	}
	b.bytes += len(run)
	b.stored, b.unstored = last, b.unstored[count:]
	return nil
}
