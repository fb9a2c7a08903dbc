// Package postgrestest gives tests a PostgreSQL. Where there is none, it makes go test
// say which tests were skipped and how to run them.
package postgrestest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the DSN of a database in which tests may
// create and drop schemas.
const Variable = "TILLWATCH_TEST_POSTGRES"

// Server is the PostgreSQL of the tests of one package.
type Server struct {
	mu      sync.Mutex
	skipped []string // tests that had no server
}

// DisableCache makes go test run the package again next time if tests are skipped,
// instead of repeating a cached pass that names no skipped tests. go does not cache
// the result of tests that opened a recently changed file of the module: DisableCache
// sets the time of file and opens it.
func (s *Server) DisableCache(t testing.TB, file string) {
	if os.Getenv(Variable) != "" {
		return
	}
	soon := time.Now().Add(time.Minute)
	if err := os.Chtimes(file, soon, soon); err != nil {
		t.Logf("go test may not name skipped tests next time: %v", err) // a read-only module
	}
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = opened.Close()
}

// DSN returns the DSN of the server. It reads the environment while tests run: go
// caches results by the variables that it saw then. Without a server it skips the test.
func (s *Server) DSN(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(Variable)
	if dsn == "" {
		s.mu.Lock()
		s.skipped = append(s.skipped, t.Name())
		s.mu.Unlock()
		t.Skip("needs a PostgreSQL: set " + Variable + " to the DSN of a throw-away database, as .ci/run does")
	}
	return dsn
}

// Schema creates an empty schema for one test and returns its DSN. Without a server it
// skips the test.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	dsn := s.DSN(t)
	name := "test_" + strings.ToLower(rand.Text()[:16])
	execute := func(statement string) {
		connection, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close(context.Background())
		if _, err := connection.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	execute("CREATE SCHEMA " + name)
	t.Cleanup(func() { execute("DROP SCHEMA " + name + " CASCADE") })
	if !strings.Contains(dsn, "://") {
		return dsn + " search_path='" + name + "'"
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + "search_path=" + name
}

// ReportSkipped prints which tests were skipped, to the standard error of go test
// itself: go test hides the output of a package that passes.
func (s *Server) ReportSkipped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.skipped) == 0 || testing.Verbose() {
		return
	}
	out, err := outlet()
	if err != nil {
		return // nobody would see it
	}
	defer out.Close()
	fmt.Fprint(out, s.words())
}

func (s *Server) words() string {
	slices.Sort(s.skipped)
	of := "this package"
	if build, ok := debug.ReadBuildInfo(); ok && build.Path != "" {
		of = strings.TrimSuffix(build.Path, ".test")
	}
	tests := "tests"
	if len(s.skipped) == 1 {
		tests = "test"
	}
	return fmt.Sprintf("skipped for want of PostgreSQL: %d %s of %s: %s\n"+
		"to run what was skipped: %s=postgres://USER:PASSWORD@127.0.0.1/DATABASE go test %s   (a throw-away database)\n",
		len(s.skipped), tests, of, strings.Join(s.skipped, ", "), Variable, of)
}
