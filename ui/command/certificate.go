package command

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/ui/config"
)

// certificate is a listener's TLS certificate. It is read again when its files have changed.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	read    [2]time.Time // when the files were last changed that were last read
	current *tls.Certificate
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

// load reads the files if they have changed since they were last read.
func (c *certificate) load() error {
	var changed [2]time.Time
	for i, path := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			changed[i] = info.ModTime()
		}
	}
	if c.current != nil && changed == c.read {
		return nil
	}
	c.read = changed
	chain, err := config.ReadFile(c.certFile, api.FileText)
	key, unread := config.ReadFile(c.keyFile, api.FileText)
	var pair tls.Certificate
	if err = cmp.Or(err, unread); err == nil {
		pair, err = tls.X509KeyPair(chain, key)
	}
	if err != nil {
		return fmt.Errorf("the TLS certificate %s or its key %s cannot be used: %w", c.certFile, c.keyFile, err)
	}
	c.current = &pair
	return nil
}

// config is for a listener. An unusable certificate is logged, and the one before it stays.
func (c *certificate) config(log *slog.Logger) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}, // websockets need HTTP/1.1
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if err := c.load(); err != nil {
				log.Error("keeping the old certificate", slog.String("error", err.Error()))
			}
			return c.current, nil
		},
	}
}
