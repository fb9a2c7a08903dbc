package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

const mostSnapshot = 256 << 20 // bytes

type simulateOptions struct {
	listen, limits, from, clock string
	verbose                     bool
	simulator                   simulator.Config
}

func newSimulate() *cobra.Command {
	var o simulateOptions
	command := &cobra.Command{
		Use:   "simulate",
		Short: "Run a stand-in for the service, to try your integration against",
		Long: "Run a stand-in for the service: the whole contract over real HTTP, with signed webhooks and a shop that runs by itself. " +
			"The API key comes from TILLWATCH_API_KEY, the signing secret from TILLWATCH_SIGNING_SECRET (of " +
			"several lines the first signs); " +
			"if unset, they are made for this run and printed. Wrong answers of webhook receivers are printed on " +
			"stderr.\n\n" +
			"A product URL that ends in /magic/NAME, on any host, decides what happens to an intent. Requests " +
			"under /control/ make things happen now; " +
			"tillwatch api GET /control lists them, with the names of the URLs and the failure codes.",
		Example: "tillwatch simulate --webhook-url http://127.0.0.1:7430/webhooks --limits day=2000\n" +
			"tillwatch api GET /control | jq",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			return nil, runSimulate(ctx, s, o, std)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags)
	jsonFlag(flags, "print the ready line as JSON")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7420", "address of the API")
	flags.StringVar(&o.limits, "limits", "default",
		"limits of the account: default (the contract's), none, or only those that differ, such as "+
			"day=2000,reads=none; 0 lets nothing through")
	flags.StringVar(&o.simulator.WebhookURL, "webhook-url", "",
		"deliver events to this URL, such as http://127.0.0.1:7430/webhooks")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every delivery")
	flags.StringVar(&o.from, "from", "",
		"start from a file with what GET /control/snapshot answers, or - for stdin, instead of a history")
	flags.StringVar(&o.clock, "clock", "",
		"start time of the service's own clock, such as 2026-03-01T12:00:00Z (default now)")
	shopFlags(flags, &o.simulator)
	behaviourFlags(flags, &o.simulator)
	faultFlags(flags, &o.simulator.Faults)
	return command
}

// shopFlags configure the simulator's shop.
func shopFlags(flags *pflag.FlagSet, c *simulator.Config) {
	flags.Uint64Var(&c.Seed, "seed", 0,
		"the same seed and the same calls make the same ids; 0 takes a seed from the clock")
	flags.Float64Var(&c.Speed, "speed", 1, "how fast time runs for intents and shipments")
	flags.Float64Var(&c.IntentsPerMinute, "intents-per-minute", 18, "how many intents the shop creates per minute")
	flags.Float64Var(&c.AutoConfirm, "auto-confirm", 0.75, "share of its intents that the shop confirms itself")
	flags.Float64Var(&c.FailureShare, "failure-share", 0.12, "share of its intents that fail")
	flags.Float64Var(&c.ManyItems, "many-items", 0.15,
		"share of its orders that have several items, each an intent with the order's reference")
	flags.IntVar(&c.History, "history", 25, "how many past intents to start with")
}

// behaviourFlags configure how the service behaves where the contract is silent, and how long things take at speed 1.
func behaviourFlags(flags *pflag.FlagSet, c *simulator.Config) {
	flags.BoolVar(&c.Lists, "lists", false, "serve the lists of intents and events, which else answer 404")
	flags.BoolVar(&c.StateConflicts, "state-conflicts", false,
		"answer a confirm in a wrong state with 409 instead of 404")
	flags.BoolVar(&c.IgnoreIdempotencyKeys, "ignore-idempotency-keys", false,
		"repeat a request's effect although its Idempotency-Key was used")
	flags.BoolVar(&c.RememberFailures, "remember-failures", false,
		"answer an Idempotency-Key that was used as before even if that was a failure, but for a 401, 403, 422 or 429")
	flags.BoolVar(&c.EveryPolicy, "every-policy", false,
		"send a RateLimit line for every bucket that a request counts against")
	flags.IntVar(&c.Retries, "retries", len(simulator.RetryPauses()), "how often a failed delivery is tried again")
	flags.Float64Var(&c.ProductEventsPerMinute, "product-events-per-minute", 0.7, "how many product events per minute")
	flags.DurationVar(&c.Timings.Offer, "offer-after", 8*time.Second, "about how long offer retrieval takes")
	flags.DurationVar(&c.Timings.Placing, "placing-takes", 12*time.Second, "about how long placing an order takes")
	flags.DurationVar(&c.Timings.ConfirmWindow, "confirm-window", api.ConfirmWindow,
		"how long after its creation an unconfirmed intent expires")
	flags.DurationVar(&c.Timings.ShipmentStep, "shipment-step", 40*time.Second,
		"about how long a shipment stays in a status")
}

func faultFlags(flags *pflag.FlagSet, f *simulator.Faults) {
	flags.Float64Var(&f.Duplicate, "duplicate", 0, "share of webhooks that are delivered twice, 0 to 1")
	flags.Float64Var(&f.Reorder, "reorder", 0, "share of webhooks that are overtaken by later ones")
	flags.Float64Var(&f.Lose, "lose", 0, "share of webhooks that are never delivered")
	flags.Float64Var(&f.BadSignature, "bad-signature", 0, "share of webhooks with a wrong signature")
	flags.DurationVar(&f.Delay, "delay", 0, "how long each webhook is held back")
	flags.DurationVar(&f.Latency, "latency", 0, "how long each API answer is held back")
	flags.Float64Var(&f.Errors, "errors", 0, "share of API answers that are a 500")
	flags.Float64Var(&f.Drop, "drop", 0,
		"share of API requests whose connection breaks, for half the mutations after they took effect")
	flags.Float64Var(&f.Twice, "twice", 0, "share of API mutations that arrive twice, as if doubled on their way")
	flags.Float64Var(&f.Late, "late", 0,
		"share of API requests that are held back, half the mutations after they took effect")
	flags.DurationVar(&f.LateBy, "late-by", 20*time.Second, "how long --late holds a request back at most")
}

// checkShop refuses zeros that the simulator would read as its default, and makes the others mean none, which to the
// simulator are negative.
func checkShop(c *simulator.Config) error {
	switch {
	case c.Speed == 0:
		return usagef("--speed is 0; it must be above 0, such as 10")
	case c.Retries < 0 || c.Retries > len(simulator.RetryPauses()):
		return usagef("--retries is %d; it must be from 0 to %d", c.Retries, len(simulator.RetryPauses()))
	case c.History < 0:
		return usagef("--history is %d; it must be 0 or more", c.History)
	}
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
	if c.Seed == 0 {
		c.Seed = uint64(time.Now().UnixNano())
	}
	return nil
}

// runSimulate stands in for the service until ctx ends.
func runSimulate(ctx context.Context, s settings, o simulateOptions, std streams) error {
	announce := ready{}
	if s.APIKey.IsZero() {
		announce.APIKey = rand.Text()
		s.APIKey = api.NewSecret(announce.APIKey)
	}
	if len(s.SigningSecrets()) == 0 {
		announce.SigningSecret = rand.Text()
		s.SigningSecret = api.NewSecret(announce.SigningSecret)
	}
	if o.from != "" {
		in, err := inputs{ctx: ctx, stdin: std.in, most: mostSnapshot}, error(nil)
		if o.simulator.From, err = in.text("--from", o.from); err != nil {
			return err
		}
	}
	config, err := o.config(s)
	if err != nil {
		return usage(err)
	}
	config.Logger = logger(std.words, o.verbose)
	service, err := simulator.New(config)
	if err != nil {
		return usage(err)
	}
	listener, err := listen("--listen", o.listen)
	if err != nil {
		return err
	}
	announce.Listen, announce.Seed = address(listener), config.Seed
	if err := announce.print(std.out, "simulator", std.json); err != nil {
		return errors.Join(fmt.Errorf("printing the ready line: %w", err), listener.Close())
	}
	return session.Alongside(ctx, session.UntilDone, service.Run, func(ctx context.Context) error { return service.Serve(ctx, listener) })
}

// config is the simulator's configuration.
func (o simulateOptions) config(s settings) (simulator.Config, error) {
	config := o.simulator
	var err error
	if config.Limits, err = parseLimits(o.limits); err != nil {
		return config, err
	}
	if o.clock != "" {
		if config.At, err = time.Parse(time.RFC3339, o.clock); err != nil || config.At.IsZero() {
			return config, fmt.Errorf("--clock is %.40q; it must be a time such as 2026-03-01T12:00:00Z", o.clock)
		}
	}
	config.Key, config.SigningSecret = s.APIKey, s.SigningSecrets()[0] // the first signs
	config.HeaderPrefix, config.LookupPath = s.HeaderPrefix, s.LookupPath
	return config, checkShop(&config)
}

// parseLimits reads --limits: default, none, or the buckets that differ from the default, as in "day=2000,reads=none".
func parseLimits(text string) (limits simulator.Limits, err error) {
	switch text {
	case "default":
		return simulator.Limits{}, nil
	case "none":
		return simulator.Unlimited(), nil
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
