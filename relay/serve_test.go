package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// post sends a signed event over a connection of its own and returns the status.
func post(n *network, event int) (int, error) {
	client := http.Client{Transport: &http.Transport{DialContext: n.dial, DisableKeepAlives: true}}
	body := eventBody(event)
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1"+WebhookPath, strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("x-svc-signature", sign(testSecret, body))
	answer, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func TestADrainFinishesWhatIsBeingStoredAndSaysBye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		n := newNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx, n) }()
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)

		release := memory.Stall()
		status := make(chan int, 1)
		go func() {
			code, err := post(n, 1)
			if err != nil {
				t.Error(err)
			}
			status <- code
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if _, err := post(n, 2); err == nil {
			t.Error("a draining relay accepts connections")
		}
		release()
		if code := <-status; code != http.StatusOK {
			t.Errorf("the event that was being stored: %d", code)
		}
		if item := p.next(frameEvents).Items[0]; item.Seq != 1 {
			t.Errorf("event %d", item.Seq)
		}
		p.next(frameBye)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// A stranger must not decide how long a relay takes to stop, nor whether subscribers get their bye.
func TestADrainDoesNotWaitForStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		n := newNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx, n) }()
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		for _, beginning := range []string{"POST", "POST " + WebhookPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"} {
			c, err := n.dial(ctx, "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go io.Copy(io.Discard, c)
			if _, err := io.WriteString(c, beginning); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		p.next(frameBye)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if took := time.Since(began); took > 2*strangersTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

func TestConnectionsThatDawdleAreClosedWhileOthersAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const dawdlers = 1000 // of either kind
		r := newTestRelay(t, newMemory(t), nil)
		n := newNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx, n) }()
		began := time.Now()
		var wg sync.WaitGroup
		dawdle := func(beginning string, limit time.Duration) {
			c, err := n.dial(ctx, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			wg.Go(func() {
				defer c.Close()
				for rest := beginning; ; rest = "1" {
					if _, err := c.Write([]byte(rest)); err != nil {
						break
					}
					<-time.After(time.Second)
				}
				if waited := time.Since(began); waited > min(limit+2*time.Second, 12*time.Second) {
					t.Errorf("closed after %v, want %v", waited, limit)
				}
			})
			wg.Go(func() { // what the relay answers is read, as a socket would buffer it
				reader := bufio.NewReader(c)
				for {
					if _, err := reader.ReadByte(); err != nil {
						return
					}
				}
			})
		}
		for range dawdlers {
			dawdle("POST /webhooks HTTP/1.1\r\nHost: x\r\n", headerTimeout)
			dawdle(fmt.Sprintf("POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\nX-Svc-Signature: v0=%064d\r\n\r\n", 0), readTimeout)
		}
		for i := range 10 {
			before := time.Now()
			if code, err := post(n, i); err != nil || code != http.StatusOK {
				t.Errorf("event %d: %d, %v", i, code, err)
			}
			if waited := time.Since(before); waited != 0 {
				t.Errorf("event %d waited %v", i, waited)
			}
			<-time.After(time.Second)
		}
		wg.Wait()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

func TestTheSidesServeOnListenersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, newMemory(t), nil)
		ingest, admin := newNetwork(), newNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.ServeSplit(ctx, ingest, admin) }()
		p := connect(t, admin, helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		if code, err := post(ingest, 1); err != nil || code != http.StatusOK {
			t.Errorf("ingest: %d, %v", code, err)
		}
		p.next(frameEvents)
		if code, err := post(admin, 1); err != nil || code != http.StatusNotFound {
			t.Errorf("a delivery at the admin side: %d, %v", code, err)
		}
		cancel()
		p.next(frameBye)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

func TestServeEndsWhenAListenerFails(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	n := newNetwork()
	_ = n.Close()
	if err := r.Serve(t.Context(), n); err == nil {
		t.Error("a closed listener is no error")
	}
}

func TestOldBodiesArePrunedWhileTheRelayServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, func(cfg *Config) { cfg.Retention = time.Hour })
		n := newNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- r.Serve(ctx, n) }()
		deliver(t, r.Ingest(), 1, 3)
		<-time.After(time.Hour - time.Minute)
		deliver(t, r.Ingest(), 4, 4)
		memory.Fail(io.ErrShortWrite) // one round in vain
		<-time.After(2 * time.Minute)
		memory.Fail(nil)
		<-time.After(2 * pruneInterval)
		oldest, err := memory.Oldest(ctx)
		if err != nil || oldest != 4 {
			t.Errorf("the oldest is %d, %v", oldest, err)
		}
		deliver(t, r.Ingest(), 2, 2)
		if head := headOf(t, memory); head != 4 {
			t.Errorf("a pruned event came again and the head is %d", head)
		}
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}
