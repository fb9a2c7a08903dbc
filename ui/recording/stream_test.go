package recording

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

// pipe takes lines until its reader leaves.
type pipe struct {
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
	left   bool
}

func (p *pipe) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return 0, syscall.EPIPE
	}
	p.writes++
	return p.text.Write(line)
}

// streamed streams a picture while a test changes it.
func streamed(t *testing.T, out *pipe, change func(s *stage)) (s *stage, err error) {
	s = newStage(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Stream(ctx, s.store, form.Header{Environment: "simulator"}, out) }()
	synctest.Wait()
	change(s)
	s.pass(time.Second)
	s.end()
	cancel()
	return s, <-ended
}

func TestAStreamPlaysAsTheLivePicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &pipe{}
		s, err := streamed(t, out, func(s *stage) {
			for i, state := range api.IntentStates() {
				s.read("ci_1", state, "")
				s.event(api.OfferRetrieved, api.SourceIntent, "ci_2")
				s.shipment("shp_1", api.Shipped)
				s.spend(int64(i))
				s.pass(time.Second)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		text := out.text.String()
		if n := strings.Count(text, "\n"); n != out.writes || strings.Count(text, `"whole":true`) != 1 || !strings.HasSuffix(text, `"end":"closed"}`+"\n") {
			t.Errorf("%d lines in %d writes:\n%s", n, out.writes, text)
		}
		f, err := index(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		p := newPlayer(f, PlayerConfig{Paused: true})
		for p.Advance() {
		}
		requireSame(t, asTold(t, s.store), asTold(t, p))
		if flaws := p.Flaws(); flaws != "" {
			t.Error(flaws)
		}
		// A line that was half written when the process died is tolerated and said.
		torn := text[:len(text)*2/3]
		f, err = index(strings.NewReader(torn), int64(len(torn)))
		if err != nil {
			t.Fatal(err)
		}
		if p := newPlayer(f, PlayerConfig{Paused: true}); !strings.Contains(p.Flaws(), "cut off") || len(f.changes) < 2 {
			t.Errorf("%d changes, flaws %q", len(f.changes), p.Flaws())
		}
	})
}

func TestAStreamEndsWhenItsReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &pipe{}
		_, err := streamed(t, out, func(s *stage) {
			s.read("ci_1", api.AwaitingConfirmation, "")
			s.pass(time.Second)
			out.mu.Lock()
			out.left = true
			out.mu.Unlock()
			s.read("ci_1", api.PlacingOrder, "")
		})
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("error %v, want that the pipe is closed", err)
		}
	})
}

func TestNothingOfABuyerIsInAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &pipe{}
		_, err := streamed(t, out, func(s *stage) {
			s.read("ci_1", api.Failed, `,"failureReason":{"code":"payment_failed","message":"tok_live_do_not_tell of Annabel is refused"}`)
			s.shipment("shp_1", api.Shipped)
			s.store.SetFeed(account.FeedStatus{State: account.FeedLost, Err: errors.New("dial wss://relay.example/?token=relay-token-77")})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"tok_live", "Annabel", "Quillfeather", "annabel@", "Larkspur", "003404341610", "relay-token"} {
			if strings.Contains(out.text.String(), secret) {
				t.Errorf("%q is revealed", secret)
			}
		}
	})
}
