package command

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

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
	verbose                   bool
}

func newRelay() *cobra.Command {
	var o relayOptions
	command := &cobra.Command{
		Use:   "relay",
		Short: "Receive the service's signed webhooks and stream them to dashboards",
		Long: "Receive the service's signed webhooks, store each event before acknowledging it, and stream the " +
			"events to dashboards.\n\n" +
			"The signing secret comes from TILLWATCH_SIGNING_SECRET; during a rotation, give both, one per " +
			"line. A token with every scope comes from TILLWATCH_RELAY_TOKEN. Each can also come from a file, " +
			"named by …_FILE. tillwatch tokens makes more tokens, with fewer scopes. If there is no token at " +
			"all, the relay makes one for this run and prints it.\n\n" +
			"It also streams to dashboards what reporters, such as tillwatch proxy, observed of the account's " +
			"requests, and keeps the last hour in memory. Reporters need a token with the scope report.\n\n" +
			"If TILLWATCH_API_URL and TILLWATCH_API_KEY are set, the relay takes undelivered events from the " +
			"service's list.\n\n" +
			"SIGHUP makes it reload secrets and tokens, except in a terminal, where it means that the terminal " +
			"was closed: there the relay ends. Tokens and the certificate are also read again when they " +
			"change. GET /readyz says whether it is ready, tillwatch doctor why not.",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPostgresFlag(c.Flags()); err != nil {
				return err
			}
			load := func() (settings, error) { return loadSettings(c.Context(), c.Flags()) }
			others := func(s settings) []signature.Other { return otherSecrets(s, c.Flags()) }
			return runRelay(c.Context(), load, others, o, streamsOf(c))
		},
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "insecure_http", "postgres")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7430",
		"address for webhooks, and for everything else unless --admin-listen is given")
	flags.StringVar(&o.adminListen, "admin-listen", "",
		"a separate address for the stream, reading events, metrics and probes")
	flags.StringVar(&o.data, "data", relayDir(), "folder for the journal and the tokens")
	spanFlag(flags, &o.retention, "retention", "",
		"delete bodies of events older than this, such as 90d (default: never; ids are kept)")
	flags.StringSliceVar(&o.allowOrigins, "allow-origin", nil,
		"origin of web pages that may post webhooks, such as https://shop.example (repeatable)")
	flags.StringVar(&o.certFile, "tls-cert", "", "file of the TLS certificate with its chain; reloaded when it changes")
	flags.StringVar(&o.keyFile, "tls-key", "", "file of the certificate's key")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every delivery and every connection")
	jsonFlag(flags, "print the ready line as JSON")
	return command
}

func relayDir() string { return filepath.Join(config.StateDir(), "relay") }

// runRelay runs a relay until ctx ends.
func runRelay(ctx context.Context, load func() (settings, error), others func(settings) []signature.Other,
	o relayOptions, std streams) (err error) {
	log := logger(std.words, o.verbose)
	ctx, inputs := newRelayInputs(ctx, load, log)
	defer inputs.release()
	s, err := load()
	if err != nil {
		return err
	}
	if len(s.SigningSecrets()) == 0 {
		return usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE")
	}
	config := relay.Config{
		SigningSecrets: s.SigningSecrets(), OtherSecrets: others(s), HeaderPrefix: s.HeaderPrefix, Logger: log,
		AllowedOrigins: o.allowOrigins, Retention: o.retention,
	}
	if config.Events, err = eventList(s); err != nil {
		return err
	}
	if config.TLS, err = tlsConfig(o.certFile, o.keyFile, log); err != nil {
		return err
	}
	if config.Journal, err = openJournal(ctx, s, o.data); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, config.Journal.Close()) }()
	tokens, closeTokens, err := openTokens(ctx, s, o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	if config.Tokens, config.Issued, err = inputs.beginTokens(ctx, s, tokens); err != nil {
		return err
	}
	r, err := relay.New(config)
	if err != nil {
		return usage(err)
	}
	defer inputs.follow(ctx, r)()
	scheme := "http://"
	if config.TLS != nil {
		scheme = "https://"
	}
	return serveRelay(ctx, r, ready{Listen: scheme, Token: inputs.made.Reveal()}, o, std, log)
}

// serveRelay opens the listeners, prints the ready line, in which Listen is the scheme so far, and serves.
func serveRelay(ctx context.Context, r *relay.Relay, line ready, o relayOptions, std streams, log *slog.Logger) error {
	ingest, err := listen("--listen", o.listen)
	if err != nil {
		return err
	}
	defer ingest.Close()
	scheme, serve := line.Listen, func() error { return r.Serve(ctx, ingest) }
	line.Listen += ingest.Addr().String()
	if o.adminListen != "" {
		admin, err := listen("--admin-listen", o.adminListen)
		if err != nil {
			return err
		}
		defer admin.Close()
		line.AdminListen, serve = scheme+admin.Addr().String(), func() error { return r.ServeSplit(ctx, ingest, admin) }
	}
	if err := line.print(std.out, "relay", std.json); err != nil {
		return err
	}
	defer tellManager(ctx, "Listening on "+line.Listen, log)()
	return serve()
}

// eventList is the service's list of events; nil if no service is configured. Reading
// it stays within tillwatch's share of the quota.
func eventList(s settings) (relay.EventList, error) {
	if s.APIURL == "" || s.APIKey.IsZero() {
		return nil, nil
	}
	return session.NewClient(s, api.Config{Pacer: quota.NewPacer(quota.PacerConfig{Share: s.PollShare})})
}
