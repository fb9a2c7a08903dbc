package relay

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/postgres"
	"tillwatch/relay/journal/sqlite"
)

// database is a place for a journal that can be copied and put back.
type database struct {
	open    func(t *testing.T) journal.Journal
	keep    func(t *testing.T) // takes a copy
	restore func(t *testing.T) // puts the copy in place
	empty   func(t *testing.T)
	lose    func(t *testing.T, seq int64) // deletes the row of an event
}

func databases() map[string]func(t *testing.T) database {
	return map[string]func(t *testing.T) database{
		"sqlite": func(t *testing.T) database {
			dir, copied := filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "copy")
			copyTo := func(t *testing.T, from, to string) {
				if err := os.RemoveAll(to); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(to, os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			return database{
				open: func(t *testing.T) journal.Journal {
					j, err := sqlite.Open(t.Context(), dir)
					if err != nil {
						t.Fatal(err)
					}
					return j
				},
				keep:    func(t *testing.T) { copyTo(t, dir, copied) },
				restore: func(t *testing.T) { copyTo(t, copied, dir) },
				empty:   func(t *testing.T) { _ = os.RemoveAll(dir) },
				lose: func(t *testing.T, seq int64) {
					db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
					if err != nil {
						t.Fatal(err)
					}
					defer db.Close()
					if _, err := db.Exec("DELETE FROM events WHERE seq = ?", seq); err != nil {
						t.Fatal(err)
					}
				},
			}
		},
		"postgres": func(t *testing.T) database {
			dsn := postgresSchema(t)
			execute := func(t *testing.T, statements string) {
				t.Helper()
				c, err := pgx.Connect(t.Context(), dsn)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close(context.Background())
				if _, err := c.Exec(t.Context(), statements); err != nil {
					t.Fatal(err)
				}
			}
			each := func(statements string) string {
				text := ""
				for _, table := range []string{"journal", "ids", "events"} {
					text += strings.ReplaceAll(statements, "<>", "tillwatch_"+table)
				}
				return "BEGIN;" + text + "COMMIT"
			}
			return database{
				open: func(t *testing.T) journal.Journal {
					j, err := postgres.Open(t.Context(), dsn)
					if err != nil {
						t.Fatal(err)
					}
					return j
				},
				keep: func(t *testing.T) {
					execute(t, each("DROP TABLE IF EXISTS copy_of_<>; CREATE TABLE copy_of_<> AS SELECT * FROM <>;"))
				},
				restore: func(t *testing.T) {
					execute(t, each("DELETE FROM <>; INSERT INTO <> SELECT * FROM copy_of_<>;"))
				},
				lose: func(t *testing.T, seq int64) {
					execute(t, fmt.Sprintf("DELETE FROM tillwatch_events WHERE seq = %d", seq))
				},
				empty: func(t *testing.T) {
					execute(t, "BEGIN; DELETE FROM tillwatch_ids; DELETE FROM tillwatch_events;"+
						"UPDATE tillwatch_journal SET head = 0, oldest = 1; COMMIT")
				},
			}
		},
	}
}

// postgresSchema makes an empty schema for one test and returns its DSN. Without a server it skips the test.
func postgresSchema(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("TILLWATCH_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("needs a PostgreSQL: set TILLWATCH_TEST_POSTGRES to the URL of a throw-away database, as .ci/run does")
	}
	schema := "test_" + strings.ToLower(rand.Text()[:16])
	do := func(statement string) {
		connection, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close(context.Background())
		if _, err := connection.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do("CREATE SCHEMA " + schema)
	t.Cleanup(func() { do("DROP SCHEMA " + schema + " CASCADE") })
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + "search_path=" + schema
}
