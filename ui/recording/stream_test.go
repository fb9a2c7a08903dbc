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
		if n := strings.Count(text, "\n"); n != out.writes || strings.Count(text, `"whole":true`) != 1 ||
			!strings.HasSuffix(text, `"end":"closed"}`+"\n") {
			t.Errorf("%d lines in %d writes:\n%s", n, out.writes, text)
		}
		p := newPlayer(reads(t, []byte(text)), PlayerConfig{Paused: true})
		for p.Advance() {
		}
		requireSame(t, asTold(t, s.store), asTold(t, p))
		if flaws := p.Flaws(); flaws != "" {
			t.Error(flaws)
		}
		// A line that was half written when the process died is tolerated and said.
		torn := newPlayer(reads(t, []byte(text[:len(text)*2/3])), PlayerConfig{Paused: true})
		if pos := torn.Position(); !strings.Contains(torn.Flaws(), "cut off") || pos.Changes < 2 {
			t.Errorf("%d changes, flaws %q", pos.Changes, torn.Flaws())
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

// jumpingClock is an empty picture whose clock is set to the next time at each change.
type jumpingClock struct{ times []time.Time }

func (c *jumpingClock) Changes(since uint64) account.Changes {
	at := c.times[min(int(since), len(c.times)-1)]
	return account.Changes{Version: since + 1, At: at, GoneIntents: []api.ID{"ci_1"}, Whole: since == 0}
}
func (c *jumpingClock) Wait(ctx context.Context, since uint64) error {
	if int(since) >= len(c.times) {
		<-ctx.Done()
	}
	return ctx.Err()
}
func (c *jumpingClock) Intent(api.ID) (*account.IntentDetail, bool) { return nil, false }

func TestTimeInARecordingNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		now, out := time.Now(), &strings.Builder{}
		source := &jumpingClock{[]time.Time{now, now.Add(time.Hour), now.Add(time.Minute), now.Add(2 * time.Hour)}}
		if err := Stream(ctx, source, form.Header{}, out); err != nil {
			t.Fatal(err)
		}
		p := newPlayer(reads(t, []byte(out.String())), PlayerConfig{Paused: true})
		if pos := p.Position(); p.Flaws() != "" || pos.Changes != 5 || pos.Length != 2*time.Hour {
			t.Errorf("%+v plays, flaws %q", pos, p.Flaws())
		}
	})
}
