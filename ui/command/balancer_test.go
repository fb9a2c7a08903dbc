package command

import (
	"context"
	"flag"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tillwatch/api"
	"tillwatch/relay"
)

// The long form of the test of two relays:
//
//	go test ./ui/command -run BehindABalancer -balanced-kills 20 -v
var balancedKills = flag.Int("balanced-kills", 2, "how often one of two relays on a database is killed; the long form is 20")

// balancer passes connections on to servers in turn. One that does not take a
// connection is left out, as a balancer does that asks for their health.
type balancer struct {
	url   string
	tasks sync.WaitGroup

	mu      sync.Mutex
	servers []string
	next    int
	open    map[net.Conn]struct{}
}

func newBalancer(t *testing.T, servers ...*process) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{url: address(listener), open: map[net.Conn]struct{}{}}
	for _, s := range servers {
		b.servers = append(b.servers, strings.TrimPrefix(s.Listen, "http://"))
	}
	b.tasks.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			b.tasks.Go(func() { b.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		b.mu.Lock()
		for c := range b.open {
			_ = c.Close()
		}
		b.mu.Unlock()
		b.tasks.Wait()
	})
	return b
}

// replace names another server in the place of one.
func (b *balancer) replace(place int, s *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = slices.Clone(b.servers)
	b.servers[place] = strings.TrimPrefix(s.Listen, "http://")
}

// pass connects c with the next server that takes it, until either side ends.
func (b *balancer) pass(c net.Conn) {
	defer c.Close()
	server := b.dial()
	if server == nil {
		return
	}
	defer server.Close()
	b.hold(true, c, server)
	defer b.hold(false, c, server)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, server}, {server, c}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // that it ends is all there is to know
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}

func (b *balancer) dial() net.Conn {
	b.mu.Lock()
	servers, at := b.servers, b.next
	b.next++
	b.mu.Unlock()
	for i := range servers {
		if server, err := net.Dial("tcp", servers[(at+i)%len(servers)]); err == nil {
			return server
		}
	}
	return nil
}

func (b *balancer) hold(open bool, all ...net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range all {
		if delete(b.open, c); open {
			b.open[c] = struct{}{}
		}
	}
}

// follower keeps the sequence numbers and ids that a subscriber gets.
type follower struct {
	mu     sync.Mutex
	seqs   []int64
	ids    map[string]int
	resets int
}

func (f *follower) Events(_ context.Context, batch []relay.Item) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, item := range batch {
		f.seqs = append(f.seqs, item.Seq)
		f.ids[string(item.Event.ID)]++
	}
	return nil
}

func (f *follower) Status(s relay.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.Resume == relay.ResumeReset || s.Resume == relay.ResumeGap {
		f.resets++
	}
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seqs)
}

func TestOneOfTwoRelaysBehindABalancerIsKilledAndNothingIsLostOrDoubled(t *testing.T) {
	dsn := postgresSchema(t)
	dir := isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", oldSecret)
	t.Setenv("TILLWATCH_POSTGRES", dsn)
	token := createToken(t, "--scope", "stream,read")
	data := func(name string) string { return filepath.Join(dir, name) }
	relays := []*process{startRelayProcess(t, data("one")), startRelayProcess(t, data("other"))}
	b := newBalancer(t, relays...)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	subscriber, err := relay.NewSubscriber(relay.SubscriberConfig{URL: b.url, Token: api.NewSecret(token), From: relay.FromEarliest})
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{ids: map[string]int{}}
	var following, sending sync.WaitGroup
	following.Go(func() {
		if err := subscriber.Run(ctx, f); err != nil {
			t.Error(err)
		}
	})
	s := newSender(t, "balanced")
	sendingFor, sent := context.WithCancel(ctx)
	sending.Go(func() { s.run(sendingFor) })
	s.aim(b.url)
	more := func(when string) {
		t.Helper()
		before, _ := s.counts()
		eventually(t, when, func() bool { now, _ := s.counts(); return now > before+300 && f.count() > before })
	}
	more("both take events")
	for n := range *balancedKills {
		victim := &relays[n%2]
		(*victim).stop()
		more("the other goes on alone")
		*victim = startRelayProcess(t, (*victim).data)
		b.replace(n%2, *victim)
		more("both are there again")
	}
	relays[0].stop()
	more("the last one goes on alone")
	sent()
	sending.Wait()

	// What was under way when the sender left is stored, but not acknowledged.
	found, _ := relays[1].everything(t, token)
	eventually(t, "the subscriber has what is stored", func() bool {
		found, _ = relays[1].everything(t, token)
		return f.count() == len(found)
	})
	s.expectKept(found)
	stop()
	following.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, seq := range f.seqs {
		if seq != int64(i+1) {
			t.Fatalf("the subscriber got event %d where %d should be", seq, i+1)
		}
	}
	if len(f.seqs) != len(found) || len(f.ids) != len(found) || f.resets > 0 {
		t.Errorf("the subscriber got %d events of %d ids, %d are stored; it started over %d times", len(f.seqs), len(f.ids), len(found), f.resets)
	}
	acknowledged, attempts := s.counts()
	t.Logf("%d events acknowledged in %d attempts, %d stored, %d received", acknowledged, attempts, len(found), len(f.seqs))
}

// createToken makes a token of the configured relays.
func createToken(t *testing.T, args ...string) string {
	t.Helper()
	var out, said strings.Builder
	all := append([]string{"tokens", "create", "--name", "a"}, args...)
	if code := run(t.Context(), all, strings.NewReader(""), &out, &said); code != exitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, &said)
	}
	return strings.TrimSpace(out.String())
}
