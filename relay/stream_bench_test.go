package relay

import (
	"context"
	"net"
	"strconv"
	"testing"

	"tillwatch/relay/journal"
)

// BenchmarkReplay reads a journal through the stream from its beginning.
func BenchmarkReplay(b *testing.B) {
	j := openSQLite(b)
	for n := 0; n < b.N; n += 500 {
		var entries []journal.Entry
		for i := n; i < min(n+500, b.N); i++ {
			entries = append(entries, journal.Entry{ID: strconv.Itoa(i), Type: "a", Origin: journal.Webhook, Body: padded(i, 400)})
		}
		if _, err := j.Append(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	r := newTestRelay(b, j, nil)
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	c := newCollector()
	b.ReportAllocs()
	b.ResetTimer()
	run(b, newTestSubscriber(b, SubscriberConfig{URL: "http://" + listener.Addr().String()}), c)
	c.awaitItems(b, b.N)
	b.StopTimer()
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// BenchmarkFanOut posts one event at a time: an operation lasts until every
// subscriber, in this process and with all that it does, has it.
func BenchmarkFanOut(b *testing.B) {
	for _, subscribers := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) { benchmarkFanOut(b, subscribers) })
	}
}

func benchmarkFanOut(b *testing.B, subscribers int) {
	j := openSQLite(b)
	r := newTestRelay(b, j, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()
	arrived := make(chan struct{}, subscribers)
	for range subscribers {
		c := &arrivals{newCollector(), arrived}
		run(b, newTestSubscriber(b, SubscriberConfig{URL: "http://" + listener.Addr().String()}), c)
		c.awaitState(b, Live)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		deliver(b, r.Handler(), n, n)
		for range subscribers {
			<-arrived
		}
	}
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// arrivals reports each event that came.
type arrivals struct {
	*collector
	arrived chan<- struct{}
}

func (a *arrivals) Events(_ context.Context, batch []Item) error {
	for range batch {
		a.arrived <- struct{}{}
	}
	return nil
}
