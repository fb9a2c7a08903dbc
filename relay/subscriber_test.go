package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/api"
	"tillwatch/relay/journal"
	"tillwatch/relay/journal/sqlite"
)

func TestSignedWebhooksReachASubscriberOverRealSockets(t *testing.T) {
	j, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r := newTestRelay(t, j, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, listener) }()

	deliver(t, r.Handler(), 1, 10)
	c := newCollector()
	s := newTestSubscriber(t, SubscriberConfig{URL: "http://" + listener.Addr().String()})
	stop := run(t, s, c)
	if live := c.awaitState(t, Live); live.Resume != ResumeFresh || live.Cursor != 10 {
		t.Errorf("live: %+v", live)
	}
	deliver(t, r.Handler(), 5, 20)
	expectRow(t, c.awaitItems(t, 20), 1, 20)
	first := c.items[0]
	if string(first.Event.Raw) != string(eventBody(1)) || first.Event.Type != api.OfferRetrieved ||
		first.Origin != "webhook" || first.Received.IsZero() {
		t.Errorf("the first event is %+v", first)
	}
	if want := j.Epoch() + ":20"; s.Cursor() != want {
		t.Errorf("cursor is %s, want %s", s.Cursor(), want)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	lost := c.awaitState(t, Lost)
	if lost.Err == nil || !strings.Contains(lost.Err.Error(), "shutdown") {
		t.Errorf("lost with %v", lost.Err)
	}
	stop()
}

func TestAWrongTokenIsFinal(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	s := newTestSubscriber(t, SubscriberConfig{URL: server.URL, Token: api.NewSecret("another token")})
	c := newCollector()
	err := s.Run(t.Context(), c)
	var refused *refusedError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "another") {
		t.Errorf("run: %v", err)
	}
	if last := c.statuses[len(c.statuses)-1]; last.State != Refused || last.Err == nil {
		t.Errorf("last status: %+v", last)
	}
}

func TestSubscriberConfigurations(t *testing.T) {
	token := api.NewSecret(testToken)
	for _, test := range []struct {
		name, location, want string
	}{
		{"http", "http://127.0.0.1:8088", "ws://127.0.0.1:8088/v1/stream"},
		{"https with a slash", "https://relay.example/", "wss://relay.example/v1/stream"},
		{"a path of its own", "wss://relay.example/team/stream", "wss://relay.example/team/stream"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := NewSubscriber(SubscriberConfig{URL: test.location, Token: token})
			if err != nil || s.location != test.want {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	const location = "http://127.0.0.1:8088"
	for _, test := range []struct {
		name string
		cfg  SubscriberConfig
		want string
	}{
		{"no URL", SubscriberConfig{Token: token}, "begins with http"},
		{"no scheme", SubscriberConfig{URL: "127.0.0.1:8088", Token: token}, "as in http://"},
		{"another scheme", SubscriberConfig{URL: "ftp://relay.example", Token: token}, "begins with http"},
		{"no host", SubscriberConfig{URL: "http:///v1", Token: token}, "names no host"},
		{"a token in the query", SubscriberConfig{URL: location + "/?token=hidden", Token: token}, "in its own setting"},
		{"a token as a password", SubscriberConfig{URL: "http://u:hidden@relay.example", Token: token}, "in its own setting"},
		{"an unreadable URL", SubscriberConfig{URL: "http://u:hidden@[relay", Token: token}, "cannot be read"},
		{"no token", SubscriberConfig{URL: location}, "needs a token"},
		{"an unknown start", SubscriberConfig{URL: location, Token: token, From: "noon"}, "earliest or latest"},
		{"a cursor without an epoch", SubscriberConfig{URL: location, Token: token, Cursor: "12"}, "<epoch>:<seq>"},
		{"a star at the front", SubscriberConfig{URL: location, Token: token, Types: []string{"*.updated"}}, "one * at its end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewSubscriber(test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

// subscribe makes a subscriber of the relay behind n.
func subscribe(t testing.TB, n *network, change func(*SubscriberConfig)) *Subscriber {
	cfg := SubscriberConfig{URL: "http://127.0.0.1", Dial: n.dial}
	if change != nil {
		change(&cfg)
	}
	return newTestSubscriber(t, cfg)
}

func TestNothingIsLostOrDoubledAcrossARestartOfTheRelay(t *testing.T) {
	dir := t.TempDir()
	open := func() (journal.Journal, *Relay) {
		j, err := sqlite.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return j, newTestRelay(t, j, nil)
	}
	var mu sync.Mutex
	var current *network
	enter := func(n *network) {
		mu.Lock()
		defer mu.Unlock()
		current = n
	}
	dial := func(ctx context.Context, kind, address string) (net.Conn, error) {
		mu.Lock()
		n := current
		mu.Unlock()
		return n.dial(ctx, kind, address)
	}
	c := newCollector()
	s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: dial})
	for round := range 3 {
		j, r := open()
		deliver(t, r.Handler(), round*20+1, round*20+10) // while nobody listens
		n, stop := serveOn(t, r.Handler())
		enter(n)
		if round == 0 {
			run(t, s, c)
		}
		deliver(t, r.Handler(), round*20+5, round*20+20)
		expectRow(t, c.awaitItems(t, (round+1)*20), 1, int64(round+1)*20)
		stop()
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fragile breaks after it has carried a number of bytes.
type fragile struct {
	net.Conn
	left int
}

func (f *fragile) Read(p []byte) (int, error) {
	if f.left <= 0 {
		_ = f.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.Conn.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

func TestEverySubscriberGetsEachEventOnceThroughBrokenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const events, subscribers = 1000, 5
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		n := serveRelay(t, r)
		var all []*collector
		var stops []func()
		for range subscribers {
			s := subscribe(t, n, func(cfg *SubscriberConfig) {
				cfg.Dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					c, err := n.dial(ctx, kind, address)
					if err != nil {
						return nil, err
					}
					return &fragile{c, 500 + rand.IntN(2*frameBytes)}, nil
				}
			})
			c := newCollector()
			all = append(all, c)
			stops = append(stops, run(t, s, c))
		}
		for i := 1; i <= events; i++ {
			deliver(t, r.Handler(), i, i)
			<-time.After(2 * time.Millisecond)
		}
		for i, c := range all {
			expectRow(t, c.awaitItems(t, events), 1, events)
			stops[i]()
			lost := 0
			for _, s := range c.statuses {
				if s.State == Lost {
					lost++
				}
			}
			if lost < 3 {
				t.Errorf("subscriber %d was cut off %d times, too few to prove anything", i, lost)
			}
		}
	})
}

// refusing is a handler that fails for a while.
type refusing struct {
	*collector
	failures int
}

func (r *refusing) Events(ctx context.Context, batch []Item) error {
	if r.failures > 0 {
		r.failures--
		return errors.New("disk full")
	}
	return r.collector.Events(ctx, batch)
}

func TestABatchThatWasNotHandledComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 10)
		n := serveRelay(t, newTestRelay(t, memory, nil))
		c := newCollector()
		stop := run(t, subscribe(t, n, nil), &refusing{c, 3})
		expectRow(t, c.awaitItems(t, 10), 1, 10)
		if lost := c.awaitState(t, Lost); !strings.Contains(lost.Err.Error(), "disk full") {
			t.Errorf("lost: %+v", lost)
		}
		stop()
	})
}

func TestAFilteredSubscriptionResumesBehindWhatWasHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 9)
		n := serveRelay(t, newTestRelay(t, memory, nil))
		c := newCollector()
		s := subscribe(t, n, func(cfg *SubscriberConfig) { cfg.Types = []string{"shipment.*"} })
		stop := run(t, s, c)
		c.awaitState(t, Live)
		stop()
		if len(c.items) != 4 || s.Cursor() != "epoch:9" {
			t.Errorf("%d events, cursor %s", len(c.items), s.Cursor())
		}
	})
}

func TestAGapAndAResetAreTold(t *testing.T) {
	for _, test := range []struct {
		cursor string
		resume string
		lost   span
	}{
		{"epoch:2", ResumeGap, span{3, 5}},
		{"epoch:99", ResumeReset, span{}},
		{"other:7", ResumeReset, span{}},
	} {
		t.Run(test.cursor, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := newMemory(t)
				fill(t, memory, 1, 20)
				if _, err := memory.Prune(t.Context(), receivedAt(6)); err != nil {
					t.Fatal(err)
				}
				n := serveRelay(t, newTestRelay(t, memory, nil))
				c := newCollector()
				s := subscribe(t, n, func(cfg *SubscriberConfig) { cfg.Cursor = test.cursor })
				stop := run(t, s, c)
				expectRow(t, c.awaitItems(t, 15), 6, 20)
				live := c.awaitState(t, Live)
				if live.Resume != test.resume || live.LostFrom != test.lost.From || live.LostTo != test.lost.To ||
					live.Epoch != "epoch" || live.Head != 20 || live.Cursor != 20 {
					t.Errorf("live: %+v", live)
				}
				stop()
			})
		})
	}
}

func TestABodyThatCannotBeDecodedIsDeliveredAsItIs(t *testing.T) {
	item := itemFrom(wireItem{Seq: 3, ID: "evt\x1b[31m", Type: "odd", Raw: []byte(`{"id":3}`)})
	if item.Seq != 3 || item.Event.Type != "odd" || string(item.Event.Raw) != `{"id":3}` ||
		item.Event.ID == "" || strings.ContainsRune(string(item.Event.ID), 0x1b) {
		t.Errorf("item is %+v", item)
	}
}

// actor plays a relay: script has the connection after the hello was read.
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
		}, 35 * time.Second, "read the stream"},
		{"a head ahead and nothing sent", func(p *peer) {
			p.send(goodWelcome)
			for range 2 {
				p.send(heartbeatFrame{T: frameHeartbeat, Head: 5, Cursor: "epoch:0"})
			}
			_ = p.closed()
		}, 0, "ahead and sends nothing"},
		{"events before the welcome", func(p *peer) {
			p.send(map[string]any{"t": frameEvents, "items": []wireItem{item}})
			_ = p.closed()
		}, 0, "did not begin with a welcome"},
		{"a welcome without an epoch", func(p *peer) {
			p.send(`{"t":"welcome","head":1,"oldest":1,"resume":"ok"}`)
			_ = p.closed()
		}, 0, "welcome cannot be read"},
		{"a welcome that resumes what was not asked for", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"e","head":1,"oldest":1,"resume":"ok"}`)
			_ = p.closed()
		}, 0, "not asked for"},
		{"a welcome of another kind", func(p *peer) {
			p.send(`{"t":"welcome","epoch":"e","head":1,"oldest":1,"resume":"\u001b[2J"}`)
			_ = p.closed()
		}, 0, "does not know"},
		{"a frame that is not JSON", func(p *peer) {
			p.send("{")
			_ = p.closed()
		}, 0, "cannot be read"},
		{"a close without a final code", func(p *peer) {
			_ = p.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4013, "busy"))
			_ = p.closed()
		}, 0, "closed the stream (4013)"},
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
		if s.Cursor() != "epoch:3" {
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
		var refused *refusedError
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
				if final := err != nil; final != test.final {
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

func TestRetryTimes(t *testing.T) {
	for attempt := range 40 {
		bound := min(firstRetry<<min(attempt, 20), lastRetry)
		var longest time.Duration
		for range 500 {
			wait := retryAfter(io.EOF, attempt)
			if wait < 0 || wait > bound {
				t.Fatalf("attempt %d waits %v, outside 0 to %v", attempt, wait, bound)
			}
			longest = max(longest, wait)
		}
		if longest < bound/2 {
			t.Errorf("attempt %d never waited longer than %v of %v", attempt, longest, bound)
		}
	}
	for _, test := range []struct {
		name             string
		retry            []int64
		earliest, latest time.Duration
	}{
		{"a range", []int64{500, 600}, 500 * time.Millisecond, 600 * time.Millisecond},
		{"a range the wrong way round", []int64{600, 500}, 600 * time.Millisecond, 600 * time.Millisecond},
		{"too long", []int64{1 << 60, 1 << 62}, maxRetryWait, maxRetryWait},
		{"negative", []int64{-5, -1}, 0, 0},
		{"none", nil, firstRetry, lastRetry},
		{"half a range", []int64{5}, firstRetry, lastRetry},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 200 {
				wait := retryAfter(byeOf(frame{RetryMS: test.retry}), 0)
				if wait < test.earliest || wait > test.latest {
					t.Fatalf("waits %v, outside %v to %v", wait, test.earliest, test.latest)
				}
			}
		})
	}
	if wait := retryAfter(fmt.Errorf("read: %w", errWoken), 9); wait != 0 {
		t.Errorf("after a sleep of the machine: waits %v", wait)
	}
}

func TestAWokenMachineConnectsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := serveRelay(t, newTestRelay(t, newMemory(t), nil))
		s := subscribe(t, n, nil)
		c := newCollector()
		woken := make(chan struct{}, 1)
		ended := make(chan error, 1)
		go func() { ended <- s.session(t.Context(), c, woken) }()
		c.awaitState(t, Live)
		woken <- struct{}{}
		if err := <-ended; !errors.Is(err, errWoken) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func TestAWokenMachineDialsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Dial: dialForEver})
		woken := make(chan struct{}, 1)
		ended := make(chan error, 1)
		go func() { ended <- s.session(t.Context(), newCollector(), woken) }()
		synctest.Wait()
		began := time.Now()
		woken <- struct{}{}
		if err := <-ended; !errors.Is(err, errWoken) || time.Since(began) != 0 {
			t.Errorf("the session ended with %v after %v", err, time.Since(began))
		}
	})
}

func TestWhatCountsAsSleep(t *testing.T) {
	for _, test := range []struct {
		name            string
		monotonic, wall time.Duration
		slept           bool
	}{
		{"a tick on time", time.Second, time.Second, false},
		{"a late tick", 4 * time.Second, 4 * time.Second, false},
		{"a stopped process", time.Minute, time.Minute, true},
		{"a machine asleep", time.Second, time.Hour, true},
		{"a clock that was set back", time.Second, -time.Hour, false},
		{"a clock that was corrected", time.Second, 2 * time.Second, false},
	} {
		if got := slept(test.monotonic, test.wall); got != test.slept {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"t":"welcome","epoch":"e","head":3,"oldest":1,"resume":"gap","lost":{"from":1,"to":2},"hb":25}`))
	f.Add([]byte(`{"t":"ev","items":[{"seq":4,"id":"a","type":"b","at":"2026-04-21T03:27:50Z","src":"webhook","raw":"e30="}]}`))
	f.Add([]byte(`{"t":"hb","head":9,"cursor":"e:8"}`))
	f.Add([]byte(`{"t":"bye","retry_ms":[5,1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Cursor: "e:3"})
		c := newCollector()
		heard := &following{subscriber: s, handler: c, welcomed: true, at: cursor{"e", 3}}
		decoded, err := decodeFrame(text)
		if err != nil {
			return
		}
		_ = heard.take(t.Context(), decoded)
		if seqs := seqsOf(c.items); !slices.IsSorted(seqs) || len(slices.Compact(seqs)) != len(c.items) {
			t.Errorf("%q delivers %v", text, seqs)
		}
		if wait := retryAfter(byeOf(decoded), 0); wait < 0 || wait > maxRetryWait {
			t.Errorf("%q waits %v", text, wait)
		}
	})
}

func seqsOf(items []Item) []int64 {
	var seqs []int64
	for _, item := range items {
		seqs = append(seqs, item.Seq)
	}
	return seqs
}

func TestResumeSetsWhereToGoOnOnce(t *testing.T) {
	s, err := NewSubscriber(SubscriberConfig{URL: "http://127.0.0.1:1", Token: api.NewSecret("token")})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		position, want string
		refused        bool
	}{
		{"nonsense", "", true},
		{"epoch:7", "epoch:7", false},
		{"epoch:9", "epoch:7", false},
	} {
		if err := s.Resume(step.position); (err != nil) != step.refused {
			t.Errorf("Resume(%q) = %v", step.position, err)
		}
		if got := s.Cursor(); got != step.want {
			t.Errorf("after Resume(%q) the cursor is %q, want %q", step.position, got, step.want)
		}
	}
}
