package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay/journal"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

func newDoctor() *cobra.Command {
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, and say what is wrong and what to do",
		Long: "Check, in order: the settings, whether the service answers at its address, the key, the limits, " +
			"the relay, its token and stream, the signing secret, the journal of a relay on this machine, the " +
			"terminal. Each check says what it found, and what to do about a warning or a fault.\n\n" +
			"One read counts against the quota; nothing is sent that changes anything. No key, token or secret " +
			"is printed. --data also reads every event of a journal that no relay uses.\n\n" +
			"--json prints one object per check: check, verdict (ok, skipped, warning or fault), found, and do; " +
			"then one with the counts: ok, skipped, warning, fault, and reads, the reads spent. The exit code is 1 " +
			"if there is a fault.",
		Example: "tillwatch doctor\ntillwatch doctor --profile staging\ntillwatch doctor --data /var/lib/tillwatch\n" +
			"tillwatch doctor --json | jq -c 'select(.verdict == \"fault\")'",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			data, _ := c.Flags().GetString("data")
			load := func() (settings, error) { return loadSettings(c.Context(), c.Flags()) }
			return examine(c.Context(), load, data, streamsOf(c))
		},
	}
	accountFlags(command.Flags(), "postgres", "theme")
	command.Flags().String("data", "", "journal folder of a relay on this machine")
	jsonFlag(command.Flags(), "print one JSON object a line")
	return command
}

// diagnosis is a finding as it is printed.
type diagnosis struct{ doctor.Finding }

func (d diagnosis) text() string {
	mark := map[doctor.Verdict]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Fault: "✕", doctor.Skipped: "–"}
	found, do := d.Found, d.Do
	if d.Verdict == doctor.Skipped {
		found = "skipped: " + found
	}
	if do != "" {
		do = "→ " + do
	}
	return sheet(fact{mark[d.Verdict] + " " + padded(d.Check, 8), found}, fact{strings.Repeat(" ", 10), do})
}

// checkup counts what the checks found.
type checkup struct {
	OK      int `json:"ok"`
	Skipped int `json:"skipped"`
	Warning int `json:"warning"`
	Fault   int `json:"fault"`
	Reads   int `json:"reads"`
}

func (r checkup) text() string {
	return fmt.Sprintf("\n%d ok, %d skipped, %s, %s; %s of the quota spent\n", r.OK, r.Skipped,
		wording.Counted(r.Warning, "warning", "warnings"),
		wording.Counted(r.Fault, "fault", "faults"), wording.Counted(r.Reads, "read", "reads"))
}

// examine runs all checks. data is the folder of a journal; "" if none was named.
func examine(ctx context.Context, load func() (settings, error), data string, std streams) error {
	s, wrong := load()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrong == nil {
		wrong = unusable(ctx, s, data)
	}
	set := &doctor.Setup{Settings: s, Wrong: wrong, Journal: journalToRead(s, data), In: std.in, Out: std.out}
	counts, err := set.Examine(ctx, func(f doctor.Finding) error {
		f.Found, f.Do = discreet(s, f.Found), discreet(s, f.Do)
		return std.print(diagnosis{f})
	})
	if err != nil {
		return err
	}
	if counts[doctor.Fault] > 0 {
		err = errors.New("there are faults: see what to do beside each")
	}
	return errors.Join(std.print(checkup{
		counts[doctor.OK], counts[doctor.Skipped], counts[doctor.Warning], counts[doctor.Fault], set.Reads(),
	}), err)
}

// discreet removes secrets from a text: an error may repeat what was sent.
func discreet(s settings, text string) string {
	return string(api.MaskAddress(api.Scrub(s.Redact(text))))
}

// unusable is what is wrong with settings that are well-formed.
func unusable(ctx context.Context, s settings, data string) error {
	err := errors.Join(checkTheme(s), readWatchIDs(&s, ctx, strings.NewReader("")))
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		err = errors.Join(err, fmt.Errorf("filter is %s: %s", config.Shown(s.Filter), why))
	}
	if s.APIURL != "" || s.RelayURL == "" && s.Postgres.IsZero() && data == "" {
		return errors.Join(err, s.RequireAccount())
	}
	return errors.Join(err, s.RequireToken())
}

// journalToRead opens the journal in the named folder or database; nil where none is named.
func journalToRead(s settings, data string) func(context.Context) (journal.Journal, error) {
	if data == "" && s.Postgres.IsZero() {
		return nil
	}
	return func(ctx context.Context) (journal.Journal, error) {
		if _, err := os.Stat(filepath.Join(data, "journal.db")); s.Postgres.IsZero() && err != nil {
			return nil, fmt.Errorf("there is no journal in %s: a relay makes it when it first starts",
				wording.Path(data))
		}
		return openJournal(ctx, s, data)
	}
}
