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
)

// testRestart is a program that crashes the server and starts it again.
const testRestart = "TILLWATCH_TEST_POSTGRES_RESTART"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childJournal); dsn != "" {
		fmt.Fprintln(os.Stderr, appendForEver(dsn))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// schema makes an empty schema for one test and returns the DSN of it.
func schema(t testing.TB) string {
	t.Helper()
	dsn := postgresSchema(t)
	_, name, _ := strings.Cut(dsn, "search_path=")
	return with(dsn, "application_name", strings.Trim(name, "'"))
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

func opened(t testing.TB, dsn string) journal.Journal {
	t.Helper()
	j, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}
