package command

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/simulator"
)

const (
	accountKey = "a-key-of-the-tests"
	apiHost    = "api.example"
	relayHost  = "relay.example"
)

// onARealAccount has the addresses of the README lead to a stand-in and to the README's own relay.
func (r *readme) onARealAccount(t *testing.T) {
	secrets := filepath.Join(r.home, ".secrets")
	if err := os.Mkdir(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(secrets, "checkout-key"), accountKey+"\n")
	writeFile(t, filepath.Join(secrets, "relay-token"), eventsToken+"\n")
	writeFile(t, filepath.Join(secrets, "signing-secret"), oldSecret+"\n")
	relay := r.run(t, "", "go run . relay --listen")
	relay.says("relay ready on http://")
	signed := r.beOnline(t)
	account := r.find(t, "go run .").exports

	board := r.run(t, "", "go run .")
	status, spent := r.once(t, account, "go run . status --json"), r.once(t, account, "go run . quota --json")
	board.shows(apiHost, "live", "READ-ONLY", "LIVE")
	follow := r.run(t, account, "go run . events --follow --json")
	follow.says(`"type":"checkout_intent.`)
	follow.ends(interruptKey)
	r.once(t, account, "go run . events evt_ci_").ends("", "awaiting_confirmation")
	proxy := r.run(t, account, "go run . proxy")
	proxy.says("proxy ready on http://"+r.local(":7440"), "for https://"+apiHost)
	passing := &relayed{ready: ready{Listen: "http://" + r.local(":7440")}}
	eventually(t, "the proxy passes a request", func() bool { // the others may have used up the second
		return passing.get(t, "/api/v1/shipments", accountKey) == http.StatusOK
	})
	proxy.ends(interruptKey)
	forward := r.run(t, r.find(t, "go run . relay --listen").exports+account, "go run . forward --to")
	select {
	case <-signed:
	case <-r.context.Done():
		t.Fatal(context.Cause(r.context))
	case <-time.After(patience):
		t.Fatalf("nothing is forwarded:\n%s", forward.said())
	}
	forward.ends(interruptKey)
	status.ends("", `"alerts":[`, `"settled":`)
	spent.ends("", `"limits":[{"name":"reads"`)
	board.ends("q")
	relay.ends(interruptKey)
}

// beOnline has the two hosts of the README lead here, by TLS and through a proxy: one to a stand-in for the service,
// which posts its webhooks to the README's relay, the other to that relay. An integration listens where the README
// forwards events to; signed is closed once it was sent one with a right signature.
func (r *readme) beOnline(t *testing.T) (signed <-chan struct{}) {
	t.Helper()
	receiver := "http://" + r.local(":7430")
	service, err := simulator.New(simulator.Config{
		Key: api.NewSecret(accountKey), SigningSecret: api.NewSecret(oldSecret), WebhookURL: receiver + "/webhooks",
		Seed: 1, IntentsPerMinute: 30, History: 10, Timings: simulator.Timings{Offer: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
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
	hosts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Host == relayHost {
			relay.ServeHTTP(w, request)
			return
		}
		service.Handler().ServeHTTP(w, request)
	}))
	authority, key := filepath.Join(t.TempDir(), "authority.pem"), filepath.Join(t.TempDir(), "key.pem")
	newCertificate(t, authority, key, 1, apiHost, relayHost)
	certificate, err := tls.LoadX509KeyPair(authority, key)
	if err != nil {
		t.Fatal(err)
	}
	hosts.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	hosts.StartTLS()
	t.Cleanup(func() {
		hosts.CloseClientConnections() // websockets, too
		hosts.Close()
	})
	proxy := httptest.NewServer(leadTo(ctx, &tasks, hosts.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	r.vars = append(r.vars, "HTTPS_PROXY="+proxy.URL, "SSL_CERT_FILE="+authority)
	return r.integrate(t)
}

// leadTo is a proxy for CONNECT that leads from the two hosts to one address.
func leadTo(ctx context.Context, tasks *sync.WaitGroup, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodConnect || request.Host != apiHost+":443" && request.Host != relayHost+":443" {
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

// postDocumented delivers the event that the README asks for.
func postDocumented(t *testing.T, receiver string) {
	t.Helper()
	const body = `{"id":"evt_ci_779d1ba1900f41e1ace4536c64382ed7_awaiting_confirmation","object":"event",` +
		`"type":"checkout_intent.offer_retrieved","createdAt":"2026-04-21T03:27:50.000Z",` +
		`"source":{"type":"checkout_intent","id":"ci_779d1ba1900f41e1ace4536c64382ed7"}}`
	relay := &relayed{ready: ready{Listen: receiver}}
	if status := relay.post(t, http.DefaultClient, oldSecret, body); status != http.StatusOK {
		t.Fatalf("the relay answers %d to a delivery", status)
	}
}

// integrate is the endpoint that somebody writes.
func (r *readme) integrate(t *testing.T) <-chan struct{} {
	t.Helper()
	got := make(chan struct{})
	note := sync.OnceFunc(func() { close(got) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		right := request.URL.Path == "/webhooks" && request.Header.Get("x-svc-signature") == signed(oldSecret, string(body))
		if err != nil || !right {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		note()
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r.replaced = append(r.replaced, ":3000", ":"+port)
	return got
}
