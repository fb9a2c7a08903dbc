package command

import (
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
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newCertificate writes a self-signed certificate for loopback and hosts.
func newCertificate(t *testing.T, certFile, keyFile string, serial int64, hosts ...string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "relay"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127,
			0, 0, 1)},
		DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
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

func TestTLSIsServedFromFilesThatAreReadAgain(t *testing.T) {
	dir := isolate(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := newCertificate(t, certFile, keyFile, 1)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	r := startRelayService(t, filepath.Join(dir, "relay"), "--tls-cert", certFile, "--tls-key", keyFile,
		"--admin-listen", "127.0.0.1:0")
	if !strings.HasPrefix(r.Listen, "https://") || !strings.HasPrefix(r.AdminListen, "https://") {
		t.Errorf("the ready line names %s and %s", r.Listen, r.AdminListen)
	}
	trusting := func(pool *x509.CertPool) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool},
			DisableKeepAlives: true}}
	}
	if status := r.post(t, trusting(pool), oldSecret, eventOf(1, "shipment.created")); status != 200 {
		t.Errorf("a delivery over TLS: %d", status)
	}
	other := newCertificate(t, certFile, keyFile, 2)
	shows(t, r.Listen+"/livez", other, 2)
	writeFile(t, certFile, "no certificate")
	eventually(t, "the failure is told", func() bool {
		shows(t, r.AdminListen+"/livez", other, 2)
		return strings.Contains(r.said.String(), "keeping the old certificate")
	})
}

// shows waits until the certificate with this serial number is shown.
func shows(t *testing.T, address string, pool *x509.CertPool, serial int64) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool},
		DisableKeepAlives: true}}
	eventually(t, "the new certificate is shown", func() bool {
		answer, err := client.Get(address)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.TLS.PeerCertificates[0].SerialNumber.Int64() == serial
	})
}
