package command

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

const mostSnapshot = 256 << 20 // bytes

type simulateOptions struct {
	listen, limits, lists string
	from, clock, balance  string
	keys                  []string
	production            struct{ listen, webhookURL string }
	json, verbose         bool
	simulator             simulator.Config
}

func newSimulate() *cobra.Command {
	var o simulateOptions
	command := &cobra.Command{
		Use:   "simulate",
		Short: "Run a stand-in for the service, to try your integration against",
		Long:  simulateHelp(),
		Example: "tillwatch simulate --webhook-url http://127.0.0.1:7430/webhooks --limits day=2000\n" +
			"tillwatch simulate --key name=reader,scopes=events:read --production-listen 127.0.0.1:7421",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkShop(c.Flags()); err != nil {
				return err
			}
			if c.Flags().Changed("from") {
				in := inputs{ctx: c.Context(), stdin: c.InOrStdin(), most: mostSnapshot}
				var err error
				if o.simulator.From, err = in.text("--from", o.from); err != nil {
					return err
				}
			}
			s, err := settingsOf(c)
			if err != nil {
				return err
			}
			return runSimulate(c.Context(), s, o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7420", "address of the API")
	flags.StringVar(&o.limits, "limits", "default", "limits of the account: default (the contract's), none, or only those that differ, such as day=2000,reads=none; 0 lets nothing through")
	flags.StringVar(&o.simulator.WebhookURL, "webhook-url", "", "deliver events to this URL, such as http://127.0.0.1:7430/webhooks")
	flags.StringArrayVar(&o.keys, "key", nil, keyUsage)
	flags.StringVar(&o.production.listen, "production-listen", "", "also stand in for the production environment at this address, with its own intents and keys")
	flags.StringVar(&o.production.webhookURL, "production-webhook-url", "", "deliver events of the production environment to this URL")
	flags.BoolVar(&o.json, "json", false, "print the ready line as JSON")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every delivery")
	flags.StringVar(&o.from, "from", "", "start from a file with what GET /control/snapshot answers, or - for stdin, instead of a history")
	flags.StringVar(&o.clock, "clock", "", "start time of the service's own clock, such as 2026-03-01T12:00:00Z (default now)")
	flags.BoolVar(&o.simulator.Stopped, "stopped", false, "stop that clock until PUT /control/clock moves or starts it")
	flags.StringVar(&o.balance, "balance", "", "drawdown balance, such as 100.00USD (default: it never runs out)")
	shopFlags(flags, &o.simulator)
	behaviourFlags(flags, &o.simulator, &o.lists)
	faultFlags(flags, &o.simulator.Faults)
	return command
}

// shopFlags configure the simulator's shop.
func shopFlags(flags *pflag.FlagSet, c *simulator.Config) {
	flags.Uint64Var(&c.Seed, "seed", 0, "the same seed and the same calls make the same ids and events; 0 takes a seed from the clock, or that of --from")
	flags.Float64Var(&c.Speed, "speed", 1, "how fast time runs for intents and shipments")
	flags.Float64Var(&c.IntentsPerMinute, "intents-per-minute", 18, "how many intents the shop creates per minute")
	flags.Float64Var(&c.AutoConfirm, "auto-confirm", 0.75, "share of its intents that the shop confirms itself")
	flags.Float64Var(&c.FailureShare, "failure-share", 0.12, "share of its intents that fail")
	flags.Float64Var(&c.ManyItems, "many-items", 0.15, "share of its orders that have several items, each an intent with the order's reference")
	flags.IntVar(&c.History, "history", 25, "how many past intents to start with")
}

// checkShop refuses zeros that the simulator would read as its default.
func checkShop(flags *pflag.FlagSet) error {
	if speed, err := flags.GetFloat64("speed"); err == nil && speed == 0 {
		return usagef("--speed is 0; it must be above 0, such as 10")
	}
	if retries, err := flags.GetInt("retries"); err == nil && (retries < 0 || retries > len(simulator.RetryPauses())) {
		return usagef("--retries is %d; it must be from 0 to %d", retries, len(simulator.RetryPauses()))
	}
	if history, err := flags.GetInt("history"); err == nil && history < 0 {
		return usagef("--history is %d; it must be 0 or more", history)
	}
	return nil
}

// behaviourFlags configures how the service behaves where the contract is silent, and how
// long things take at speed 1.
func behaviourFlags(flags *pflag.FlagSet, c *simulator.Config, lists *string) {
	flags.StringVar(lists, "lists", "absent", "how to answer the lists of intents and events: absent (404), served or html")
	flags.BoolVar(&c.StateConflicts, "state-conflicts", false, "answer a confirm in a wrong state with 409 instead of 404")
	flags.BoolVar(&c.IgnoreIdempotencyKeys, "ignore-idempotency-keys", false, "repeat a request's effect although its Idempotency-Key was used")
	flags.BoolVar(&c.RememberFailures, "remember-failures", false, "answer an Idempotency-Key that was used as before even if that was a failure, but for a 401, 403, 422 or 429")
	flags.StringVar(&c.PolicyName, "policy-name", "default", "name of the policy in RateLimit headers")
	flags.BoolVar(&c.EveryPolicy, "every-policy", false, "send a RateLimit line for every bucket that a request counts against")
	flags.IntVar(&c.Retries, "retries", len(simulator.RetryPauses()), "how often a failed delivery is tried again")
	flags.Float64Var(&c.ProductEventsPerMinute, "product-events-per-minute", 0.7, "how many product events per minute")
	flags.DurationVar(&c.Timings.Offer, "offer-after", 8*time.Second, "about how long offer retrieval takes")
	flags.DurationVar(&c.Timings.Placing, "placing-takes", 12*time.Second, "about how long placing an order takes")
	flags.DurationVar(&c.Timings.ConfirmWindow, "confirm-window", api.ConfirmWindow, "how long after its creation an unconfirmed intent expires")
	flags.DurationVar(&c.Timings.ShipmentStep, "shipment-step", 40*time.Second, "about how long a shipment stays in a status")
}

func faultFlags(flags *pflag.FlagSet, f *simulator.Faults) {
	flags.Float64Var(&f.Duplicate, "duplicate", 0, "share of webhooks that are delivered twice, 0 to 1")
	flags.Float64Var(&f.Reorder, "reorder", 0, "share of webhooks that are overtaken by later ones")
	flags.Float64Var(&f.Lose, "lose", 0, "share of webhooks that are never delivered")
	flags.Float64Var(&f.BadSignature, "bad-signature", 0, "share of webhooks with a wrong signature")
	flags.DurationVar(&f.Delay, "delay", 0, "how long each webhook is held back")
	flags.DurationVar(&f.Latency, "latency", 0, "how long each API answer is held back")
	flags.Float64Var(&f.Errors, "errors", 0, "share of API answers that are a 500")
	flags.Float64Var(&f.Drop, "drop", 0, "share of API requests whose connection breaks, for half the mutations after they took effect")
	flags.Float64Var(&f.Twice, "twice", 0, "share of API mutations that arrive twice, as if doubled on their way")
	flags.Float64Var(&f.Late, "late", 0, "share of API requests that are held back, half the mutations after they took effect")
	flags.DurationVar(&f.LateBy, "late-by", 20*time.Second, "how long --late holds a request back at most")
}

// zeroMeansNone makes a 0 that a person gave mean none; to the simulator 0 means its
// default and a negative number none.
func zeroMeansNone(c *simulator.Config) {
	for _, f := range []*float64{&c.AutoConfirm, &c.FailureShare, &c.ProductEventsPerMinute} {
		if *f == 0 {
			*f = -1
		}
	}
	for _, n := range []*int{&c.History, &c.Retries} {
		if *n == 0 {
			*n = -1
		}
	}
}

func parseLists(text string) (simulator.Lists, error) {
	lists, known := map[string]simulator.Lists{"absent": simulator.ListsAbsent, "served": simulator.ListsServed, "html": simulator.ListsHTML}[text]
	if !known {
		return 0, fmt.Errorf("--lists is %q; it must be absent, served or html", text)
	}
	return lists, nil
}

// parseLimits reads --limits: default, none, or the buckets that differ from the
// default, as in "day=2000,reads=none".
func parseLimits(text string) (limits simulator.Limits, err error) {
	switch text {
	case "default":
		return simulator.Limits{}, nil
	case "none":
		return simulator.Unlimited(), nil
	case "":
		return limits, errors.New("--limits is empty; it must be default, none, or buckets such as day=2000,reads=20")
	}
	short := map[string]string{"lookup": "product-lookup", "day": "checkout-intents", "agents": "concurrent-agents"}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		limit, err := strconv.ParseInt(value, 10, 32)
		switch {
		case value == "none":
			limit = -1
		case err != nil || limit < 0:
			return limits, fmt.Errorf("--limits is %.200q; it must be default, none, or buckets with whole numbers or none, such as day=2000,reads=none", text)
		case limit == 0:
			limit = simulator.Closed
		}
		switch of := limits.Bucket(cmp.Or(short[name], name)); {
		case of == nil:
			return limits, fmt.Errorf("--limits names the bucket %.40q; there are mutations, reads, lookup, day and agents", name)
		case *of != 0:
			return limits, fmt.Errorf("--limits names %s twice", name)
		default:
			*of = int(limit)
		}
	}
	return limits, nil
}

// simulateHelp describes what the stand-in does beyond the contract, from its own
// tables.
func simulateHelp() string {
	var b strings.Builder
	b.WriteString("Run a stand-in for the service: the whole contract over real HTTP, with signed webhooks and a shop that runs by itself. " +
		"The API key comes from TILLWATCH_API_KEY, the signing secret from TILLWATCH_SIGNING_SECRET (of several lines the first signs); " +
		"if unset, they are made for this run and printed. Wrong answers of webhook receivers are printed on stderr.\n\n" +
		"A product URL whose path ends in /magic/NAME, on any host, decides what happens to an intent:\n")
	lines := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range simulator.Magics() {
		fmt.Fprintf(lines, "  %s\t%s\n", m.Name, m.Does)
	}
	lines.Flush() // to memory: cannot fail
	b.WriteString("NAME may also be a failure code; with ?while=placing, the intent fails while its order is placed:\n")
	b.WriteString(folded(simulator.FailureCodes(), "  ") + "\n\nThe control API takes JSON and the same key, as from tillwatch api, and spends no quota:\n")
	for _, c := range simulator.Controls() {
		fmt.Fprintf(lines, "  %s %s\t%s\n", c.Method, c.Path, c.Does)
	}
	lines.Flush()
	b.WriteString("The fields of the bodies (GET /control/openapi.json explains them):\n")
	for _, c := range simulator.Controls() {
		if len(c.Fields) > 0 {
			b.WriteString("  " + c.Path + "\n" + folded(c.Fields, "    ") + "\n")
		}
	}
	b.WriteString("\nA key may be limited to scopes; if it lacks one, the answer is 403:\n")
	return b.String() + folded(simulator.Scopes(), "  ")
}

// folded joins words with commas into indented lines.
func folded[T ~string](words []T, indent string) string {
	const width = 78
	lines := ansi.Wordwrap(strings.Join(asStrings(words), ", "), width-len(indent), "")
	return indent + strings.ReplaceAll(lines, "\n", "\n"+indent)
}
