package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"tillwatch/api"
	"tillwatch/ui/config"
)

// expiresSoon is how long before its end a certificate is warned of.
const expiresSoon = 7 * 24 * time.Hour

// certificate is the listeners' TLS certificate, read from files.
type certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// openCertificate reads both files. It returns nil if neither is named.
func openCertificate(certFile, keyFile string) (*certificate, error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil
	case certFile == "" || keyFile == "":
		return nil, usagef("TLS needs both --tls-cert and --tls-key")
	}
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if err := c.load(); err != nil {
		return nil, usage(err)
	}
	return c, nil
}

func (c *certificate) load() error {
	chain, err := config.ReadFile(c.certFile, api.FileText)
	key, unread := config.ReadFile(c.keyFile, api.FileText)
	var pair tls.Certificate
	if err = cmp.Or(err, unread); err == nil {
		pair, err = tls.X509KeyPair(chain, key)
	}
	if err != nil {
		return fmt.Errorf("the TLS certificate %s or its key %s cannot be used: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	return nil
}

// follow reads the files again whenever they change, until ctx ends. It keeps the old
// certificate if the new one is unusable. It does not repeat what warnDaily says at the start.
func (c *certificate) follow(ctx context.Context, log *slog.Logger) error {
	paths, started := []string{c.certFile, c.keyFile}, false
	config.Follow(ctx, paths, func() []string {
		if err := c.load(); err != nil {
			log.Error("the new TLS certificate is unusable, keeping the old one", slog.String("error", err.Error()))
		}
		if started {
			c.warn(log)
		}
		started = true
		return paths
	})
	return nil
}

// warnDaily is [certificate.warn] at once and once a day until ctx ends.
func (c *certificate) warnDaily(ctx context.Context, log *slog.Logger) {
	for c.warn(log); api.Sleep(ctx, 24*time.Hour) == nil; {
		c.warn(log)
	}
}

// warn logs that clients refuse the certificate, or will within a week.
func (c *certificate) warn(log *slog.Logger) {
	now, of := time.Now(), c.current.Load().Leaf
	file := slog.String("certificate", c.certFile)
	switch {
	case now.Before(of.NotBefore):
		log.Warn("the TLS certificate is not valid yet: clients refuse it", file, slog.Time("valid_from", of.NotBefore))
	case now.After(of.NotAfter):
		log.Warn("the TLS certificate has expired: clients refuse it", file, slog.Time("expired", of.NotAfter))
	case now.Add(expiresSoon).After(of.NotAfter):
		log.Warn("the TLS certificate expires soon", file, slog.Time("expires", of.NotAfter))
	}
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // websockets need HTTP/1.1
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
