//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

const (
	accountKey    = "a-key-of-the-tests"
	documentedID  = "evt_ci_779d1ba1900f41e1ace4536c64382ed7_awaiting_confirmation"
	apiHost       = "api.example"
	relayHost     = "relay.example"
	signatureName = "x-svc-signature"
)

// beOnline has the two hosts of the README lead here, by TLS and through a proxy:
// one to a stand-in for the service, which posts its webhooks to the receiver, the
// other to the receiver. It returns the variables that make a process believe it.
func (r *readme) beOnline(t *testing.T, receiver string) (environment []string) {
	t.Helper()
	service, err := simulator.New(simulator.Config{
		Key: api.NewSecret(accountKey), SigningSecret: api.NewSecret(secret), WebhookURL: receiver + "/webhooks",
		Seed: 1, IntentsPerMinute: 30, History: 10, Timings: simulator.Timings{Offer: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		tasks.Wait()
	})
	tasks.Go(func() { _ = service.Run(ctx) })
	postDocumented(t, receiver)

	to, err := url.Parse(receiver)
	if err != nil {
		t.Fatal(err)
	}
	relay := httputil.NewSingleHostReverseProxy(to)
	hosts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Host == relayHost {
			relay.ServeHTTP(w, req)
			return
		}
		service.Handler().ServeHTTP(w, req)
	}))
	certificate, authority := certify(t, apiHost, relayHost)
	hosts.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	hosts.StartTLS()
	t.Cleanup(func() {
		hosts.CloseClientConnections() // websockets, too
		hosts.Close()
	})
	proxy := httptest.NewServer(tunnel(ctx, &tasks, hosts.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + authority}
}

// tunnel is a proxy for CONNECT that leads everywhere to one address.
func tunnel(ctx context.Context, tasks *sync.WaitGroup, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodConnect || req.Host != apiHost+":443" && req.Host != relayHost+":443" {
			http.Error(w, "there is no such host", http.StatusBadGateway)
			return
		}
		there, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		hangUp := sync.OnceFunc(func() {
			_ = here.Close()
			_ = there.Close()
		})
		context.AfterFunc(ctx, hangUp)
		tasks.Go(func() {
			defer hangUp()
			_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
			_, _ = io.Copy(here, there)
		})
		tasks.Go(func() {
			defer hangUp()
			_, _ = io.Copy(there, buffered)
		})
	})
}

// certify makes a certificate for hosts, which is its own authority, and writes
// that to a file.
func certify(t *testing.T, hosts ...string) (certificate tls.Certificate, authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: hosts, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	authority = filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, authority
}

// postDocumented delivers the event that the README asks for.
func postDocumented(t *testing.T, receiver string) {
	t.Helper()
	const body = `{"id":"` + documentedID + `","object":"event","type":"checkout_intent.offer_retrieved",` +
		`"createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"checkout_intent","id":"ci_779d1ba1900f41e1ace4536c64382ed7"}}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, receiver+"/webhooks", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(signatureName, signature([]byte(body)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the relay answers %s to a delivery", answer.Status)
	}
}

func signature(body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// receive is the endpoint that somebody writes. The channel is closed once it was
// sent an event with a right signature.
func (r *readme) receive(t *testing.T) (got <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1"+r.port(":3000"))
	if err != nil {
		t.Fatal(err)
	}
	signed := make(chan struct{})
	note := sync.OnceFunc(func() { close(signed) })
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil || req.URL.Path != "/webhooks" || req.Header.Get(signatureName) != signature(body) {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		note()
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return signed
}

// listenOn is the port if it is free on this machine, else one that is.
func listenOn(t *testing.T, port string) (free string) {
	t.Helper()
	for _, address := range []string{port, ":0"} {
		if listener, err := net.Listen("tcp", address); err == nil {
			_, number, _ := net.SplitHostPort(listener.Addr().String())
			_ = listener.Close()
			return ":" + number
		}
	}
	t.Fatal("no port is free")
	return ""
}
