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
	client, err := api.New(api.Config{BaseURL: s.APIURL, Key: s.APIKey, InsecureHTTP: s.InsecureHTTP})
	if err != nil {
		return api.Environment{Name: "unknown", Live: true}
	}
	return client.Environment()
}

// destinationKeys are the settings of an [[alert]] table.
func destinationKeys() []string {
	return []string{"kinds", "webhook", "webhook_file", "headers", "header_files", "command", "live", "timeout"}
}

// readDestinations reads the [[alert]] tables: where alerts go besides the screen.
func (s *settings) readDestinations(tables []any) error {
	s.AlertDestinations = nil
	var wrong []error
	for i, one := range tables {
		table, ok := one.(map[string]any)
		if !ok {
			return invalidValue("alert", one, "tables, as in [[alert]]")
		}
		destination, err := readDestination(table)
		if err == nil {
			err = destination.Check()
		}
		if err != nil {
			wrong = append(wrong, usagef("[[alert]] %d: %w", i+1, err))
			continue
		}
		s.AlertDestinations = append(s.AlertDestinations, destination)
	}
	return joinErrors(wrong...)
}

// readDestination reads one table. Errors do not repeat values: they may be secret.
func readDestination(table map[string]any) (destination attention.Destination, err error) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(destinationKeys(), key) {
			return destination, fmt.Errorf("there is no setting %q%s", key, suggest(key, destinationKeys()))
		}
	}
	var wrong []error
	take := func(key, must string, field any) {
		if value, given := table[key]; given && !assign(field, value) {
			wrong = append(wrong, fmt.Errorf("%s must be %s", key, must))
		}
	}
	var file string
	take("kinds", `a list of kinds, such as ["expiring", "failed"]`, &destination.Kinds)
	take("webhook", "an address in quotes", &destination.Webhook)
	take("webhook_file", "a path in quotes", &file)
	take("command", `a list of texts, such as ["notify-send", "{text}"]`, &destination.Command)
	take("live", "true or false", &destination.Live)
	take("timeout", durationHint, &destination.Timeout)
	if len(wrong) > 0 {
		return destination, errors.Join(wrong...)
	}
	if _, isText := table["command"].(string); isText {
		return destination, errors.New(`command must be a list, such as ["notify-send", "{text}"]: no shell runs it`)
	}
	if file != "" {
		text, err := readSecretFile(file)
		if err != nil {
			return destination, fmt.Errorf("reading webhook_file: %w", err)
		}
		destination.Webhook = api.NewSecret(text)
	}
	destination.Headers, err = readHeaders(table)
	return destination, err
}

// readHeaders reads a webhook's headers, given in the table or in files.
func readHeaders(table map[string]any) (map[string]api.Secret, error) {
	headers := map[string]api.Secret{}
	for _, key := range []string{"headers", "header_files"} {
		given, ok := table[key].(map[string]any)
		if table[key] != nil && !ok {
			return nil, fmt.Errorf(`%s must be a table, as in %s = { X-Source = "…" }`, key, key)
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			text, ok := given[name].(string)
			if !ok {
				return nil, fmt.Errorf("%s.%s must be a text in quotes", key, name)
			}
			if key == "header_files" {
				content, err := readSecretFile(text)
				if err != nil {
					return nil, fmt.Errorf("reading the file for header %s: %w", name, err)
				}
				text = content
			}
			headers[name] = api.NewSecret(text)
		}
	}
	return headers, nil
}

// programEnvironment is the environment for the programs that tillwatch starts:
// without its own variables and without those that hold a key or token of these
// settings.
func (s settings) programEnvironment(environment []string) []string {
	const shortest = 6 // shorter secrets would match too many values
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, variablePrefix) {
			return true
		}
		return slices.ContainsFunc(s.secrets(), func(secret api.Secret) bool {
			hidden := secret.Reveal()
			return hidden != "" && value == hidden || len(hidden) >= shortest && strings.Contains(value, hidden)
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
