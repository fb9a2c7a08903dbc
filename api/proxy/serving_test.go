package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestClientsThatReadNothingDoNotHoldUpTheEndOneAfterAnother(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{Upstream: "http://127.0.0.1:1", TLS: certified.TLS.Clone()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		toClient, served := newPipes(), make(chan error)
		go func() { served <- p.Serve(ctx, toClient) }()
		for range 20 {
			conn, _ := toClient.dial(ctx, "", "")
			defer conn.Close()
			client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
			if err := client.HandshakeContext(ctx); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > lastRequests+5*time.Second { // as long as crypto/tls tries to say goodbye
			t.Errorf("it took %v to end", took)
		}
	})
}

func TestARequestOnItsWayAtTheEndIsAnsweredAndTheLastOfItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toService, toClient := newPipes(), newPipes()
		upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "done") })}
		served := make(chan error, 2)
		go func() { served <- upstream.Serve(toService) }()
		p, err := New(Config{Upstream: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		p.service.DialContext = toService.dial
		ctx, end := context.WithCancel(t.Context())
		go func() { served <- p.Serve(ctx, toClient) }()
		silent, _ := toClient.dial(ctx, "", "")
		defer silent.Close()
		asking, _ := toClient.dial(ctx, "", "")
		defer asking.Close()
		synctest.Wait()
		began := time.Now()
		end()
		synctest.Wait()
		time.Sleep(50 * time.Millisecond) // the way of the request
		if _, err := io.WriteString(asking, "POST /api/v1/checkout-intents HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal("a request that was on its way:", err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(asking), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); string(body) != "done" || err != nil || !answer.Close {
			t.Errorf("answered %q, %v; the connection closes: %v", body, err, answer.Close)
		}
		asking.Close()
		if err := <-served; err != nil || time.Since(began) > time.Second {
			t.Errorf("it ended after %v: %v", time.Since(began), err)
		}
		if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a client that asks nothing reads %v, want the end", err)
		}
		if err := upstream.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		<-served
	})
}

func TestAClientThatComesAtTheEndIsNotOneTooMany(t *testing.T) {
	var log words
	p, err := New(Config{Upstream: "http://127.0.0.1:1", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.failures.Close()
	if err := p.clients.end(time.Minute); err != nil {
		t.Fatal(err)
	}
	toClient, accepted := newPipes(), make(chan error)
	go func() { accepted <- p.accept(t.Context(), toClient) }()
	client, _ := toClient.dial(t.Context(), "", "")
	if _, err := client.Read(make([]byte, 1)); err == nil || log.String() != "" {
		t.Errorf("%v; %s", err, log.String())
	}
	toClient.Close()
	<-accepted
}
