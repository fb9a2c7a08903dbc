package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

// runSimulate stands in for the service until ctx ends: for staging and, if it has an
// address, for production.
func runSimulate(ctx context.Context, s settings, o simulateOptions, stdout, stderr io.Writer) error {
	announce := ready{}
	if s.APIKey.IsZero() {
		announce.APIKey = rand.Text()
		s.APIKey = api.NewSecret(announce.APIKey)
	}
	if len(s.SigningSecrets()) == 0 {
		announce.SigningSecret = rand.Text()
		s.SigningSecret = api.NewSecret(announce.SigningSecret)
	}
	keys, err := parseKeys(o.keys)
	if err != nil {
		return usage(err)
	}
	config, err := simulatorConfig(s, o)
	if err != nil {
		return usage(err)
	}
	config.Logger = logger(stderr, o.verbose)
	all, keys := o.environments(config, keys)
	if err := openAll(all); err != nil {
		return err
	}
	announce.Listen, announce.Seed = address(all[0].listener), all[0].service.Seed()
	if len(all) > 1 {
		announce.ProductionListen = address(all[1].listener)
	}
	announce.Keys = readyKeys(keys)
	if err := announce.print(stdout, "simulator", o.json); err != nil {
		return errors.Join(fmt.Errorf("printing the ready line: %w", err), closeAll(all))
	}
	var parts []part
	for _, e := range all {
		parts = append(parts, e.service.Run, func(ctx context.Context) error { return e.service.Serve(ctx, e.listener) })
	}
	return alongside(ctx, untilDone, parts...)
}

// standIn is the service in one environment.
type standIn struct {
	config        simulator.Config
	flag, address string // to listen on
	service       *simulator.Simulator
	listener      net.Listener
}

// environments are the environments to stand in for. Each knows the other's keys, to
// refuse them. Each has a key with every scope, given or made for this run.
func (o simulateOptions) environments(config simulator.Config, keys []extraKey) ([]*standIn, []extraKey) {
	staging := &standIn{config: config, flag: "--listen", address: o.listen}
	if o.production.listen == "" {
		staging.config.MoreKeys = simulatorKeys(keys)
		return []*standIn{staging}, keys
	}
	whole := func(k extraKey) bool { return k.Environment == simulator.Production && len(k.Scopes) == 0 }
	at := slices.IndexFunc(keys, whole)
	if at < 0 {
		at = len(keys)
		name := "production"
		if slices.ContainsFunc(keys, func(k extraKey) bool { return k.Name == name }) {
			name += "-made"
		}
		keys = append(keys, extraKey{simulator.Key{Name: name, Secret: api.NewSecret(rand.Text()), Environment: simulator.Production}, true})
	}
	production := &standIn{config: config, flag: "--production-listen", address: o.production.listen}
	production.config.Environment, production.config.WebhookURL = simulator.Production, o.production.webhookURL
	production.config.Seed++ // makes other intents
	production.config.From = nil
	production.config.Key = keys[at].Secret
	main := extraKey{Key: simulator.Key{Name: "main", Secret: config.Key, Environment: simulator.Staging}}
	production.config.MoreKeys = simulatorKeys(append(slices.Concat(keys[:at], keys[at+1:]), main))
	staging.config.MoreKeys = simulatorKeys(keys)
	return []*standIn{staging, production}, keys
}

func simulatorKeys(keys []extraKey) []simulator.Key {
	var all []simulator.Key
	for _, key := range keys {
		all = append(all, key.Key)
	}
	return all
}

// openAll makes the services and opens all their addresses, or none.
func openAll(all []*standIn) (err error) {
	for _, e := range all {
		if e.service, err = simulator.New(e.config); err != nil {
			return usage(err)
		}
	}
	for _, e := range all {
		if e.listener, err = listenFor(e.flag, e.address); err != nil {
			return errors.Join(err, closeAll(all))
		}
	}
	return nil
}

func closeAll(all []*standIn) error {
	var failed []error
	for _, e := range all {
		if e.listener != nil {
			failed = append(failed, e.listener.Close())
		}
	}
	return errors.Join(failed...)
}

// simulatorConfig is the configuration that all environments share.
func simulatorConfig(s settings, o simulateOptions) (simulator.Config, error) {
	config := o.simulator
	if o.production.webhookURL != "" && o.production.listen == "" {
		return config, errors.New("--production-webhook-url needs --production-listen")
	}
	var err error
	if config.Limits, err = parseLimits(o.limits); err != nil {
		return config, err
	}
	if config.Lists, err = parseLists(o.lists); err != nil {
		return config, err
	}
	if err := o.beginning(&config); err != nil {
		return config, err
	}
	zeroMeansNone(&config)
	config.Key, config.SigningSecret = s.APIKey, s.SigningSecrets()[0] // the first signs
	config.HeaderPrefix, config.LookupPath = s.HeaderPrefix, s.LookupPath
	if config.Seed == 0 && config.From == nil {
		config.Seed = uint64(time.Now().UnixNano())
	}
	return config, nil
}

// beginning sets what the stand-in starts with.
func (o simulateOptions) beginning(config *simulator.Config) (err error) {
	if o.clock != "" {
		if config.At, err = time.Parse(time.RFC3339, o.clock); err != nil || config.At.IsZero() {
			return fmt.Errorf("--clock is %.40q; it must be a time such as 2026-03-01T12:00:00Z", o.clock)
		}
	}
	if o.balance == "" {
		return nil
	}
	if config.Balance, err = dollars("--balance", o.balance); config.Balance == 0 {
		config.Balance = -1 // nothing
	}
	return err
}

// dollars reads an amount in the stand-in's currency, as cents.
func dollars(of, text string) (int64, error) {
	amount, err := api.ParseMoney(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", of, err)
	case amount.Currency != "USD" || amount.Subunits < 0 || amount.Subunits > math.MaxInt32:
		return 0, fmt.Errorf("%s is %s; the stand-in deals in dollars, from 0.00USD to 21474836.47USD", of, amount.Readable())
	}
	return amount.Subunits, nil
}

func readyKeys(keys []extraKey) []readyKey {
	var all []readyKey
	for _, k := range keys {
		r := readyKey{Name: k.Name, Environment: k.Environment, Scopes: k.Scopes}
		if k.made {
			r.APIKey = k.Secret.Reveal()
		}
		all = append(all, r)
	}
	return all
}
