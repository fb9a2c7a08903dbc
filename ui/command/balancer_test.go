package command

import (
	"context"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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

// balancer passes requests on to servers in turn, each over a connection of its own. A server that does not take a
// connection is left out, as a balancer does that asks for their health.
type balancer struct {
	url     string
	mu      sync.Mutex
	servers []string
	next    int
}

func newBalancer(t *testing.T, servers ...*process) *balancer {
	t.Helper()
	b := &balancer{}
	for _, s := range servers {
		b.servers = append(b.servers, strings.TrimPrefix(s.Listen, "http://"))
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "relay"})
	proxy.Transport = &http.Transport{DisableKeepAlives: true, DialContext: b.dial}
	proxy.ErrorLog = log.New(io.Discard, "", 0) // of what was under way at a kill
	server := httptest.NewServer(proxy)
	b.url = server.URL
	t.Cleanup(server.Close)
	return b
}

// replace names another server in the place of one.
func (b *balancer) replace(place int, s *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers[place] = strings.TrimPrefix(s.Listen, "http://")
}

func (b *balancer) dial(ctx context.Context, network, _ string) (c net.Conn, err error) {
	b.mu.Lock()
	servers, at := slices.Clone(b.servers), b.next
	b.next++
	b.mu.Unlock()
	for i := range servers {
		if c, err = new(net.Dialer).DialContext(ctx, network, servers[(at+i)%len(servers)]); err == nil {
			break
		}
	}
	return c, err
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
