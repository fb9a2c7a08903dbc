package proxy

import (
	"context"
	"crypto/tls"
	"log/slog"
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
		if took := time.Since(began); took > 5*time.Second { // as long as crypto/tls tries to say goodbye
			t.Errorf("it took %v to end", took)
		}
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
