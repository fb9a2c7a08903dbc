package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func actor(t *testing.T, script func(p *peer, attempt int)) *network {
	upgrader := newUpgrader()
	attempts := make(chan int, 1)
	attempts <- 0
	n, _ := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		socket, err := upgrader.Upgrade(w, req, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		if _, _, err := socket.ReadMessage(); err != nil {
			return
		}
		attempt := <-attempts
		attempts <- attempt + 1
		script(&peer{t, socket}, attempt)
	}))
	return n
}

var goodWelcome = welcomeFrame{T: frameWelcome, Epoch: "epoch", Head: 0, Oldest: 1, Resume: ResumeFresh, Heartbeat: 25}

func TestWhatMakesASubscriberLeave(t *testing.T) {
	item := wireItem{Seq: 1, ID: "evt_1", Type: "a", Raw: []byte(`{}`)}
	for _, test := range []struct {
		name   string
		script func(p *peer)
		after  time.Duration // at most
		want   string
	}{
		{"silence instead of a welcome", func(p *peer) { _ = p.closed() }, welcomeTimeout, "read the stream"},
		{"silence after the welcome", func(p *peer) {
			p.send(goodWelcome)
			_ = p.closed()
		}, silenceTimeout, "read the stream"},
		{"a head ahead and nothing sent", func(p *peer) {
			p.send(goodWelcome)
			for range 2 {
				p.send(heartbeatFrame{T: frameHeartbeat, Head: 5, Cursor: "epoch:0"})
			}
			_ = p.closed()
		}, 0, "has new events and sends none"},
		{"a head ahead and only what was sent before", func(p *peer) {
			p.send(goodWelcome)
			for range 2 {
				p.send(map[string]any{"t": frameEvents, "items": []wireItem{item}})
				p.send(heartbeatFrame{T: frameHeartbeat, Head: 5, Cursor: "epoch:0"})
			}
			_ = p.closed()
		}, 0, "has new events and sends none"},
		{"events before the welcome", func(p *peer) {
			p.send(map[string]any{"t": frameEvents, "items": []wireItem{item}})
			_ = p.closed()
		}, 0, "did not begin with a welcome"},
		{"a welcome without an epoch", func(p *peer) {
			p.send(`{"t":"welcome","head":1,"oldest":1,"resume":"ok"}`)
			_ = p.closed()
		}, 0, "welcome cannot be read"},
		{"a welcome with an epoch that moves the cursor", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"\u009b2J","head":1,"oldest":1,"resume":"fresh"}`)
			_ = p.closed()
		}, 0, "welcome cannot be read"},
		{"a welcome with an epoch that no cursor can hold", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"a:b","head":1,"oldest":1,"resume":"fresh"}`)
			_ = p.closed()
		}, 0, "welcome cannot be read"},
		{"a welcome that resumes what was not asked for", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"e","head":1,"oldest":1,"resume":"ok"}`)
			_ = p.closed()
		}, 0, "a cursor that it was not given"},
		{"a welcome of another kind", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"e","head":1,"oldest":1,"resume":"\u001b[2J"}`)
			_ = p.closed()
		}, 0, "does not support"},
		{"a frame that is not JSON", func(p *peer) {
			p.send("{")
			_ = p.closed()
		}, 0, "cannot be read"},
		{"a close without a final code", closing(4013), 0, "closed the stream (4013)"},
		{"a close for what broke the protocol", closing(websocket.CloseProtocolError), 0, "closed the stream (1002)"},
		{"a close for a message that is too big", closing(websocket.CloseMessageTooBig), 0, "closed the stream (1009)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := actor(t, func(p *peer, _ int) { test.script(p) })
				c := newCollector()
				began := time.Now()
				stop := run(t, subscribe(t, n, nil), c)
				lost := c.awaitState(t, Lost)
				if !strings.Contains(lost.Err.Error(), test.want) || strings.ContainsRune(lost.Err.Error(), 0x1b) {
					t.Errorf("lost with %q, want %q", lost.Err, test.want)
				}
				if waited := lost.Since.Sub(began); waited > test.after {
					t.Errorf("lost after %v, want at most %v", waited, test.after)
				}
				stop()
			})
		})
	}
}

// closing is a relay that closes the stream at once.
func closing(code int) func(*peer) {
	return func(p *peer) {
		_ = p.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, "busy"))
		_ = p.closed()
	}
}

func TestWhatIsUnknownIsIgnoredAndDoublesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		item := func(seq int64) wireItem { return wireItem{Seq: seq, ID: "evt", Type: "a", Raw: eventBody(int(seq))} }
		n := actor(t, func(p *peer, _ int) {
			p.send(`{"t":"weather","items":7}`)
			p.send(`{"t":"weather"}`)
			p.send(goodWelcome)
			p.send(map[string]any{"t": "news", "cursor": "epoch:77"})
			p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(1), item(2), item(2)}})
			p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(1), item(2)}})
			p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(2), item(3)}})
			p.send(map[string]any{"t": frameHeartbeat, "head": 3, "cursor": "other:900"})
			_ = p.closed()
		})
		c := newCollector()
		s := subscribe(t, n, nil)
		stop := run(t, s, c)
		expectRow(t, c.awaitItems(t, 3), 1, 3)
		synctest.Wait()
		if s.Cursor() != "epoch:3:evt" {
			t.Errorf("cursor is %s", s.Cursor())
		}
		stop()
	})
}

func TestAFinalCloseEndsTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := actor(t, func(p *peer, _ int) {
			_ = p.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(closeUnauthorized, "token \x1b[31mrevoked"))
			_ = p.closed()
		})
		c := newCollector()
		err := subscribe(t, n, nil).Run(t.Context(), c)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "revoked") || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("run: %v", err)
		}
		if last := c.statuses[len(c.statuses)-1]; last.State != Refused {
			t.Errorf("last status: %+v", last)
		}
	})
}

func TestAnswersToADial(t *testing.T) {
	for _, test := range []struct {
		status int
		final  bool
	}{
		{http.StatusUnauthorized, true},
		{http.StatusForbidden, true},
		{http.StatusNotFound, false},
		{http.StatusServiceUnavailable, false},
		{http.StatusOK, false},
	} {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, _ := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c := newCollector()
				err := subscribe(t, n, nil).Run(ctx, c)
				if final := errors.As(err, new(*RefusedError)); final != test.final || err != nil && !final {
					t.Errorf("run: %v", err)
				}
				last := c.statuses[len(c.statuses)-1]
				if last.Err != nil && !strings.Contains(last.Err.Error(), fmt.Sprint(test.status)) {
					t.Errorf("last status: %+v", last)
				}
			})
		})
	}
}

func TestAByeSaysWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := actor(t, func(p *peer, attempt int) {
			p.send(goodWelcome)
			if attempt == 0 {
				p.send(byeFrame{T: frameBye, Reason: "shutdown", RetryMS: []int64{30_000, 31_000}})
			}
			_ = p.closed()
		})
		c := newCollector()
		stop := run(t, subscribe(t, n, nil), c)
		lost := c.awaitState(t, Lost)
		if lost.RetryIn < 30*time.Second || lost.RetryIn > 31*time.Second {
			t.Errorf("comes again after %v", lost.RetryIn)
		}
		c.await(t, "the second welcome", func() bool {
			return len(c.statuses) > 0 && c.statuses[len(c.statuses)-1].State == Replaying && c.statuses[len(c.statuses)-1].Since.After(lost.Since)
		})
		if waited := c.statuses[len(c.statuses)-1].Since.Sub(lost.Since); waited != lost.RetryIn {
			t.Errorf("came again after %v, not %v", waited, lost.RetryIn)
		}
		stop()
	})
}
