package simulator

import (
	"context"
	"crypto/rand"
	"net"

	"tillwatch/api"
)

// TB is the part of [testing.TB] that [Start] needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Started is a stand-in that runs until the end of a test.
type Started struct {
	*Simulator
	URL           string // base URL of the API
	Key           string // an API key that may do everything
	SigningSecret string // for the webhooks
}

// Start runs a stand-in on a free port until the test ends. It is empty, and nothing
// happens in it by itself; with its fixed seed, the same calls give the same ids and
// events. change may change the configuration before it starts.
func Start(t TB, change ...func(*Config)) *Started {
	t.Helper()
	s := &Started{Key: "staging-" + rand.Text(), SigningSecret: rand.Text()}
	config := Config{
		Key: api.NewSecret(s.Key), SigningSecret: api.NewSecret(s.SigningSecret), Seed: 1, History: -1, Timings: Timings{Spread: -1},
	}
	for _, c := range change {
		c(&config)
	}
	s.Key, s.SigningSecret = config.Key.Reveal(), config.SigningSecret.Reveal()
	var err error
	if s.Simulator, err = New(config); err != nil {
		t.Fatalf("starting a stand-in: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting a stand-in: %v", err)
	}
	s.URL = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Errorf("the stand-in ended with: %v", err)
			}
		}
	})
	return s
}
