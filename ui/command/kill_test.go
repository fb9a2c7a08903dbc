package command

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/relay"
)

// The long form of the test that kills:
//
//	go test ./ui/command -run WhenTheRelayIsKilled -kills 200 -v
var kills = flag.Int("kills", 4, "how often a relay that takes webhooks is killed; the long form is 200")

// sender posts events over connections of its own, each again and again until it
// is acknowledged, as the service does.
type sender struct {
	t      *testing.T
	name   string
	client http.Client

	mu           sync.Mutex
	url          string        // of the relay; empty while there is none
	moved        chan struct{} // closed when that changes
	acknowledged []string
	attempts     int
}

const senderConnections = 64

func newSender(t *testing.T, name string) *sender {
	return &sender{t: t, name: name, moved: make(chan struct{}), client: http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: senderConnections}, Timeout: 5 * time.Second,
	}}
}

// aim makes url the address that is posted to.
func (s *sender) aim(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = url
	close(s.moved)
	s.moved = make(chan struct{})
}

// target waits for an address; it is empty when ctx ends first.
func (s *sender) target(ctx context.Context) string {
	for {
		s.mu.Lock()
		url, moved := s.url, s.moved
		s.mu.Unlock()
		if url != "" {
			return url
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ""
		}
	}
}

// run posts over all connections until ctx ends.
func (s *sender) run(ctx context.Context) {
	defer s.client.CloseIdleConnections()
	var tasks sync.WaitGroup
	for connection := range senderConnections {
		tasks.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s.send(ctx, fmt.Sprintf("evt_%s_%d_%d", s.name, connection, n))
			}
		})
	}
	tasks.Wait()
}

// send posts one event until it is acknowledged or ctx ends.
func (s *sender) send(ctx context.Context, id string) {
	body := fmt.Sprintf(`{"id":"%s","object":"event","type":"shipment.updated","createdAt":"2026-06-18T14:02:00.000Z",`+
		`"source":{"type":"shipment","id":"shp_1"}}`, id)
	for {
		url := s.target(ctx)
		if url == "" {
			return
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+relay.WebhookPath, strings.NewReader(body))
		if err != nil {
			s.t.Error(err)
			return
		}
		request.Header.Set("x-svc-signature", signed(oldSecret, body))
		status := 0
		if answer, err := s.client.Do(request); err == nil {
			status = answer.StatusCode
			_ = answer.Body.Close()
		}
		s.mu.Lock()
		s.attempts++
		if status == http.StatusOK {
			s.acknowledged = append(s.acknowledged, id)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// expectKept checks that what was acknowledged is kept exactly once.
func (s *sender) expectKept(found map[string]kept) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.acknowledged {
		if k := found[id]; k.times != 1 || k.conflicts != 0 {
			s.t.Errorf("event %s was acknowledged and is kept %d times, with %d conflicts", id, k.times, k.conflicts)
		}
	}
}

func (s *sender) counts() (acknowledged, attempts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acknowledged), s.attempts
}

func TestNothingAcknowledgedIsLostWhenTheRelayIsKilled(t *testing.T) {
	t.Parallel()
	data, config := filepath.Join(t.TempDir(), "relay"), relayConfig(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := newSender(t, "killed")
	var tasks sync.WaitGroup
	tasks.Go(func() { s.run(ctx) })
	starting, working := 0, 0
	for range *kills {
		p, output := spawnRelay(t, data, "--config", config)
		kill := time.AfterFunc(rand.N(300*time.Millisecond), p.stop)
		if p.awaitReady(t, output) {
			s.aim(p.Listen)
			working++
		} else {
			starting++
		}
		<-p.gone
		s.aim("")
		kill.Stop()
		p.stop()
		if said := p.said.String(); strings.Contains(said, "lost") {
			t.Errorf("a loss is reported: %s", said)
		}
	}
	p := startRelayProcess(t, data, "--config", config)
	s.aim(p.Listen)
	before, _ := s.counts()
	eventually(t, "the relay goes on", func() bool { after, _ := s.counts(); return after > before })
	stop()
	tasks.Wait()
	found, _ := p.everything(t, eventsToken)
	s.expectKept(found)
	acknowledged, attempts := s.counts()
	again := 0
	for _, k := range found {
		again += k.dups
	}
	t.Logf("%d kills, %d of them while starting: %d events acknowledged in %d attempts, %d stored, %d of them again after an answer that was lost",
		starting+working, starting, acknowledged, attempts, len(found), again)
}
