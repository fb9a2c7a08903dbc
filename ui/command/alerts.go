package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
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
