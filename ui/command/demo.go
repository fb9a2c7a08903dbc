package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/simulator"
	"tillwatch/relay"
	"tillwatch/relay/journal/sqlite"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

type demoOptions struct {
	shop           simulator.Config
	screen         screenOptions
	length         time.Duration
	headless, json bool
	readOnly       bool
}

func newDemo() *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Try the dashboard on a stand-in service: nothing to configure, no money",
		Long: "Try the dashboard with nothing to configure and no money involved. A stand-in service with a small shop, signed webhooks, " +
			"the relay and its websocket all run for real, on loopback, and end with the demo.",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.headless && o.screen.plain {
				return usagef("--headless prints the state every second, --plain each change: choose one")
			}
			if o.json && !o.headless {
				return usagef("--json needs --headless: it prints the state every second")
			}
			o.screen.plain = o.screen.plain || !o.headless && fallsBack(c)
			if o.headless && (c.Flags().Changed("filter") || c.Flags().Changed("at")) {
				return usagef("--headless shows no screen: leave out --filter and --at")
			}
			if !o.headless && !o.screen.plain {
				if err := requireTerminal(c, "tillwatch demo --headless, or --plain"); err != nil {
					return err
				}
			}
			if o.length < 0 {
				return usagef("--for is %v; it must be longer than 0, such as 10s", o.length)
			}
			account := config.Defaults()
			account.AllowConfirm = !o.readOnly
			o.screen.noColor, o.screen.words = colourless(c), c.ErrOrStderr()
			account.Theme, _ = c.Flags().GetString("theme")
			account.Notify, _ = c.Flags().GetString("notify")
			account.NoOpen, _ = c.Flags().GetBool("no-open")
			account.Filter, _ = c.Flags().GetString("filter")
			if err := errors.Join(account.Check(), checkTheme(account), checkStart(account, c, o.screen)); err != nil {
				return err
			}
			return runDemo(c.Context(), account, o, c.InOrStdin(), c.OutOrStdout())
		},
	}
	flags := command.Flags()
	shopFlags(flags, &o.shop)
	flags.DurationVar(&o.length, "for", 0, "end after this long, such as 10s")
	flags.BoolVar(&o.headless, "headless", false, "print the state every second instead of drawing")
	flags.BoolVar(&o.json, "json", false, "with --headless: one JSON object a second")
	flags.BoolVar(&o.readOnly, "read-only", false, "do not let the dashboard confirm intents")
	screenFlags(flags, &o.screen)
	return command
}

// runDemo runs the parts as they would run on three machines, and connects to the
// demo's account like any dashboard.
func runDemo(ctx context.Context, s settings, o demoOptions, in io.Reader, out io.Writer) error {
	ctx, release := untilHangup(ctx)
	defer release()
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	folder, err := os.MkdirTemp("", "tillwatch-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer os.RemoveAll(folder)
	o.screen.files = s.StateDir
	delay := paintFirst
	if o.headless || o.screen.plain {
		delay = 0
	}
	servers, err := openDemoServers(s, o.shop, folder, delay)
	if err != nil {
		return err
	}
	defer servers.atProxy.Close() // a second Close, once it has served, does no harm
	return session.Alongside(ctx, func(ctx context.Context) error {
		if o.length > 0 {
			end := time.AfterFunc(o.length, quit)
			defer end.Stop()
		}
		current, err := session.Open(servers.settings, session.Options{StandIn: true})
		if err != nil {
			return err
		}
		defer current.Close()
		if err := addProxy(current, servers.atProxy, io.Discard); err != nil {
			return err
		}
		if !o.headless {
			return show(ctx, current, o.screen, in, out)
		}
		record, err := recordsOf(current, o.screen, out)
		if err != nil {
			return err
		}
		defer record.finish(o.screen.words)
		return session.Alongside(ctx, func(ctx context.Context) error { return reportEverySecond(ctx, current, out, o.json) }, current.Run)
	}, servers.parts...)
}

// demoServers are a relay and a simulator on loopback.
type demoServers struct {
	settings settings     // of a dashboard on this account
	atProxy  net.Listener // for a proxy through which the shop calls the service
	service  *simulator.Simulator
	parts    []session.Part // run them
}

// openDemoServers opens the servers. They listen at once but answer only after delay, so
// that they do not hold up the first frame.
func openDemoServers(s settings, shop simulator.Config, folder string, delay time.Duration) (demoServers, error) {
	s.StateDir = folder
	s.APIKey, s.SigningSecret, s.RelayToken = api.NewSecret(rand.Text()), api.NewSecret(rand.Text()), api.NewSecret(rand.Text())
	s.PollEvery, s.DayLimit = demoPollEvery, demoPerDay
	atSpeed(&s, shop.Speed)
	var at [3]net.Listener
	for i := range at {
		var err error
		if at[i], err = listen("--listen", "127.0.0.1:0"); err != nil {
			return demoServers{}, errors.Join(err, closeListeners(at[:i]))
		}
	}
	atRelay, atService, atProxy := at[0], at[1], at[2]
	s.RelayURL, shop.ShopURL = address(atRelay), address(atProxy)
	shop, err := demoShop(s, shop)
	var service *simulator.Simulator
	if err == nil {
		service, err = simulator.New(shop)
	}
	if err != nil {
		return demoServers{}, errors.Join(usage(err), closeListeners(at[:]))
	}
	s.APIURL = address(atService)
	return demoServers{s, atProxy, service, []session.Part{
		func(ctx context.Context) error {
			_ = api.Sleep(ctx, delay)
			return runDemoRelay(ctx, atRelay, s, folder)
		},
		func(ctx context.Context) error {
			_ = api.Sleep(ctx, delay)
			return service.Run(ctx)
		},
		func(ctx context.Context) error { return service.Serve(ctx, atService) },
	}}, nil
}

// atSpeed scales the alert thresholds to the shop's speed.
func atSpeed(s *settings, speed float64) {
	if speed > 0 {
		faster := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
		s.ConfirmWindow = faster(api.ConfirmWindow)
		s.Alerts.AwaitingAfter, s.Alerts.ExpiringWithin = faster(s.Alerts.AwaitingAfter), faster(s.Alerts.ExpiringWithin)
		s.Alerts.PartlyFor = faster(demoPartlyFor)
	}
}

// demoShop is the demo's shop: it has a list, so that intents show before their
// offer, and a raised daily limit, so that it does not run out after four minutes.
func demoShop(s settings, shop simulator.Config) (simulator.Config, error) {
	shop.Key, shop.SigningSecret, shop.HeaderPrefix, shop.LookupPath = s.APIKey, s.SigningSecret, s.HeaderPrefix, s.LookupPath
	shop.WebhookURL, shop.Lists, shop.Limits.PerDay = s.RelayURL+"/webhooks", true, demoPerDay
	shop.Retries, shop.ProductEventsPerMinute = len(simulator.RetryPauses()), 1
	shop.EveryPolicy = true // also report the daily limit and the agents
	return shop, checkShop(&shop)
}

const (
	demoPerDay    = 2000
	demoPollEvery = 4 * time.Second // things happen faster in the demo than in a real shop
	demoPartlyFor = 5 * time.Minute // likewise
)

func runDemoRelay(ctx context.Context, listener net.Listener, s settings, folder string) error {
	defer listener.Close() // a second Close does no harm
	events, err := sqlite.Open(ctx, folder)
	if err != nil {
		return err
	}
	r, err := relay.New(relay.Config{
		Journal: events, SigningSecrets: []api.Secret{s.SigningSecret}, Tokens: []api.Secret{s.RelayToken},
		HeaderPrefix: s.HeaderPrefix, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return errors.Join(err, events.Close())
	}
	return errors.Join(r.Serve(ctx, listener), events.Close())
}

// reportEverySecond prints the state each second until ctx ends, and once more then.
func reportEverySecond(ctx context.Context, s *session.Session, out io.Writer, asJSON bool) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		ended := false
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		r := takeSnapshot(s, time.Now(), nil)
		if err := printed(out, asJSON, r.brief(), r.oneLine(time.Now())+"\n"); err != nil || ended {
			return err
		}
	}
}
