package sqlite

import (
	"context"
	"fmt"
)

// transaction is one commit while it grows, with the jobs in it.
type transaction struct {
	writer  *writer
	jobs    []*job
	changes *batch
	head    int64 // of the journal after the commit
}

// add applies a job, unless nobody waits for it any more. The first one begins
// the transaction. After an error the connection is to be given up.
func (t *transaction) add(j *job) (err error) {
	if err := j.ctx.Err(); err != nil {
		j.done <- err
		return nil
	}
	t.jobs = append(t.jobs, j)
	defer recovered(&err)
	if t.changes == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	return j.apply(t.changes)
}

func (t *transaction) begin() error {
	ctx := context.Background()
	if t.writer.connection == nil {
		if err := t.writer.connect(ctx); err != nil {
			return err
		}
	}
	if _, err := t.writer.statements.begin.ExecContext(ctx); err != nil {
		return err
	}
	t.changes = newBatch(ctx, t.writer)
	return nil
}

// commit writes the log, without waiting for the disk. The writer knows the new
// ids from here on; nobody else does.
func (t *transaction) commit() (err error) {
	defer recovered(&err)
	if err := t.changes.finish(); err != nil {
		return err
	}
	if _, err := t.writer.statements.commit.ExecContext(t.changes.ctx); err != nil {
		return err
	}
	t.writer.stored = t.changes.stored
	t.head = t.writer.journal.remember(t.changes.fresh)
	return nil
}

// makeDurable waits for the disk and makes known what was committed.
func (t *transaction) makeDurable() (err error) {
	defer recovered(&err)
	if err := t.writer.log.sync(); err != nil {
		return fmt.Errorf("sync the log: %w", err)
	}
	t.writer.journal.published(t)
	return nil
}

// answer tells everybody who asked.
func (t *transaction) answer(err error) {
	if err != nil {
		err = fmt.Errorf("write the journal: %w", err)
	}
	for _, j := range t.jobs {
		j.done <- err
	}
}

func recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panic while writing: %v", panicked)
	}
}
