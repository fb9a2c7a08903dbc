package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// newCertificate writes a self-signed certificate for loopback.
func newCertificate(t *testing.T, certFile, keyFile string, serial int64) *x509.CertPool {
	t.Helper()
	return newCertificateFor(t, certFile, keyFile, serial, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// newCertificateFor is newCertificate with times of its own.
func newCertificateFor(t *testing.T, certFile, keyFile string, serial int64, from, to time.Time) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "relay"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	writeFile(t, certFile, string(certificate))
	writeFile(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

func TestTLSIsServedFromFilesThatAreReadAgainOnHangup(t *testing.T) {
	dir := isolate(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := newCertificate(t, certFile, keyFile, 1)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	r := startRelayService(t, filepath.Join(dir, "relay"), "--tls-cert", certFile, "--tls-key", keyFile, "--admin-listen", "127.0.0.1:0")
	if !strings.HasPrefix(r.Listen, "https://") || !strings.HasPrefix(r.AdminListen, "https://") {
		t.Errorf("the ready line names %s and %s", r.Listen, r.AdminListen)
	}
	trusting := func(pool *x509.CertPool) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	}
	if status := r.post(t, trusting(pool), oldSecret, eventOf(1, "shipment.created")); status != 200 {
		t.Errorf("a delivery over TLS: %d", status)
	}
	pool = newCertificate(t, certFile, keyFile, 2)
	r.hangUp(t)
	shows(t, r.Listen+"/livez", pool, 2)
}

// shows waits until the certificate with this serial number is shown.
func shows(t *testing.T, address string, pool *x509.CertPool, serial int64) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	eventually(t, "the new certificate is shown", func() bool {
		answer, err := client.Get(address)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.TLS.PeerCertificates[0].SerialNumber.Int64() == serial
	})
}

func TestAProxyShowsARenewedCertificateWithoutBeingTold(t *testing.T) {
	dir := isolate(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := newCertificate(t, certFile, keyFile, 1)
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	at, _, stop := proxied(t, "--api-url", service.URL, "--tls-cert", certFile, "--tls-key", keyFile)
	defer stop()
	shows(t, at.Listen, pool, 1)
	pool = newCertificate(t, certFile, keyFile, 2)
	shows(t, at.Listen, pool, 2)
}

// TestACertificateThatClientsRefuseIsWarnedOf lets ten days pass from the start.
func TestACertificateThatClientsRefuseIsWarnedOf(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name     string
		from, to time.Duration
		warnings []string // of the first, the third and the tenth day
	}{
		{"it has expired", -2 * day, -day, []string{"has expired", "has expired", "has expired"}},
		{"it is not valid yet", 36 * time.Hour, 90 * day, []string{"not valid yet", "", ""}},
		{"it expires while it is used", -day, 8 * day, []string{"", "expires soon", "has expired"}},
		{"it is good", -day, 90 * day, []string{"", "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := isolate(t)
			synctest.Test(t, func(t *testing.T) {
				certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
				newCertificateFor(t, certFile, keyFile, 1, time.Now().Add(test.from), time.Now().Add(test.to))
				c, err := openCertificate(certFile, keyFile)
				if err != nil {
					t.Fatal(err)
				}
				said := &utterances{}
				stop := background(t.Context(), func(ctx context.Context) { c.warnDaily(ctx, logger(said, false)) })
				for passed, day := 0, 0; day <= 9; day++ {
					synctest.Wait()
					if at := slices.Index([]int{0, 2, 9}, day); at >= 0 {
						if text := said.String()[passed:]; (text == "") != (test.warnings[at] == "") || !strings.Contains(text, test.warnings[at]) {
							t.Errorf("on day %d it says %q, want %q", day+1, text, test.warnings[at])
						}
					}
					passed = len(said.String())
					time.Sleep(24 * time.Hour)
				}
				stop()
			})
		})
	}
}

// What the start has said is not said again by the watch over the files, which begins with reading them.
func TestAnExpiredCertificateIsWarnedOfOnceAtTheStart(t *testing.T) {
	dir := isolate(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	newCertificateFor(t, certFile, keyFile, 1, time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour))
	c, err := openCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	said, before := &utterances{}, c.current.Load()
	stop := background(t.Context(), func(ctx context.Context) { _ = c.follow(ctx, logger(said, false)) })
	eventually(t, "the files are read", func() bool { return c.current.Load() != before })
	stop()
	if text := said.String(); text != "" {
		t.Errorf("it says %q, too", text)
	}
}
