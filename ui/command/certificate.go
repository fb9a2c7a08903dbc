package command

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
)

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
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("the TLS certificate %s or its key %s cannot be used: %w", c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	return nil
}

// follow reads the files again whenever they change, until ctx ends. It keeps the old
// certificate if the new one is unusable.
func (c *certificate) follow(ctx context.Context, log *slog.Logger) error {
	paths := []string{c.certFile, c.keyFile}
	return followFiles(ctx, paths, func() []string {
		if err := c.load(); err != nil {
			log.Error("the new TLS certificate is unusable, keeping the old one", slog.String("error", err.Error()))
		}
		return paths
	})
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // websockets need HTTP/1.1
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
