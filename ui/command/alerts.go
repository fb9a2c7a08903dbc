package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/attention"
)

func newAlerts() *cobra.Command {
	command := &cobra.Command{
		Use:   "alerts",
		Short: "Test the destinations of alerts",
		Long: "While tillwatch watch runs, on the screen or with --plain, it sends alerts to the destinations of the [[alert]] tables in the configuration file. " +
			"tillwatch status lists the current alerts.",
		Args: noArguments,
		RunE: showHelp,
	}
	command.AddCommand(newAlertsTest())
	return command
}

func newAlertsTest() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "test",
		Short: "Send a sample to each webhook and command of [[alert]], and print the result",
		Long: "Send one sample, marked as a test, to each webhook and command of [[alert]], and print the result. " +
			"The exit code is 1 if one of them did not get it.",
		Args: noArguments,
		RunE: configured(func(c *cobra.Command, s settings, _ []string) error {
			if len(s.AlertDestinations) == 0 {
				return usagef("no [[alert]] is configured: add one with a webhook or a command to tillwatch.toml")
			}
			return s.testDestinations(c, asJSON)
		}),
	}
	sourceFlags(command.Flags(), "api_url")
	command.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per destination")
	return command
}

// destinationTested is the result of one sample.
type destinationTested struct {
	To    string   `json:"to"`
	Kinds []string `json:"kinds,omitempty"` // none: all
	OK    bool     `json:"ok"`
	Error string   `json:"error,omitempty"`
}

func (s settings) testDestinations(c *cobra.Command, asJSON bool) error {
	failed := 0
	sample := attention.Sample(s.environment(), s.host(), time.Now())
	for _, destination := range s.AlertDestinations {
		tested := destinationTested{To: destination.Name(), Kinds: destination.Kinds}
		err := errors.New(attention.HeldWords)
		if !destination.Held(sample) {
			err = destination.Send(c.Context(), sample, s.programEnvironment(os.Environ()))
		}
		if tested.OK = err == nil; err != nil {
			tested.Error = string(api.Scrub(err.Error()))
			failed++
		}
		words := cmp.Or(tested.Error, "got the sample")
		if err := printed(c.OutOrStdout(), asJSON, tested, fmt.Sprintf("%s: %s\n", tested.To, words)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d did not get the sample", failed, len(s.AlertDestinations))
	}
	return nil
}

// environment is the environment that the address and the key suggest.
func (s settings) environment() api.Environment {
	client, err := s.newClient(api.Config{})
	if err != nil {
		return api.Environment{Name: "unknown", Live: true}
	}
	return client.Environment()
}

// readDestination reads an [[alert]] table: where alerts go besides the screen. Errors do not
// repeat values: they may be secret.
func (s *settings) readDestination(number int, table map[string]any) []error {
	place := fmt.Sprintf("[[alert]] %d", number)
	var d attention.Destination
	var file string
	var headers, headerFiles map[string]string
	wrong := readTable(place, table, false, map[string]any{
		"kinds": &d.Kinds, "webhook": &d.Webhook, "webhook_file": &file, "headers": &headers, "header_files": &headerFiles,
		"command": &d.Command, "live": &d.Live, "timeout": &d.Timeout,
	}, map[string]string{
		"kinds": `a list of kinds, such as ["expiring", "failed"]`, "webhook": "an address in quotes", "webhook_file": "a path in quotes",
		"command": `a list of texts, such as ["notify-send", "{text}"]`,
	})
	if _, isText := table["command"].(string); isText {
		wrong = append(wrong, usagef(`%s: command must be a list, such as ["notify-send", "{text}"]: no shell runs it`, place))
	}
	if len(wrong) > 0 {
		return wrong
	}
	err := readWebhook(&d, file, headers, headerFiles)
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		return []error{usagef("%s: %w", place, err)}
	}
	s.AlertDestinations = append(s.AlertDestinations, d)
	return nil
}

// readWebhook completes a destination with the address in a file, if there is one, and the headers.
func readWebhook(d *attention.Destination, file string, headers, headerFiles map[string]string) error {
	if file != "" {
		text, err := readSecretFile(file)
		if err != nil {
			return fmt.Errorf("reading webhook_file: %w", err)
		}
		d.Webhook = api.NewSecret(text)
	}
	d.Headers = map[string]api.Secret{}
	for name, text := range headers {
		d.Headers[name] = api.NewSecret(text)
	}
	for _, name := range slices.Sorted(maps.Keys(headerFiles)) {
		text, err := readSecretFile(headerFiles[name])
		if err != nil {
			return fmt.Errorf("reading the file for header %s: %w", name, err)
		}
		d.Headers[name] = api.NewSecret(text)
	}
	return nil
}

// programEnvironment is the environment for the programs that tillwatch starts:
// without its own variables and without those that hold a key or token of these
// settings.
func (s settings) programEnvironment(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, variablePrefix) {
			return true
		}
		return slices.ContainsFunc(s.secrets(), func(secret api.Secret) bool {
			hidden := secret.Reveal()
			return hidden != "" && value == hidden || len(hidden) >= leastRedacted && strings.Contains(value, hidden)
		})
	})
}

// sendAlerts sends alerts to the configured destinations while the session runs.
func (s *session) sendAlerts(o screenOptions) part {
	if !o.kept || len(s.settings.AlertDestinations) == 0 {
		return untilDone
	}
	sender := attention.NewSender(attention.Config{
		Destinations: s.settings.AlertDestinations, Source: restoredStore{s.store, s.restored}, File: s.attention,
		Environment: s.client.Environment, Account: s.settings.host(), Environ: s.settings.programEnvironment(os.Environ()),
		Report: func(err error) { s.store.Report(account.AlertSending, err) }, Location: time.Local,
	})
	return sender.Run
}

// attend opens the file of acknowledged, muted and sent alerts.
func (s *session) attend(o screenOptions) part {
	if !o.kept {
		return untilDone
	}
	return func(ctx context.Context) error {
		err := s.attention.Run(ctx)
		if failed := s.attention.Err(); failed != nil {
			fmt.Fprintf(o.words, "tillwatch: %v\n", failed)
		}
		return err
	}
}
