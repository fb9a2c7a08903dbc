package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"charm.land/log/v2"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/relay/signature"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

type relayOptions struct {
	listen, adminListen, data string
	allowOrigins              []string
	retention                 time.Duration
	certFile, keyFile         string
	json, verbose             bool
	check                     string                           // the URL of another relay
	others                    func(settings) []signature.Other // the secrets of other profiles
	checkTimeout              time.Duration
}

func newRelay() *cobra.Command {
	var o relayOptions
	command := &cobra.Command{
		Use:   "relay",
		Short: "Receive the service's signed webhooks and stream them to dashboards",
		Long: "Receive the service's signed webhooks, store each event before acknowledging it, and stream the events to dashboards.\n\n" +
			"The signing secret comes from TILLWATCH_SIGNING_SECRET; during a rotation, give both, one per line. A token with every scope " +
			"comes from TILLWATCH_RELAY_TOKEN. Each can also come from a file, named by …_FILE. tillwatch tokens makes more " +
			"tokens, with fewer scopes. If there is no token at all, the relay makes one for this run and prints it.\n\n" +
			"It also streams to dashboards what reporters, such as tillwatch proxy, observed of the account's requests, and keeps the last hour in memory. " +
			"Reporters need a token with the scope report.\n\n" +
			"If TILLWATCH_API_URL and TILLWATCH_API_KEY are set, the relay takes undelivered events from the service's list.\n\n" +
			"SIGHUP makes it reload secrets, tokens and certificate, except in a terminal, where it means that the terminal was closed: there the relay ends.\n\n" +
			"--check probes a running relay, for balancers and containers: exit code 0 if it is ready; 1, with the reason, if not.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("check") {
				if err := refuseOtherFlags(c.Flags()); err != nil {
					return err
				}
				return probeRelay(c.Context(), o.check, o.checkTimeout, o.json, c.OutOrStdout())
			}
			if c.Flags().Changed("check-timeout") {
				return usagef("--check-timeout needs --check")
			}
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			load := func() (settings, error) { return loadSettings(c.Flags()) }
			o.others = func(s settings) []signature.Other { return otherSecrets(s, c.Flags()) }
			return runRelay(c.Context(), load, o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http", "postgres")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7430", "address for webhooks, and for everything else unless --admin-listen is given")
	flags.StringVar(&o.adminListen, "admin-listen", "", "a separate address for the stream, reading events, metrics and probes")
	flags.StringVar(&o.data, "data", relayDir(), "folder for the journal and the tokens")
	spanFlag(flags, &o.retention, "retention", "", "delete bodies of events older than this, such as 90d (default: never; ids are kept)")
	flags.StringSliceVar(&o.allowOrigins, "allow-origin", nil, "origin of web pages that may post webhooks, such as https://shop.example (repeatable)")
	flags.StringVar(&o.certFile, "tls-cert", "", "file of the TLS certificate with its chain")
	flags.StringVar(&o.keyFile, "tls-key", "", "file of the certificate's key")
	flags.StringVar(&o.check, "check", "", "ask the relay at this URL whether it is ready, and exit")
	spanFlag(flags, &o.checkTimeout, "check-timeout", "5s", "how long --check waits for the answer")
	flags.BoolVar(&o.json, "json", false, "print the ready line, or the result of --check, as JSON")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every delivery and every connection")
	return command
}

func relayDir() string { return filepath.Join(config.StateDir(), "relay") }

func runRelay(ctx context.Context, load func() (settings, error), o relayOptions, stdout, stderr io.Writer) (err error) {
	ctx, inputs := newRelayInputs(ctx, load, logger(stderr, o.verbose))
	defer inputs.release()
	s, err := unlessInterrupted(ctx, load)
	if err != nil {
		return err
	}
	if len(s.SigningSecrets()) == 0 {
		return usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE")
	}
	config := relay.Config{
		SigningSecrets: s.SigningSecrets(), OtherSecrets: o.others(s), HeaderPrefix: s.HeaderPrefix, Logger: inputs.logger, AllowedOrigins: o.allowOrigins,
		Retention: o.retention,
	}
	if config.Events, err = eventList(s); err != nil {
		return err
	}
	if inputs.certificate, err = openCertificate(o.certFile, o.keyFile); err != nil {
		return err
	}
	if inputs.certificate != nil {
		config.TLS = inputs.certificate.config()
		defer background(ctx, func(ctx context.Context) { inputs.certificate.warnDaily(ctx, inputs.logger) })()
	}
	events, err := openJournal(ctx, s, o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	config.Journal = events
	tokens, closeTokens, err := openTokens(ctx, s, o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	if config.Tokens, config.Issued, err = inputs.beginTokens(ctx, s, tokens); err != nil {
		return err
	}
	warnOfUnusedTokens(ctx, s, o.data, inputs.logger)
	r, err := relay.New(config)
	if err != nil {
		return usage(err)
	}
	defer inputs.follow(ctx, r)()
	return serveRelay(ctx, r, inputs, o, s.Postgres.IsZero(), stdout)
}

// warnOfUnusedTokens warns that tokens in the folder are ignored when a database
// keeps the tokens.
func warnOfUnusedTokens(ctx context.Context, s settings, folder string, logger *slog.Logger) {
	if s.Postgres.IsZero() {
		return
	}
	if unused, err := relay.NewTokenFile(folder).Read(ctx); err != nil || len(unused) > 0 {
		logger.Warn("the tokens in the data folder are ignored, as a database is configured: make tokens there with tillwatch tokens and the same settings",
			slog.String("data", folder))
	}
}

// serveRelay opens the listeners, prints the ready line, and serves. files: the journal is in files on this machine.
func serveRelay(ctx context.Context, r *relay.Relay, in *relayInputs, o relayOptions, files bool, stdout io.Writer) error {
	scheme := "http"
	if in.certificate != nil {
		scheme = "https"
	}
	ingest, err := listen(o.listen)
	if err != nil {
		return err
	}
	listeners := []net.Listener{ingest}
	announce := ready{Listen: scheme + "://" + ingest.Addr().String(), Token: in.made.Reveal()}
	if o.adminListen != "" {
		admin, err := listenFor("--admin-listen", o.adminListen)
		if err != nil {
			return errors.Join(err, ingest.Close())
		}
		listeners = append(listeners, admin)
		announce.AdminListen = scheme + "://" + admin.Addr().String()
	}
	lives, err := livenessOf(r, scheme, files, listeners...)
	if err == nil {
		err = announce.print(stdout, "relay", o.json)
	}
	if err != nil {
		return errors.Join(err, closeListeners(listeners))
	}
	defer findSupervisor(in.logger).begin(ctx, "Listening on "+announce.Listen, lives)()
	if len(listeners) > 1 {
		return r.ServeSplit(ctx, listeners[0], listeners[1])
	}
	return r.Serve(ctx, ingest)
}

func closeListeners(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// eventList is the service's list of events; nil if no service is configured. Reading
// it stays within tillwatch's share of the quota.
func eventList(s settings) (relay.EventList, error) {
	if s.APIURL == "" || s.APIKey.IsZero() {
		return nil, nil
	}
	return session.NewClient(s, api.Config{Pacer: quota.NewPacer(quota.PacerConfig{Share: s.PollShare})})
}

// logger logs for people to w.
func logger(w io.Writer, verbose bool) *slog.Logger {
	level := log.InfoLevel
	if verbose {
		level = log.DebugLevel
	}
	return slog.New(log.NewWithOptions(w, log.Options{Level: level, ReportTimestamp: true}))
}
