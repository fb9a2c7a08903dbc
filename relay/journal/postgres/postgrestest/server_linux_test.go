package postgrestest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestGoTestSaysEachTimeWhichTestsItSkipped(t *testing.T) {
	const tested = "tillwatch/relay/journal"
	for range 2 {
		command := exec.CommandContext(t.Context(), "go", "test", tested)
		command.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, Variable+"=") })
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go test: %v\n%s", err, said)
		}
		for _, want := range []string{"skipped for want of PostgreSQL: ", " tests of " + tested + ": ", "TestPostgreSQLIsAJournal", Variable + "=postgres://", "ok  \t" + tested} {
			if !strings.Contains(string(said), want) {
				t.Errorf("no %q in\n%s", want, said)
			}
		}
	}
}

func TestNothingIsSaidOfTestsThatHaveAServer(t *testing.T) {
	t.Setenv(Variable, "postgres://127.0.0.1/x")
	s := &Server{}
	if dsn := s.DSN(t); dsn != "postgres://127.0.0.1/x" || len(s.skipped) > 0 {
		t.Errorf("%q, skipped %q", dsn, s.skipped)
	}
}
