package relay

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func dialForEver(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The end of a bubble waits for each of its goroutines, so that one that stays
// fails the test.
func TestASubscriberEndsAtOnceInEveryState(t *testing.T) {
	const times = 100
	fails := func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }
	events := func(p *peer) {
		for seq := int64(1); ; seq++ {
			item := wireItem{Seq: seq, ID: "evt", Type: "a", Raw: eventBody(int(seq))}
			if p.socket.WriteJSON(map[string]any{"t": frameEvents, "items": []wireItem{item}}) != nil {
				return
			}
			<-time.After(rand.N(time.Millisecond))
		}
	}
	for _, test := range []struct {
		name   string
		state  StreamState
		dial   func(context.Context, string, string) (net.Conn, error)
		script func(p *peer, _ int)
	}{
		{name: "dialling", state: Dialling, dial: dialForEver},
		{name: "in a handshake that stalls", state: Dialling, dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }() // until the other end is closed
			return here, nil
		}},
		{name: "waiting for a welcome", state: Dialling, script: func(p *peer, _ int) { _ = p.closed() }},
		{name: "backing off", state: Lost, dial: fails},
		{name: "replaying", state: Replaying, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			events(p)
		}},
		{name: "live", state: Live, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			p.send(liveFrame{T: frameLive, Cursor: "epoch:0"})
			_ = p.closed()
		}},
		{name: "live under load", state: Live, script: func(p *peer, _ int) {
			p.send(goodWelcome)
			p.send(liveFrame{T: frameLive, Cursor: "epoch:0"})
			events(p)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := test.dial
				if dial == nil {
					dial = actor(t, test.script).dial
				}
				for range times {
					c := newCollector()
					stop := run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: dial}), c)
					c.awaitState(t, test.state)
					<-time.After(rand.N(5 * time.Millisecond))
					began := time.Now()
					stop()
					if waited := time.Since(began); waited != 0 {
						t.Errorf("ended after %v", waited)
					}
				}
				<-time.After(time.Second) // the actor notices
			})
		})
	}
}
