package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

const (
	selectDocument = "SELECT content FROM tillwatch_documents WHERE name = $1"
	makeDocument   = "INSERT INTO tillwatch_documents (name, content) VALUES ($1, '') ON CONFLICT DO NOTHING"
	updateDocument = "UPDATE tillwatch_documents SET content = $2 WHERE name = $1"
)

// Document returns a small text that the relays on this database share; it is empty
// until somebody writes it.
func (j *Journal) Document(ctx context.Context, name string) (content []byte, err error) {
	err = j.bounded(ctx, "read", func(ctx context.Context) error {
		return unlessNone(j.pool.QueryRow(ctx, selectDocument, name).Scan(&content))
	})
	return content, err
}

// ChangeDocument replaces a shared text with the result of edit, one change at a
// time. After an error, also one of edit, the text is unchanged.
func (j *Journal) ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error {
	var refused error
	err := j.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, makeDocument, name); err != nil {
			return err
		}
		var content []byte
		if err := tx.QueryRow(ctx, selectDocument+" FOR UPDATE", name).Scan(&content); err != nil {
			return err
		}
		if content, refused = edit(content); refused != nil {
			return refused
		}
		_, err := tx.Exec(ctx, updateDocument, name, journal.NonNil(content))
		return err
	})
	if refused != nil {
		return refused
	}
	return err
}
