package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"charm.land/log/v2"
	"github.com/coreos/go-systemd/v22/daemon"

	"tillwatch/api"
	"tillwatch/ui/config"
)

// listen opens the TCP address of a flag. 0.0.0.0 is open over IPv4 only, as its text says; Go would open IPv6 too.
func listen(flag, address string) (net.Listener, error) {
	if address == "" { // an unset variable, which would be open to every machine
		return nil, usagef("%s is empty: give an address, such as 127.0.0.1:0 for a free port", flag)
	}
	network := "tcp"
	if strings.HasPrefix(address, "0.0.0.0:") {
		network = "tcp4"
	}
	listener, err := net.Listen(network, address)
	if errors.As(err, new(*net.AddrError)) {
		return nil, usagef("%s %s: %w (give a host and a port, such as 127.0.0.1:0 for a free port)", flag, address,
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w (choose another one with %s)", address, err, flag)
	}
	return listener, nil
}

func closeListeners(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// ready is the line that a server command prints once it accepts connections. It has
// secrets only if they were made for this run, as nobody else knows them.
type ready struct {
	Ready         bool   `json:"ready"`
	Listen        string `json:"listen"`
	APIKey        string `json:"api_key,omitempty"`
	SigningSecret string `json:"signing_secret,omitempty"`
	Seed          uint64 `json:"seed,omitempty"` // the stand-in's: repeats the same events
	Token         string `json:"token,omitempty"`
	AdminListen   string `json:"admin_listen,omitempty"`
	MetricsListen string `json:"metrics_listen,omitempty"`
	APIURL        string `json:"api_url,omitempty"` // of the service behind a proxy
}

func (r ready) print(w io.Writer, name string, asJSON bool) error {
	r.Ready = true
	line := fmt.Sprintf("%s ready on %s", name, r.Listen)
	if r.APIURL != "" {
		line += " for " + string(api.Scrub(r.APIURL))
	}
	if r.MetricsListen != "" {
		line += "  metrics on " + r.MetricsListen + "/metrics"
	}
	for _, made := range []struct{ name, value string }{
		{"TILLWATCH_API_KEY", r.APIKey}, {"TILLWATCH_SIGNING_SECRET", r.SigningSecret},
		{"TILLWATCH_RELAY_TOKEN", r.Token},
	} {
		if made.value != "" {
			line += fmt.Sprintf("  %s=%s", made.name, made.value)
		}
	}
	return printed(w, asJSON, r, line+"\n")
}

// address is the URL of a listener.
func address(l net.Listener) string { return "http://" + l.Addr().String() }

// tellManager tells the service manager that started this process, such as systemd, that it is ready, in time that it
// lives, if the manager asks for that, and once ctx ends that it is stopping. end waits for that.
func tellManager(ctx context.Context, status string, log *slog.Logger) (end func()) {
	tell := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Error("notifying the service manager failed", slog.String("error", err.Error()))
		}
	}
	tell(daemon.SdNotifyReady + "\nSTATUS=" + status)
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Error("the service manager's watchdog cannot be told", slog.String("error", err.Error()))
	}
	return background(ctx, func(ctx context.Context) {
		for within > 0 && api.Sleep(ctx, within/4) == nil {
			tell(daemon.SdNotifyWatchdog)
		}
		<-ctx.Done()
		tell(daemon.SdNotifyStopping + "\nSTATUS=Shutting down")
	})
}

// tlsConfig is for a listener with a certificate; nil if none is named. Both files are read again once they have
// changed; one that cannot be used is logged, and the certificate before it stays.
func tlsConfig(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil
	case certFile == "" || keyFile == "":
		return nil, usagef("TLS needs both --tls-cert and --tls-key")
	}
	read := changed(certFile, keyFile)
	current, err := readCertificate(certFile, keyFile)
	if err != nil {
		return nil, usage(err)
	}
	var mu sync.Mutex
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}, // websockets need HTTP/1.1
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			if now := changed(certFile, keyFile); now != read {
				read = now
				if next, err := readCertificate(certFile, keyFile); err == nil {
					current = next
				} else {
					log.Error("keeping the old certificate", slog.String("error", err.Error()))
				}
			}
			return current, nil
		},
	}, nil
}

// changed is when files were last changed.
func changed(files ...string) (at [2]time.Time) {
	for i, path := range files {
		if info, err := os.Stat(path); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

func readCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	chain, err := config.ReadFile(certFile, api.FileText)
	key, unread := config.ReadFile(keyFile, api.FileText)
	pair, unusable := tls.X509KeyPair(chain, key)
	if err = cmp.Or(err, unread, unusable); err != nil {
		return nil, fmt.Errorf("the TLS certificate %s or its key %s cannot be used: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

// logger logs for people to w.
func logger(w io.Writer, verbose bool) *slog.Logger {
	level := log.InfoLevel
	if verbose {
		level = log.DebugLevel
	}
	return slog.New(log.NewWithOptions(w, log.Options{Level: level, ReportTimestamp: true}))
}
