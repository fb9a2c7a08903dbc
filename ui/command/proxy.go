package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/api/proxy"
	"tillwatch/api/quota"
	"tillwatch/relay"
	"tillwatch/ui/config"
	"tillwatch/ui/session"
)

type proxyOptions struct {
	listen, metricsListen string
	alsoTo                []string
	allowRemote           bool
	certFile, keyFile     string
	json, verbose         bool
}

func newProxy() *cobra.Command {
	var o proxyOptions
	command := &cobra.Command{
		Use:   "proxy",
		Short: "Run a proxy before the service, and report who spends the quota",
		Long: "Run a proxy between your code and the service: use its address as the base URL and change nothing " +
			"else. Every request and every answer passes unchanged. The proxy reports to the relay, and so to its " +
			"dashboards, which endpoint was called, by whom, and what is left of the quota, but no body, key or " +
			"buyer. It never waits for the relay.\n\nYour API keys pass through it, so it listens only on this " +
			"machine unless --allow-remote is given.\n\n" +
			"The relay's address comes from --relay-url, a token with the scope report from TILLWATCH_RELAY_TOKEN or " +
			"the file in TILLWATCH_RELAY_TOKEN_FILE. A dashboard can run a proxy, too: tillwatch watch " +
			"--proxy-listen 127.0.0.1:7440.",
		Example: "tillwatch proxy --api-url https://api.example --relay-url https://relay.example\n" +
			"tillwatch proxy --api-url https://api.example --metrics-listen 127.0.0.1:7441 --spender-header X-Job",
		RunE: reporting(func(ctx context.Context, s settings, _ []string, std streams) (report, error) {
			ctx, release := untilHangup(ctx)
			defer release()
			return nil, runProxy(ctx, s, o, std.out, std.words)
		}),
	}
	flags := command.Flags()
	config.AddFlags(flags, "api_url", "spender_header", "insecure_http")
	flags.String("relay-url", "", "address of the relay to report to")
	flags.StringSliceVar(&o.alsoTo, "also-report-to", nil,
		"address of another relay on the same database; it takes the same token (repeatable)")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7440", "address that your code calls")
	flags.BoolVar(&o.allowRemote, "allow-remote", false,
		"let other machines connect; without TLS, anyone on the way can read API keys")
	flags.StringVar(&o.certFile, "tls-cert", "", "file of the TLS certificate with its chain; reloaded when it changes")
	flags.StringVar(&o.keyFile, "tls-key", "", "file of the certificate's key")
	flags.StringVar(&o.metricsListen, "metrics-listen", "", "address for GET /metrics, for Prometheus")
	flags.BoolVar(&o.json, "json", false, "print the ready line as JSON")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log errors of single connections")
	return command
}

// runProxy proxies until ctx ends.
func runProxy(ctx context.Context, s settings, o proxyOptions, stdout, stderr io.Writer) error {
	log := logger(stderr, o.verbose)
	if !o.allowRemote && !config.OnThisMachine(o.listen) {
		return usagef("--listen is %s, where other machines can connect, and API keys pass through a proxy: "+
			"to allow that, give --allow-remote, best with --tls-cert and --tls-key", o.listen)
	}
	if !o.allowRemote && !config.OnThisMachine(o.metricsListen) {
		return usagef("--metrics-listen is %s, where other machines can read who spends the quota: "+
			"to allow that, give --allow-remote", o.metricsListen)
	}
	tls, err := tlsConfig(o.certFile, o.keyFile, log)
	if err != nil {
		return err
	}
	config, scheme := proxy.Config{TLS: tls, Logger: log}, "http"
	if tls != nil {
		scheme = "https"
	}
	finish, err := reportTo(ctx, s, &config, o.alsoTo)
	if err != nil {
		return err
	}
	defer finish() // after the last requests have ended and are to be reported
	ln, err := listen("--listen", o.listen)
	if err != nil {
		return err
	}
	p, err := proxyOn(s, config, ln)
	if err != nil {
		return err
	}
	if config.Observe == nil && o.metricsListen == "" {
		log.Warn("nothing is reported: give --relay-url or --metrics-listen")
	}
	parts := []session.Part{}
	announce := ready{Listen: scheme + "://" + ln.Addr().String(), APIURL: s.APIURL}
	if o.metricsListen != "" {
		metrics, err := listen("--metrics-listen", o.metricsListen)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		announce.MetricsListen = address(metrics)
		parts = append(parts, func(ctx context.Context) error { return serveMetrics(ctx, metrics, p.Metrics()) })
	}
	if err := announce.print(stdout, "proxy", o.json); err != nil {
		return errors.Join(fmt.Errorf("printing the ready line: %w", err), ln.Close())
	}
	return session.Alongside(ctx, func(ctx context.Context) error { return p.Serve(ctx, ln) }, parts...)
}

// proxyOn makes a proxy before the settings' service, to serve a listener, which it closes if that fails. The service
// must not be the proxy itself, which would call itself for ever.
func proxyOn(s settings, c proxy.Config, ln net.Listener) (*proxy.Proxy, error) {
	c.Upstream, c.InsecureHTTP, c.LookupPath, c.SpenderHeader = s.APIURL, s.InsecureHTTP, s.LookupPath, s.SpenderHeader
	p, err := proxy.New(c)
	switch {
	case s.APIURL == "":
		err = usagef("no service is configured: give --api-url or set TILLWATCH_API_URL")
	case err != nil:
		err = config.WrongAddress(err)
	case isAt(s.APIURL, ln):
		err = usagef("the service's address is the proxy's own, %s: give the service's with --api-url, "+
			"or let the proxy listen on another port", ln.Addr())
	default:
		return p, nil
	}
	return nil, errors.Join(err, ln.Close())
}

// isAt reports whether an address leads to a listener.
func isAt(service string, ln net.Listener) bool {
	to, err := url.Parse(service)
	at, ok := ln.Addr().(*net.TCPAddr)
	if err != nil || !ok || api.PortOf(to) != strconv.Itoa(at.Port) {
		return false
	}
	ip := net.ParseIP(to.Hostname())
	here := api.Loopback(to.Hostname()) || ip != nil && ip.IsUnspecified()
	return at.IP.Equal(ip) || here && (at.IP.IsLoopback() || at.IP.IsUnspecified())
}

// reportTo makes a proxy report to the configured relay, if there is one, and to others, until
// finish is called. finish waits until the rest is reported.
func reportTo(ctx context.Context, s settings, of *proxy.Config, alsoTo []string) (finish func(), err error) {
	if s.RelayURL == "" && len(alsoTo) == 0 {
		return func() {}, nil
	}
	if err := s.RequireRelay(); err != nil {
		return nil, err
	}
	var all []*relay.Reporter
	for _, address := range append([]string{s.RelayURL}, alsoTo...) {
		to := relay.Access{URL: address, Token: s.RelayToken, InsecureHTTP: s.InsecureHTTP}
		reporter, err := relay.NewReporter(to, of.Logger)
		if err != nil {
			return nil, config.WrongAddress(err)
		}
		all = append(all, reporter)
	}
	of.Observe = func(batch []quota.Observation) {
		for _, r := range all {
			r.Observe(batch)
		}
	}
	of.Dropped = func() (dropped int64) {
		for _, r := range all {
			dropped += r.Dropped()
		}
		return dropped
	}
	return background(context.WithoutCancel(ctx), func(ctx context.Context) {
		var reporting sync.WaitGroup
		for _, r := range all {
			reporting.Go(func() { r.Run(ctx) })
		}
		reporting.Wait()
	}), nil
}

// serveMetrics serves GET /metrics until ctx ends.
func serveMetrics(ctx context.Context, ln net.Listener, metrics http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // the requests of a scraper can be asked again
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}

// addProxy has the session run a proxy on a listener, and observe what passes. It closes the listener if that fails.
func addProxy(s *session.Session, ln net.Listener, words io.Writer) error {
	p, err := proxyOn(s.Settings, proxy.Config{Observe: s.Store.Observe, Logger: logger(words, false)}, ln)
	if err != nil {
		return err
	}
	s.Beside(func(ctx context.Context) error { return p.Serve(ctx, ln) })
	return nil
}

// addConfiguredProxy does the same on the configured address, if there is one, and prints it.
func addConfiguredProxy(s *session.Session, drawn bool, words io.Writer) error {
	if s.Settings.ProxyListen == "" {
		return nil
	}
	ln, err := listen("--proxy-listen", s.Settings.ProxyListen)
	if err != nil {
		return err
	}
	log := words
	if drawn {
		log = io.Discard // the screen shows the service's state itself
	}
	if err := addProxy(s, ln, log); err != nil {
		return err
	}
	return ready{Listen: address(ln), APIURL: s.Settings.APIURL}.print(words, "proxy", false)
}
