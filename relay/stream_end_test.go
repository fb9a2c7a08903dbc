package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func TestASubscriberThatAnswersNoPingIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorded{}
		r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.Logger = log.logger() })
		p := connect(t, serveRelay(t, r), helloFrame{T: frameHello, Client: "kiosk"})
		p.socket.SetPingHandler(func(string) error { return nil })
		began := time.Now()
		_ = p.closed()
		if waited := time.Since(began); waited > defaultHeartbeat+pongTimeout {
			t.Errorf("cut off after %v", waited)
		}
		synctest.Wait()
		if r.hub.open() != 0 {
			t.Error("the connection is still open")
		}
		expectEnd(t, log, `client=kiosk reason="stalled: it answered no ping for 10s"`)
	})
}

// expectEnd expects one stream to have ended, and why.
func expectEnd(t *testing.T, log *recorded, how string) {
	t.Helper()
	if ended := linesWith(log, "stream ended"); len(ended) != 1 || !strings.HasSuffix(ended[0], how) {
		t.Errorf("the log is %q, want the end of one stream: %s", ended, how)
	}
}

func TestAJournalThatCannotBeReadEndsAStreamWithABye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, log := newMemory(t), &recorded{}
		r := newTestRelay(t, memory, func(cfg *Config) { cfg.Logger = log.logger() })
		p := connect(t, serveRelay(t, r), helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		memory.FailReads(errors.New("the database is away"))
		if bye := p.next(frameBye); bye.Reason != "journal" || len(bye.RetryMS) != 2 {
			t.Errorf("%+v", bye)
		}
		if err := p.closed(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("closed with %v", err)
		}
		synctest.Wait()
		expectEnd(t, log, `reason="the database is away (said bye: journal)"`)
	})
}

func TestARelayThatShutsDownSaysBye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n, stop := serveOn(t, r.Handler())
		early := connect(t, n, nil) // has not said hello
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		ended := make(chan error, 1)
		go func() { ended <- r.Shutdown(t.Context()) }()
		for _, each := range []*peer{early, p} {
			bye := each.next(frameBye)
			if bye.Reason != "shutdown" || len(bye.RetryMS) != 2 || bye.RetryMS[0] >= bye.RetryMS[1] {
				t.Errorf("bye %+v", bye)
			}
			if err := each.closed(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
				t.Errorf("closed with %v", err)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		dialer := websocket.Dialer{NetDialContext: n.dial, Subprotocols: []string{Protocol}}
		_, answer, _ := dialer.Dial("ws://127.0.0.1"+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
		if answer == nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
			t.Errorf("a newcomer is answered %+v", answer)
		}
		stop()
	})
}

func TestASubscriberWhoseHelloRacesAShutdownIsToldAtOnce(t *testing.T) {
	for range 20 { // either may be seen first
		synctest.Test(t, func(t *testing.T) {
			r := newTestRelay(t, newMemory(t), nil)
			if err := r.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			reasons := make(chan error, 1)
			n, _ := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				socket, err := newUpgrader().Upgrade(w, req, nil)
				if err != nil {
					t.Error(err)
					return
				}
				c := r.connection(socket, func() bool { return true })
				c.tail = newTail()
				c.hello <- []byte(`{"t":"hello"}`)
				reasons <- c.serve()
			}))
			began := time.Now()
			p := connect(t, n, nil)
			if err := p.closed(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
				t.Errorf("closed with %v", err)
			}
			if reason := <-reasons; time.Since(began) != 0 {
				t.Errorf("%v after %v", reason, time.Since(began))
			}
		})
	}
}

func TestAShutdownCutsOffWhoDoesNotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 1)
		r := newTestRelay(t, memory, nil)
		n, stop := serveOn(t, r.Handler())
		connect(t, n, helloFrame{T: frameHello})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := r.Shutdown(ctx); err == nil {
			t.Error("nothing was said of the one that was cut off")
		}
		stop()
	})
}
