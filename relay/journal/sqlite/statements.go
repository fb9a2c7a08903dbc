package sqlite

import (
	"context"
	"database/sql"
)

// statements are those of every transaction, prepared on one connection.
type statements struct {
	begin, owner, commit, insert, look, repeated *sql.Stmt
}

// prepareStatements returns what it has prepared with its error, too.
func prepareStatements(ctx context.Context, c *sql.Conn) (statements, error) {
	var s statements
	for _, each := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.owner, "SELECT owner, ifnull((SELECT max(last) FROM packs), 0) FROM journal"},
		{&s.commit, "COMMIT"},
		{&s.insert, "INSERT INTO packs (last, first, latest, events) VALUES (?, ?, ?, ?)"},
		{&s.look, "SELECT " + packColumns + " FROM packs WHERE last >= ? ORDER BY last LIMIT 1"},
		{&s.repeated, `INSERT INTO repeats (seq, duplicates, conflicts) VALUES (?, ?, ?)
			ON CONFLICT (seq) DO UPDATE SET duplicates = duplicates + excluded.duplicates, conflicts = conflicts + excluded.conflicts`},
	} {
		statement, err := c.PrepareContext(ctx, each.text)
		if err != nil {
			return s, err
		}
		*each.into = statement
	}
	return s, nil
}

// close lets go of the statements: the pool keeps a connection for as long as
// it has any.
func (s statements) close() {
	for _, statement := range []*sql.Stmt{s.begin, s.owner, s.commit, s.insert, s.look, s.repeated} {
		if statement != nil {
			_ = statement.Close()
		}
	}
}
