package command

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/doctor"
	"tillwatch/ui/wording"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, and say what is wrong and what to do",
		Long: "Check the configuration, in order: settings, secrets, signing, files, terminal, service, clock, key, environment, RateLimit " +
			"headers, limits, lists, relay, token, stream, events, endpoint, disk, journal, database, proxy. Each check reports ok, a note, a warning or a " +
			"fault, what it means, and what to do. A check that depends on a failed one is skipped.\n\n" +
			"It changes nothing: all requests are GET, at most six count against the reads bucket, and none is sent once only the reserve is left. " +
			"Each check takes five seconds at most. No key, token or secret is printed.\n\n" +
			"--json prints one object per finding: check, verdict (ok, note, skipped, warning or fault), found, means, do, details (a list of texts), took_ms of " +
			"the check; empty means, do and details are left out. The last object has the counts: ok, note, skipped, warning, fault, and " +
			"reads, the reads spent. The exit code is 1 if there is a fault.",
		Example: "tillwatch doctor\ntillwatch doctor --profile staging\ntillwatch doctor --data /var/lib/tillwatch\ntillwatch doctor --json | jq -c 'select(.verdict == \"fault\")'",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return runDoctor(c, asJSON) },
	}
	flags := command.Flags()
	accountFlags(flags, "postgres", "proxy_listen", "theme")
	flags.String("data", "", "journal folder of a relay on this machine (default: that of a relay on loopback)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return command
}

func runDoctor(c *cobra.Command, asJSON bool) error {
	if err := checkPostgresFlag(c.Flags()); err != nil {
		return err
	}
	p, err := unlessInterrupted(c.Context(), func() (*examination, error) { return newExamination(c.Flags(), c.InOrStdin(), c.OutOrStdout()), nil })
	if err != nil {
		return err
	}
	defer p.Close()
	sheet, lines := p.sheet(c), json.NewEncoder(c.OutOrStdout())
	counts, err := doctor.Examine(c.Context(), p.checks(), func(f doctor.Finding) error {
		if f = p.redacted(f); asJSON {
			return lines.Encode(f)
		}
		return sheet.Write(f)
	})
	if err != nil {
		return err
	}
	reads := p.Reads()
	if asJSON {
		sum := map[doctor.Verdict]int{"reads": reads}
		for _, v := range doctor.Verdicts() {
			sum[v] = 0
		}
		maps.Copy(sum, counts)
		err = lines.Encode(sum)
	} else {
		err = sheet.Close(counts, wording.Counted(reads, "read", "reads")+" of the quota spent")
	}
	if err == nil && counts[doctor.Fault] > 0 {
		return errors.New("there are faults: see what to do beside each")
	}
	return err
}

// examination is a set-up being examined, and the settings that it comes from.
type examination struct {
	*doctor.Setup
	settings settings
	wrong    error // why the settings cannot be used
}

func newExamination(flags *pflag.FlagSet, in io.Reader, out io.Writer) *examination {
	s, wrong := loadSettings(flags)
	data, _ := flags.GetString("data")
	return &examination{settings: s, wrong: wrong, Setup: &doctor.Setup{
		APIURL: s.APIURL, APIKey: s.APIKey, PollShare: s.PollShare, AllowConfirm: s.AllowConfirm,
		NamesIntents: len(s.WatchIDs) > 0 || s.WatchList != "", RelayURL: s.RelayURL, ProxyListen: s.ProxyListen, Postgres: s.Postgres,
		StateDir: s.StateDir, AuditFile: s.AuditFile(), SecretFiles: slices.Sorted(maps.Values(s.SecretFiles)), Journal: data, UsualJournal: relayDir(),
		Client: func(c api.Config) (*api.Client, error) { return newClient(s, c) }, Reader: func() (*relay.Reader, error) { return newReader(s) },
		Subscriber: func(c relay.SubscriberConfig) (*relay.Subscriber, error) { return newSubscriber(s, c) }, In: in, Out: out,
	}}
}

// checks are all checks, in order.
func (p *examination) checks() []doctor.Check {
	return append([]doctor.Check{
		{Name: "settings", Run: p.checkSettings},
		{Name: "secrets", Needs: []string{"settings"}, Run: p.checkSecrets},
		{Name: "signing", Needs: []string{"settings"}, Run: p.checkSigning},
	}, p.Setup.Checks()...)
}

// sheet formats findings for people: in colour if the terminal has colours, and
// unwrapped where there is no terminal.
func (p *examination) sheet(c *cobra.Command) doctor.Sheet {
	width, _ := terminalSize(p.Out)
	s := doctor.Sheet{To: p.Out, Width: width}
	for _, check := range p.checks() {
		s.Names = max(s.Names, len(check.Name))
	}
	profile := colorprofile.Detect(p.Out, os.Environ())
	if s.Width == 0 || colourless(c) || profile <= colorprofile.ASCII {
		return s
	}
	if theme, err := themeLibrary().Load("default"); err == nil {
		s.Brush = paint.NewBrush(theme.For(profile), false)
	}
	return s
}

// redacted removes secrets from a finding: an error may repeat what was sent.
func (p *examination) redacted(f doctor.Finding) doctor.Finding {
	discreet := func(text string) api.Text { return api.Scrub(p.settings.Redact(text)) }
	for _, text := range []*string{&f.Found, &f.Means, &f.Do} {
		*text = string(api.MaskAddress(discreet(*text)))
	}
	f.Details = slices.Clone(f.Details)
	for i, detail := range f.Details { // already masked, value by value
		f.Details[i] = string(discreet(detail))
	}
	return f
}
