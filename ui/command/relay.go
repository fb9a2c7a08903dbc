package command

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"path/filepath"

	"charm.land/log/v2"
	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/journal/sqlite"
)

type relayOptions struct {
	listen, adminListen, data string
	json, verbose             bool
}

func newRelay() *cobra.Command {
	var o relayOptions
	command := &cobra.Command{
		Use:   "relay",
		Short: "Receive the service's signed webhooks and stream them to dashboards",
		Long: "Receive the service's signed webhooks, store each event before it is acknowledged, and stream them to dashboards.\n" +
			"The signing secret comes from TILLWATCH_SIGNING_SECRET, the dashboards' token from TILLWATCH_RELAY_TOKEN\n" +
			"(each also as …_FILE). Without a token one is made for this run and printed.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c.Flags())
			if err != nil {
				return err
			}
			return runRelay(c.Context(), s, o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7430", "address for webhooks, and for everything else unless --admin-listen is given")
	flags.StringVar(&o.adminListen, "admin-listen", "", "address of its own for the stream, the reading side and the probes")
	flags.StringVar(&o.data, "data", filepath.Join(stateDir(), "relay"), "folder of the journal")
	flags.BoolVar(&o.json, "json", false, "print the ready line as JSON")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log every delivery and every connection")
	return command
}

func runRelay(ctx context.Context, s settings, o relayOptions, stdout, stderr io.Writer) error {
	if s.SigningSecret.IsZero() {
		return usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE")
	}
	announce := ready{}
	if s.RelayToken.IsZero() {
		announce.Token = rand.Text()
		s.RelayToken = api.NewSecret(announce.Token)
	}
	events, err := sqlite.Open(ctx, o.data)
	if err != nil {
		return err
	}
	defer events.Close()
	r, err := relay.New(relay.Config{
		Journal: events, SigningSecrets: []api.Secret{s.SigningSecret}, Tokens: []api.Secret{s.RelayToken},
		HeaderPrefix: s.HeaderPrefix, Logger: logger(stderr, o.verbose),
	})
	if err != nil {
		return usage(err)
	}
	ingest, err := listen(o.listen)
	if err != nil {
		return err
	}
	if o.adminListen == "" {
		announce.Listen = address(ingest)
		if err := announce.print(stdout, "relay", o.json); err != nil {
			return err
		}
		return r.Serve(ctx, ingest)
	}
	admin, err := listen(o.adminListen)
	if err != nil {
		ingest.Close()
		return err
	}
	announce.Listen, announce.AdminListen = address(ingest), address(admin)
	if err := announce.print(stdout, "relay", o.json); err != nil {
		return err
	}
	return r.ServeSplit(ctx, ingest, admin)
}

// logger writes words for people to w.
func logger(w io.Writer, verbose bool) *slog.Logger {
	level := log.InfoLevel
	if verbose {
		level = log.DebugLevel
	}
	return slog.New(log.NewWithOptions(w, log.Options{Level: level, ReportTimestamp: true}))
}
