// Package postgrestest gives tests the PostgreSQL that they need and, where there
// is none, has go test say which of them were skipped and how to have them run.
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

// Variable names a database whose schemas the tests may make and drop.
const Variable = "TILLWATCH_TEST_POSTGRES"

// Server is the PostgreSQL of the tests of one package.
type Server struct {
	mu      sync.Mutex
	skipped []string // tests that had none
}

// Configured is the server that the environment names while tests run. It is asked
// then: of what is read before, go takes no note, and repeats a result that another
// environment had.
func Configured() *Server { return &Server{} }

// TellAgain has go test run the package again the next time, instead of repeating
// that it passed, where tests are skipped: else that would be told once. go keeps no
// result of tests that opened a file of the module with a time of change that is not
// well past, which this gives the file.
func (s *Server) TellAgain(t testing.TB, file string) {
	if os.Getenv(Variable) != "" {
		return
	}
	soon := time.Now().Add(time.Minute)
	if err := os.Chtimes(file, soon, soon); err != nil {
		t.Logf("skipped tests may not be told of the next time: %v", err) // a module that cannot be written to
	}
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = opened.Close()
}

// DSN is that of the server. Where there is none, the test is skipped.
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

// Schema makes an empty schema for one test and returns the DSN of it. Where there
// is no server, the test is skipped.
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

// TellSkipped says which tests were skipped. Of a package that passes, go test
// prints nothing else: the words go to its own standard error.
func (s *Server) TellSkipped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.skipped) == 0 || testing.Verbose() {
		return
	}
	out, err := outlet()
	if err != nil {
		return // there is nobody to tell
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
