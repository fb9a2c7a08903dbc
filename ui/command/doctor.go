package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal"
	"tillwatch/ui/config"
	"tillwatch/ui/dashboard"
	"tillwatch/ui/doctor"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

func newDoctor() *cobra.Command {
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, and say what is wrong and what to do",
		Long: "Check, in order: the settings, whether the service answers at its address, the key, the limits, " +
			"the relay, its token and stream, the signing secret, the journal of a relay on this machine, the " +
			"terminal. Each check says what it found, and what to do about a warning or a fault. A check that " +
			"depends on a failed one is skipped.\n\n" +
			"One read counts against the quota; nothing is sent that changes anything. No key, token or secret " +
			"is printed. --data also reads every event of a journal that no relay uses, and names the damaged " +
			"ones.\n\n" +
			"--json prints one object per check: check, verdict (ok, skipped, warning or fault), found, and do " +
			"where there is something to do. The last object has the counts: ok, skipped, warning, fault, and " +
			"reads, the reads spent. The exit code is 1 if there is a fault.",
		Example: "tillwatch doctor\ntillwatch doctor --profile staging\ntillwatch doctor --data /var/lib/tillwatch\n" +
			"tillwatch doctor --json | jq -c 'select(.verdict == \"fault\")'",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			data, _ := c.Flags().GetString("data")
			load := func() (settings, error) { return loadSettings(c.Flags()) }
			return examine(c.Context(), load, data, streamsOf(c))
		},
	}
	flags := command.Flags()
	accountFlags(flags, "postgres", "theme")
	flags.String("data", "", "journal folder of a relay on this machine (default: that of a relay on loopback)")
	jsonFlag(flags, "print one JSON object a line")
	return command
}

// diagnosis is a finding as it is printed.
type diagnosis struct {
	doctor.Finding
	width int // of a terminal; 0: lines are not wrapped
}

func (d diagnosis) text() string {
	glyph := map[doctor.Verdict]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Fault: "✕"}[d.Verdict]
	var b strings.Builder
	lead := fmt.Sprintf("%s %-9s", glyph, d.Check)
	for _, text := range []string{d.Found, d.Do} {
		if d.width > 0 {
			text = atSpaces(text, min(max(d.width, 40), 120)-11)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				b.WriteString(lead + line + "\n")
			}
			lead = strings.Repeat(" ", 11)
		}
		lead = "         → "
	}
	return b.String()
}

// checkup counts what the checks found. It names those that were skipped.
type checkup struct {
	OK      int `json:"ok"`
	Skipped int `json:"skipped"`
	Warning int `json:"warning"`
	Fault   int `json:"fault"`
	Reads   int `json:"reads"`

	skipped []string
	width   int // of a terminal; 0: lines are not wrapped
}

func (r checkup) text() string {
	text := ""
	if r.Skipped > 0 {
		text = "– skipped: " + strings.Join(r.skipped, ", ") + "\n"
		if r.width > 0 {
			text = atSpaces(text, r.width)
		}
	}
	return text + fmt.Sprintf("\n%d ok, %s, %s; %s of the quota spent\n", r.OK,
		wording.Counted(r.Warning, "warning", "warnings"),
		wording.Counted(r.Fault, "fault", "faults"), wording.Counted(r.Reads, "read", "reads"))
}

// examine runs all checks. data is the folder of a journal; "" if none was named.
func examine(ctx context.Context, load func() (settings, error), data string, std streams) error {
	type loaded struct {
		settings
		wrong error
	}
	s, err := unlessInterrupted(ctx, func() (loaded, error) {
		s, wrong := load()
		return loaded{s, wrong}, nil
	})
	if err != nil {
		return err
	}
	if s.wrong == nil {
		s.wrong = unusable(ctx, s.settings, data)
	}
	set := setupOf(s.settings, s.wrong, data, std)
	width, _ := terminalSize(std.out)
	sum := checkup{width: width}
	counts, err := set.Examine(ctx, func(f doctor.Finding) error {
		f.Found, f.Do = discreet(s.settings, f.Found), discreet(s.settings, f.Do)
		if f.Verdict == doctor.Skipped {
			sum.skipped = append(sum.skipped, f.Check+" ("+f.Found+")")
			if !std.json {
				return nil
			}
		}
		return std.print(diagnosis{f, width})
	})
	if err != nil {
		return err
	}
	sum.OK, sum.Skipped, sum.Reads = counts[doctor.OK], counts[doctor.Skipped], set.Reads()
	if sum.Warning, sum.Fault = counts[doctor.Warning], counts[doctor.Fault]; sum.Fault > 0 {
		err = errors.New("there are faults: see what to do beside each")
	}
	return errors.Join(std.print(sum), err)
}

// discreet removes secrets from a text: an error may repeat what was sent.
func discreet(s settings, text string) string {
	return string(api.MaskAddress(api.Scrub(s.Redact(text))))
}

// unusable is what is wrong with settings that are well-formed.
func unusable(ctx context.Context, s settings, data string) error {
	var filter, list, account error
	if why := dashboard.WrongFilter(s.Filter); why != "" {
		filter = fmt.Errorf("filter is %s: %s", config.Shown(s.Filter), why)
	}
	if s.WatchList != session.FromStdin {
		list = readWatchIDs(&s, ctx, nil)
	}
	if s.APIURL != "" || s.RelayURL == "" && s.Postgres.IsZero() && data == "" {
		account = s.RequireAccount()
	} else {
		account = s.RequireToken()
	}
	return errors.Join(checkTheme(s), filter, list, account)
}

func setupOf(s settings, wrong error, data string, std streams) *doctor.Setup {
	set := &doctor.Setup{
		Wrong: wrong, APIURL: s.APIURL, APIKey: s.APIKey, PollShare: s.PollShare, AllowConfirm: s.AllowConfirm,
		RelayURL: s.RelayURL, SigningSecrets: s.SigningSecrets(), In: std.in, Out: std.out,
		Client:     func(c api.Config) (*api.Client, error) { return session.NewClient(s, c) },
		Reader:     func() (*relay.Reader, error) { return newReader(s) },
		Subscriber: func(c relay.SubscriberConfig) (*relay.Subscriber, error) { return session.NewSubscriber(s, c) },
	}
	exists := func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, "journal.db"))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if data == "" && api.Loopback(api.HostOf(s.RelayURL)) && exists(relayDir()) {
		data = relayDir()
	}
	if data != "" || !s.Postgres.IsZero() {
		set.Journal = func(ctx context.Context) (journal.Journal, error) {
			if s.Postgres.IsZero() && !exists(data) {
				return nil, fmt.Errorf("there is no journal in %s: a relay makes it when it first starts",
					wording.Path(data))
			}
			return openJournal(ctx, s, data)
		}
	}
	return set
}
