//go:build unix

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

func TestAConfirmOfUnknownOutcomeAndItsEndReachTheProgramForAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	told := filepath.Join(t.TempDir(), "told")
	w.settings.AlertCommand, w.settings.AlertCommandLive = config.Program{"/bin/sh", "-c", `cat >>"$1"`, "sh", told}, true
	s, err := session.Open(w.settings, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	owned(t, sendAlerts(s, screenOptions{kept: true}))
	tells := func(what ...string) {
		t.Helper()
		eventually(t, "it is told "+strings.Join(what, " "), func() bool {
			text, _ := os.ReadFile(told)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			last := lines[len(lines)-1]
			for _, words := range what {
				if !strings.Contains(last, words) {
					return false
				}
			}
			return true
		})
	}
	c := account.Confirm{Attempt: "A", Intent: "ci_1", Product: "Mug", Sent: time.Now(), Answered: time.Now(), Answer: "no answer"}
	s.Store.RecordConfirms([]account.Confirm{c})
	tells(`"kind":"confirm"`, `"intent":"ci_1"`)
	c.Ended, c.End = time.Now(), account.ConfirmNotDone
	s.Store.RecordConfirms([]account.Confirm{c})
	tells(`"kind":"confirm"`, `"over":true`)
}
