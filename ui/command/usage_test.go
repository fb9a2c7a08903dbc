package command

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestHelpWritesTimesAsPeopleDo(t *testing.T) {
	for given, want := range map[time.Duration]string{
		0:                       "",
		10 * time.Second:        "10s",
		90 * time.Second:        "1m30s",
		10 * time.Minute:        "10m",
		45 * time.Minute:        "45m",
		time.Hour:               "1h",
		10 * time.Hour:          "10h",
		90 * time.Minute:        "1h30m",
		time.Hour + time.Second: "1h0m1s",
	} {
		c := &cobra.Command{}
		c.Flags().Duration("wait", given, "how long")
		shortenTimes(c)
		if want != "" {
			want = "(default " + want + ")"
		}
		if help := c.Flags().FlagUsages(); !strings.HasSuffix(strings.TrimSpace(help), cmp.Or(want, "how long")) {
			t.Errorf("%v is written as %q, want %q", given, help, want)
		}
	}
}
