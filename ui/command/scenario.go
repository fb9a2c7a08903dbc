package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/simulator/scenario"
	"tillwatch/ui/wording"
)

func newScenario() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "scenario",
		Short: "Play a scenario file of orders and events against a stand-in",
		Long: "Play a scenario against a stand-in: orders that are created, confirmed and fail, events that are lost, doubled, late or overtaken. Without a subcommand, it lists the scenarios " +
			"that come with tillwatch. A scenario is a TOML file with a [[step]] for each thing to do:\n\n" +
			"create = NAME  an intent, with product, quantity, reference, reason, offer_after, placing_after, confirm_after, purchase\n" +
			"wait = NAME  until it has a state (with a reason, a number of orders) or until an event; within = \"30s\"\n" +
			"confirm = NAME  as a client does; times = 2 sends it twice\n" +
			"fail = NAME  with a reason: now, or once it is confirmed\n" +
			"expire = NAME  its confirm window closes\n" +
			"trigger = TYPE  what the event reports happens, of = NAME\n" +
			"lose, double, delay, reorder = TYPE  disturb the delivery of the next such event, of = NAME, by = \"5s\", count\n" +
			"pause = \"2s\"\n\n" +
			"Above the steps come about, seed, which decides what they leave open, and reasons: the steps are played once per reason, with {reason} replaced, and [\"*\"] is all reasons.\n\n" +
			"In Go, scenario.Run of tillwatch/api/simulator/scenario plays a file.",
		Example: "tillwatch scenario run happy-path --api-url http://127.0.0.1:7420\ntillwatch scenario show lost-event > my.toml",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range scenario.Shipped() {
				if err := printed(c.OutOrStdout(), asJSON, map[string]string{"name": s.Name, "about": s.About}, fmt.Sprintf("%-18s %s\n", s.Name, s.About)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per scenario")
	list := &cobra.Command{Use: "list", Short: "List the scenarios that come with tillwatch", Args: noArguments, RunE: command.RunE}
	list.Flags().AddFlagSet(command.Flags())
	command.AddCommand(newScenarioRun(), list, &cobra.Command{
		Use: "show NAME", Short: "Print a built-in scenario, to start your own from", Args: oneArgument, ValidArgsFunction: completeScenarios,
		RunE: func(c *cobra.Command, args []string) error {
			source := scenario.Source(args[0])
			if source == nil {
				return usage(noScenario(args[0]))
			}
			_, err := c.OutOrStdout().Write(source)
			return err
		},
	})
	return command
}

func newScenarioRun() *cobra.Command {
	var asJSON bool
	var seed uint64
	command := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Play a scenario: a built-in one, a file, or - for stdin",
		Long: "Play a scenario against the configured stand-in. The real service is refused.\n\n" +
			"Exit codes: 0 every step succeeded; 1 a step failed; 2 wrong usage, or not a stand-in.",
		Example: "tillwatch scenario run happy-path --api-url http://127.0.0.1:7420\ntillwatch scenario run orders.toml --seed 2 --json",
		Args:    oneArgument,
		RunE: configured(func(c *cobra.Command, s settings, args []string) error {
			play, err := readScenario(args[0], inputsOf(c))
			if err != nil {
				return err
			}
			if c.Flags().Changed("seed") {
				play.Seed = seed
			}
			client, err := standInClient(s)
			if err != nil {
				return err
			}
			defer client.Close()
			return runScenario(c, client, play, asJSON)
		}),
		ValidArgsFunction: completeScenarios,
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http")
	flags.Uint64Var(&seed, "seed", 1, "use this seed instead of the scenario's: the same seed makes the same orders")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object per step")
	return command
}

func shippedNames() (names []string) {
	for _, s := range scenario.Shipped() {
		names = append(names, s.Name)
	}
	return names
}

func completeScenarios(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return shippedNames(), cobra.ShellCompDirectiveDefault // or files
}

func noScenario(name string) error {
	return fmt.Errorf("there is no scenario %.60q%s (tillwatch scenario list)", name, wording.Suggest(name, shippedNames()))
}

// readScenario reads a built-in scenario, a file, or stdin.
func readScenario(name string, in *inputs) (*scenario.Scenario, error) {
	if source := scenario.Source(name); source != nil {
		return scenario.Read(name+".toml", bytes.NewReader(source))
	}
	text, err := in.text("reading the scenario", name)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, usage(noScenario(name))
	}
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "stdin"
	}
	s, err := scenario.Read(name, bytes.NewReader(text))
	if err != nil {
		return nil, usage(err)
	}
	return s, nil
}

// stepLine is a step as --json prints it. Fields are added, never renamed.
type stepLine struct {
	scenario.Done
	Millis int64    `json:"ms"`
	Error  api.Text `json:"error,omitempty"`
}

// runScenario plays and prints each step as it ends.
func runScenario(c *cobra.Command, client *api.Client, play *scenario.Scenario, asJSON bool) error {
	began, steps := time.Now(), 0
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	var unprinted error
	err := play.Play(ctx, client, func(d scenario.Done) {
		steps++
		line := stepLine{Done: d, Millis: d.Took.Milliseconds()}
		line.Step = string(api.Scrub(d.Step))
		if d.Err != nil {
			line.Error = api.Scrub(d.Err.Error())
		}
		if unprinted = line.print(c.OutOrStdout(), asJSON); unprinted != nil {
			stop()
		}
	})
	if unprinted != nil {
		return fmt.Errorf("printing steps: %w", unprinted)
	}
	if err = onStandIn(err); err == nil && !asJSON {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s in %s\n", api.Scrub(play.Name), wording.Counted(steps, "step", "steps"), wording.Took(time.Since(began)))
	}
	return err
}

func (l stepLine) print(w io.Writer, asJSON bool) error {
	mark, what := "ok", l.Step
	if l.Error != "" {
		mark = "failed"
	}
	if l.Reason != "" {
		what += " (" + string(l.Reason) + ")"
	}
	return printed(w, asJSON, l, fmt.Sprintf("%-6s %4d  %-60s %7s  %s\n", mark, l.Line, what, wording.Took(l.Took), l.Intent))
}
