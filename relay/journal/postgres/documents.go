package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
)

// Documents are small texts that the relays on a database share, such as their tokens.
type Documents struct{ *database }

// OpenDocuments opens those in the database that dsn names, as [Open] opens the journal.
func OpenDocuments(ctx context.Context, dsn string) (*Documents, error) {
	d, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &Documents{d}, nil
}

// Close closes the connections.
func (d *Documents) Close() error {
	d.close()
	return nil
}

const selectDocument = "SELECT content FROM tillwatch_documents WHERE name = $1"

// Document returns a text, which is empty until somebody writes it.
func (d *Documents) Document(ctx context.Context, name string) (content []byte, err error) {
	err = d.bounded(ctx, "read", func(ctx context.Context) error {
		err := d.pool.QueryRow(ctx, selectDocument, name).Scan(&content)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return content, err
}

// ChangeDocument replaces a text with the result of edit, one change at a time. After an error, also one of edit, the
// text is unchanged.
func (d *Documents) ChangeDocument(ctx context.Context, name string, edit func([]byte) ([]byte, error)) error {
	var refused error
	err := d.changing(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO tillwatch_documents VALUES ($1, '') ON CONFLICT DO NOTHING", name)
		if err != nil {
			return err
		}
		var content []byte
		if err := tx.QueryRow(ctx, selectDocument+" FOR UPDATE", name).Scan(&content); err != nil {
			return err
		}
		if content, refused = edit(content); refused != nil {
			return refused
		}
		_, err = tx.Exec(ctx, "UPDATE tillwatch_documents SET content = $2 WHERE name = $1", name, journal.NonNil(content))
		return err
	})
	if refused != nil {
		return refused
	}
	return err
}
