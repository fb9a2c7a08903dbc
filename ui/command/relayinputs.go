package command

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tillwatch/api"
	"tillwatch/relay"
)

// tokenInterval is how often a relay looks whether its tokens have changed.
const tokenInterval = time.Second

// relayInputs are what a running relay reads again: on SIGHUP everything, and
// the issued tokens when their file changes.
type relayInputs struct {
	load        func() (settings, error)
	tokens      relay.TokenFile
	made        api.Secret   // for this run, when there was no other
	certificate *certificate // nil without TLS
	logger      *slog.Logger
	seen        fs.FileInfo // of the tokens when they were last read
}

// begin reads the settings and tokens that a relay starts with.
func (in *relayInputs) begin() (settings, []relay.Token, error) {
	s, err := in.load()
	if err != nil {
		return s, nil, err
	}
	if len(s.signingSecrets()) == 0 {
		return s, nil, usagef("no signing secret is configured: set TILLWATCH_SIGNING_SECRET or TILLWATCH_SIGNING_SECRET_FILE")
	}
	in.seen = in.tokens.Stat()
	issued, err := in.tokens.Read()
	if err == nil && s.RelayToken.IsZero() && len(issued) == 0 {
		in.made = madeToken()
	}
	return s, issued, err
}

// own are the tokens that may do everything.
func (in *relayInputs) own(s settings) []api.Secret {
	switch {
	case !s.RelayToken.IsZero():
		return []api.Secret{s.RelayToken}
	case !in.made.IsZero():
		return []api.Secret{in.made}
	}
	return nil
}

// follow keeps r up to date until ctx ends or stop is called, which waits for it.
func (in *relayInputs) follow(ctx context.Context, r *relay.Relay) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	var tasks sync.WaitGroup
	tasks.Go(func() {
		defer signal.Stop(hangup)
		ticker := time.NewTicker(tokenInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				in.reload(r)
			case <-ticker.C:
				in.refresh(r)
			}
		}
	})
	return func() {
		cancel()
		tasks.Wait()
	}
}

// reload reads everything again. What cannot be read or used stays as it was.
func (in *relayInputs) reload(r *relay.Relay) {
	err := in.reloadSecrets(r)
	if in.certificate != nil {
		err = errors.Join(err, in.certificate.load())
	}
	if err != nil {
		in.logger.Error("reloading failed: what could not be read stays as it was", slog.String("error", err.Error()))
		return
	}
	in.logger.Info("secrets, tokens and certificate were read again")
}

func (in *relayInputs) reloadSecrets(r *relay.Relay) error {
	s, err := in.load()
	if err != nil {
		return err
	}
	return errors.Join(r.SetSigningSecrets(s.signingSecrets()), in.setTokens(r, s))
}

// refresh reads the issued tokens when their file has changed.
func (in *relayInputs) refresh(r *relay.Relay) {
	if sameFile(in.seen, in.tokens.Stat()) {
		return
	}
	s, err := in.load()
	if err == nil {
		err = in.setTokens(r, s)
	}
	if err != nil {
		in.logger.Error("the tokens have changed and cannot be read: they stay as they were", slog.String("error", err.Error()))
		return
	}
	in.logger.Info("the tokens were read again")
}

func (in *relayInputs) setTokens(r *relay.Relay, s settings) error {
	in.seen = in.tokens.Stat()
	issued, err := in.tokens.Read()
	if err != nil {
		return err
	}
	return r.SetTokens(in.own(s), issued)
}

// sameFile compares two looks at a file that is only ever replaced.
func sameFile(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before == nil && now == nil
	}
	return os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}

// certificate is the one that the listeners show, read from files.
type certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// openCertificate reads both files; it returns nil when none is named.
func openCertificate(certFile, keyFile string) (*certificate, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil
	case certFile == "" || keyFile == "":
		return nil, usagef("TLS needs both files: give --tls-cert and --tls-key")
	}
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if err := c.load(); err != nil {
		return nil, usage(err)
	}
	return c, nil
}

func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return errors.New("the TLS certificate and its key cannot be used: " + err.Error())
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // a websocket needs it
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
