package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check what is configured, and say what is wrong and what to do",
		Long: "Check what is configured, in order: settings and where each comes from, secrets, files, terminal, service, clock, key, environment, RateLimit " +
			"headers, limits, lists, relay, token, stream, events, endpoint, disk, journal, database, proxy. Each check ends with ok, a note, a warning or a " +
			"fault, what it means, and what to do. One that needs what is at fault is skipped, and says so.\n\n" +
			"It reads and changes nothing: all requests are GET, at most six of them from the reads bucket, and none while the bucket is down to its reserve. " +
			"Each check takes five seconds at most. No key, token or secret is printed.\n\n" +
			"--json prints an object a finding: check, verdict (ok, note, warning, fault or skipped), found, means, do, details (a list of texts), took_ms of " +
			"the check; fields that say nothing are left out. The last object has checks, faults, warnings, notes, skipped and reads instead. " +
			"The exit code is 1 when there is a fault.",
		Example: "tillwatch doctor\ntillwatch doctor --profile staging\ntillwatch doctor --data /var/lib/tillwatch\ntillwatch doctor --json | jq -c 'select(.verdict == \"fault\")'",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			return runDoctor(c, asJSON)
		},
	}
	flags := command.Flags()
	accountFlags(flags)
	settingFlags(flags, "postgres", "proxy_listen", "theme")
	flags.String("data", "", "folder of the journal of a relay on this machine (default: that of a relay on loopback)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return command
}

// errFaults ends a check-up that found faults, which have been told already.
var errFaults = fmt.Errorf("there are faults: what to do stands beside each")

func runDoctor(c *cobra.Command, asJSON bool) error {
	p := newPatient(c.Flags(), c.InOrStdin(), c.OutOrStdout())
	defer p.close()
	sheet := sheetOn(c, p.names())
	tell := sheet.Write
	if asJSON {
		lines := json.NewEncoder(c.OutOrStdout())
		tell = func(f doctor.Finding) error { return lines.Encode(f) }
	}
	tally, err := doctor.Examine(c.Context(), p.checks(), func(f doctor.Finding) error { return tell(p.discreet(f)) })
	if err != nil {
		return err
	}
	reads := int(p.reads.Load())
	if asJSON {
		err = json.NewEncoder(c.OutOrStdout()).Encode(struct {
			doctor.Tally
			Reads int `json:"reads"`
		}{tally, reads})
	} else {
		err = sheet.Close(tally, wording.Counted(reads, "read", "reads")+" of the quota spent")
	}
	if err == nil && tally.Faults > 0 {
		return errFaults
	}
	return err
}

// sheetOn is the form for people: in the terminal's own colours, where it has any, and
// in unbroken lines where there is no terminal.
func sheetOn(c *cobra.Command, names []string) doctor.Sheet {
	out := c.OutOrStdout()
	s := doctor.Sheet{To: out, Width: terminalWidth(out)}
	for _, name := range names {
		s.Names = max(s.Names, len(name))
	}
	profile := colorprofile.Detect(out, os.Environ())
	if s.Width == 0 || colourless(c) || profile <= colorprofile.ASCII {
		return s
	}
	if theme, err := themeLibrary().Load("default"); err == nil {
		s.Brush = paint.NewBrush(theme.For(profile), false)
	}
	return s
}

// newPatient is what the settings describe. Settings that are wrong are a finding.
func newPatient(flags *pflag.FlagSet, in io.Reader, out io.Writer) *patient {
	p := &patient{in: in, out: out, free: freeSpace}
	p.settings, p.wrong = loadSettings(flags)
	p.data, _ = flags.GetString("data")
	return p
}

// discreet is a finding without what is secret: an error may repeat what was sent.
func (p *patient) discreet(f doctor.Finding) doctor.Finding {
	hidden := func(text string) string {
		for _, secret := range []api.Secret{p.settings.APIKey, p.settings.RelayToken, p.settings.SigningSecret, p.settings.Postgres} {
			if text != "" && !secret.IsZero() {
				text = strings.ReplaceAll(text, secret.Reveal(), "[redacted]")
			}
		}
		return string(api.Scrub(text))
	}
	f.Found, f.Means, f.Do = hidden(f.Found), hidden(f.Means), hidden(f.Do)
	details := make([]string, len(f.Details))
	for i, detail := range f.Details {
		details[i] = hidden(detail)
	}
	f.Details = details
	return f
}
