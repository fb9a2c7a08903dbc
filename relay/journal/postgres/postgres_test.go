package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"tillwatch/relay/journal"
	"tillwatch/relay/journal/journaltest"
)

const (
	// testDatabase names a database whose schemas the tests may make and drop.
	testDatabase = "TILLWATCH_TEST_POSTGRES"
	// testRestart is a program that crashes that server and starts it again.
	testRestart = "TILLWATCH_TEST_POSTGRES_RESTART"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childJournal); dsn != "" {
		fmt.Fprintln(os.Stderr, appendForEver(dsn))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// database is the DSN of the server to test with; without one the test is
// skipped.
func database(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(testDatabase)
	if dsn == "" {
		t.Skip("needs a PostgreSQL: set " + testDatabase + " to the DSN of a throw-away database, as .ci/run does")
	}
	return dsn
}

// schema makes an empty schema for one test and returns the DSN of it.
func schema(t testing.TB) string {
	t.Helper()
	dsn := database(t)
	name := "test_" + strings.ToLower(newEpoch())
	execute(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { execute(t, dsn, "DROP SCHEMA "+name+" CASCADE") })
	return with(with(dsn, "search_path", name), "application_name", name)
}

// with adds a setting to a DSN of either form.
func with(dsn, key, value string) string {
	if !strings.Contains(dsn, "://") {
		return dsn + " " + key + "='" + value + "'"
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + key + "=" + url.QueryEscape(value)
}

func execute(t testing.TB, dsn, statement string, arguments ...any) {
	t.Helper()
	connection, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	if _, err := connection.Exec(context.Background(), statement, arguments...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// count asks for one number.
func count(t testing.TB, dsn, query string) (n int64) {
	t.Helper()
	connection, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	if err := connection.QueryRow(context.Background(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// interrupt takes the database away in the middle of everything: the server
// crashes and starts again where that can be done, else its sessions are ended.
func interrupt(t testing.TB, dsn string) {
	t.Helper()
	program := os.Getenv(testRestart)
	if program == "" {
		terminate(t, dsn)
		return
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Fatalf("restart the server: %v: %s", err, out)
	}
}

// terminate ends every session of relays on dsn.
func terminate(t testing.TB, dsn string) {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()",
		config.RuntimeParams["application_name"])
}

// named opens the journals of one test in schemas of their own.
func named(t *testing.T) journaltest.Open {
	database(t)
	schemas := map[string]string{}
	return func(sub *testing.T, name string) journal.Journal {
		if schemas[name] == "" {
			schemas[name] = schema(t)
		}
		return opened(sub, schemas[name])
	}
}

func opened(t testing.TB, dsn string) journal.Journal {
	t.Helper()
	j, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestPostgreSQLIsAJournal(t *testing.T) { journaltest.Run(t, named(t)) }

func TestPostgreSQLIsDurable(t *testing.T) { journaltest.RunDurable(t, named(t)) }
