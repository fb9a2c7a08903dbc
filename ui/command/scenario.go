package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/simulator/scenario"
)

func newScenario() *cobra.Command {
	command := &cobra.Command{
		Use:   "scenario",
		Short: "Play what happens to orders, from a file, against a stand-in",
		Long: "Play a scenario against a stand-in: orders that are created, confirmed and fail, events that are lost, doubled, late or overtaken. It is a file in TOML, " +
			"with a [[step]] for each thing that is done:\n\n" +
			"create = NAME  an intent, with product, quantity, reference, reason, offer_after, placing_after, confirm_after, purchase\n" +
			"wait = NAME  until it has a state (with a reason, a number of orders) or until an event; within = \"30s\"\n" +
			"confirm = NAME  as a client does; times = 2 sends it twice\n" +
			"fail = NAME  with a reason: now, or once it is confirmed\n" +
			"expire = NAME  its confirm window closes\n" +
			"trigger = TYPE  what an event tells of happens, of = NAME\n" +
			"lose, double, delay, reorder = TYPE  the delivery of the next such event goes wrong, of = NAME, by = \"5s\", count\n" +
			"pause = \"2s\"\n\n" +
			"Above the steps stand about, seed, which decides what they leave open, and reasons: the steps are played once for each, with {reason} in their texts, and [\"*\"] is all of them.\n\n" +
			"From Go, scenario.Run of tillwatch/api/simulator/scenario plays a file.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.AddCommand(newScenarioRun(), newScenarioList(), newScenarioShow())
	return command
}

type scenarioOptions struct {
	own  ownStandIn
	seed uint64
	json bool
}

func newScenarioRun() *cobra.Command {
	var o scenarioOptions
	command := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Play a scenario: one that comes with tillwatch, a file, or - for stdin",
		Long: "Play a scenario against the stand-in that is configured, and nothing else: the service itself is refused. With --to, or where none is configured, " +
			"a stand-in of its own runs for as long as it takes, and delivers its events to that endpoint.\n\n" +
			"Exit codes: 0 every step was done; 1 one was not, or --to did not take an event; 2 wrong usage, or no stand-in.",
		Example: "tillwatch scenario run happy-path --api-url http://127.0.0.1:7420\n" +
			"tillwatch scenario run orders.toml --to http://127.0.0.1:3000/webhooks --json",
		Args: oneArgument,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := secretSettings(c.Flags())
			if err != nil {
				return err
			}
			play, err := readScenario(args[0], c.InOrStdin())
			if err != nil {
				return usage(err)
			}
			if c.Flags().Changed("seed") {
				play.Seed = o.seed
			}
			return runScenario(c.Context(), s, o, play, c.OutOrStdout(), c.ErrOrStderr())
		},
		ValidArgsFunction: completeScenarios,
	}
	flags := command.Flags()
	sourceFlags(flags)
	settingFlags(flags, "api_url", "insecure_http")
	secretFileFlag(flags)
	flags.StringVar(&o.own.to, "to", "", "play with a stand-in of its own, which delivers to this endpoint, such as http://127.0.0.1:3000/webhooks")
	flags.Float64Var(&o.own.speed, "speed", 10, "how fast time runs for a stand-in of its own")
	flags.DurationVar(&o.own.patience, "patience", 15*time.Second, "how long the endpoint of --to may take to answer the challenge, and then to take all events")
	flags.Uint64Var(&o.seed, "seed", 1, "in place of the scenario's: the same seed makes the same orders")
	flags.BoolVar(&o.json, "json", false, "print one JSON object for each step")
	return command
}

func newScenarioList() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios that come with tillwatch",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range scenario.Shipped() {
				line := []byte(fmt.Sprintf("%-18s %s", s.Name, s.About))
				if asJSON {
					line, _ = json.Marshal(map[string]string{"name": s.Name, "about": s.About}) // strings: cannot fail
				}
				if _, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a scenario")
	return command
}

func newScenarioShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print a scenario that comes with tillwatch, to start your own from",
		Example: "tillwatch scenario show lost-event > my.toml",
		Args:    oneArgument,
		RunE: func(c *cobra.Command, args []string) error {
			source := scenario.Source(args[0])
			if source == nil {
				return usage(noScenario(args[0]))
			}
			_, err := c.OutOrStdout().Write(source)
			return err
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return shippedNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func shippedNames() (names []string) {
	for _, s := range scenario.Shipped() {
		names = append(names, s.Name)
	}
	return names
}

func completeScenarios(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := shippedNames()
	files, _ := os.ReadDir(".")
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".toml") {
			names = append(names, f.Name())
		}
	}
	if strings.Contains(begun, "/") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func noScenario(name string) error {
	return fmt.Errorf("there is no scenario %.60q: %s (tillwatch scenario list)", name, suggest(name, shippedNames()))
}

// readScenario reads one that comes with the program, a file, or stdin.
func readScenario(name string, stdin io.Reader) (*scenario.Scenario, error) {
	if source := scenario.Source(name); source != nil {
		return scenario.Read(name+".toml", bytes.NewReader(source))
	}
	if name == "-" {
		return scenario.Read("stdin", stdin)
	}
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, noScenario(name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the scenario: %w", err)
	}
	defer file.Close()
	return scenario.Read(name, file)
}

// stepLine is a step as --json prints it. Its names stay.
type stepLine struct {
	scenario.Done
	Millis int64    `json:"ms"`
	Error  api.Text `json:"error,omitempty"`
}

// runScenario plays and prints each step as it ends.
func runScenario(ctx context.Context, s settings, o scenarioOptions, play *scenario.Scenario, stdout, stderr io.Writer) error {
	began, steps := time.Now(), 0
	var unprinted error
	told := func(d scenario.Done) {
		steps++
		line := stepLine{Done: d, Millis: d.Took.Milliseconds()}
		line.Step = string(api.Scrub(d.Step))
		if d.Err != nil {
			line.Error = api.Scrub(d.Err.Error())
		}
		if err := line.print(stdout, o.json); err != nil && unprinted == nil {
			unprinted = err
		}
	}
	playing := func(ctx context.Context, client *api.Client) error { return play.Play(ctx, client, told) }
	var err error
	if s.APIURL == "" || o.own.to != "" {
		o.own.seed = play.Seed
		err = o.own.run(ctx, s, playing)
	} else {
		var client *api.Client
		if client, err = standInClient(s); err == nil {
			err = onStandIn(playing(ctx, client))
		}
	}
	if err = errors.Join(err, unprinted); err != nil {
		return err
	}
	if !o.json {
		fmt.Fprintf(stderr, "%s: %d steps in %s\n", api.Scrub(play.Name), steps, time.Since(began).Round(time.Millisecond))
	}
	return nil
}

func (l stepLine) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(l)
	}
	mark, what := "ok", l.Step
	if l.Error != "" {
		mark = "failed"
	}
	if l.Reason != "" {
		what += " (" + string(l.Reason) + ")"
	}
	_, err := fmt.Fprintf(w, "%-6s %4d  %-60s %7.1f s  %s\n", mark, l.Line, what, float64(l.Millis)/1000, l.Intent)
	return err
}
