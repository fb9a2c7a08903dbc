package confirm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api/confirm"
)

func TestHowLongAgoSomethingWasSentIsTheServiceToSay(t *testing.T) {
	cases := []struct {
		name    string
		here    time.Duration // since it was sent, by this machine's clock
		there   time.Duration // by the service's
		verdict confirm.Verdict
	}{
		{"half a minute, and the clock was set ahead", time.Hour, 30 * time.Second, confirm.NotSent},
		{"half a minute, and the clock was set back", -time.Hour, 30 * time.Second, confirm.NotSent},
		{"four minutes, and the clock was set back", -time.Hour, 4 * time.Minute, confirm.Accepted},
		{"four minutes", 4 * time.Minute, 4 * time.Minute, confirm.Accepted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				s := &service{intent: awaiting(), began: now, date: now.Add(72 * time.Hour)}
				file := filepath.Join(t.TempDir(), "confirms.jsonl")
				line := fmt.Sprintf(`{"at":%q,"date":%q,"environment":"simulator","attempt":"A","intent":%q,"stage":"sending"}`+"\n",
					now.Add(-c.here).Format(time.RFC3339Nano), s.date.Add(-c.there).Format(time.RFC3339Nano), id)
				if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
					t.Fatal(err)
				}
				g := guardOn(t, s, file)
				if out := g.Confirm(t.Context(), proposal(t, s.intent), nil); out.Verdict != c.verdict {
					t.Errorf("%q (%v), want %q", out.Verdict, out.Err, c.verdict)
				}
				if c.verdict != confirm.Accepted {
					return
				}
				lines := auditLines(t, file)
				if sent := lines[len(lines)-2]; sent.Stage != confirm.Sending || sent.Date.Sub(s.date) < 0 {
					t.Errorf("recorded is %+v, without when the service read it", sent)
				}
			})
		})
	}
}

func TestAConfirmOfAnEarlierRunIsSettledAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &service{intent: awaiting(), began: began, date: began}
		file := sentAgo(t, -72*time.Hour)
		settle(t, s, file, time.Hour)
		if took := time.Since(began); took > 5*time.Minute || recorded(t, file) != confirm.NotTaken {
			t.Errorf("it was read %d times in %v, and is %q", s.reads, took, recorded(t, file))
		}
	})
}
