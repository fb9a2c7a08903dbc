package confirm

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The clock of timers stands still while a machine sleeps, and the one on the wall does not.
func TestARequestThatWasHeldTooLongDoesNotGoOut(t *testing.T) {
	audit, err := openAudit(filepath.Join(t.TempDir(), "confirms.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer audit.close()
	for _, c := range []struct {
		name  string
		held  time.Duration
		wants string // in the error; "" for none
	}{
		{"at once", 0, ""},
		{"after a wait for quota", sendWithin - time.Second, ""},
		{"after a sleep", 3 * time.Minute, "held for 3m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := Line{At: time.Now().Add(-c.held), Attempt: newAttempt(), Environment: "production", Intent: "ci_1", Stage: Sending}
			if err := audit.add(line); !errors.Is(err, errSettled) {
				t.Errorf("a line that was never recorded is sent again: %v", err)
			}
			if err := audit.locked(func() error { return audit.write(line) }); err != nil {
				t.Fatal(err)
			}
			written, err := audit.depart(line)
			if (err == nil) != (c.wants == "") || err != nil && !strings.Contains(err.Error(), c.wants) {
				t.Fatalf("it ended with %v", err)
			}
			if err == nil {
				written()
				written() // once by the connection and once at the end
			}
		})
	}
}
