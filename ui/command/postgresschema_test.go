package command

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
