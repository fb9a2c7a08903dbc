package relay

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tillwatch/api"
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
	if want := c.items[19].Cursor(j.Epoch()); s.Cursor() != want || !strings.HasPrefix(want, j.Epoch()+":20:evt_") {
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

func TestSubscriberConfigurations(t *testing.T) {
	token := api.NewSecret(testToken)
	for _, test := range []struct {
		name, location, want string
	}{
		{"http", "http://127.0.0.1:8088", "ws://127.0.0.1:8088/v1/stream"},
		{"https with a slash", "https://relay.example/", "wss://relay.example/v1/stream"},
		{"below a path", "https://relay.example/team", "wss://relay.example/team/v1/stream"},
		{"below a path with a slash", "https://relay.example/team/", "wss://relay.example/team/v1/stream"},
		{"that of the stream", "wss://relay.example/team/v1/stream", "wss://relay.example/team/v1/stream"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := NewSubscriber(SubscriberConfig{URL: test.location, Token: token})
			if err != nil || s.location.String() != test.want {
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
		{"no host", SubscriberConfig{URL: "http:///v1", Token: token}, "names a host"},
		{"the address of the webhooks", SubscriberConfig{URL: location + "/webhooks/", Token: token}, "without /webhooks"},
		{"the address of the webhooks, below a path", SubscriberConfig{URL: location + "/team/webhooks", Token: token}, "without /webhooks"},
		{"a token in the query", SubscriberConfig{URL: location + "/?token=hidden", Token: token}, "in its own setting"},
		{"a token as a password", SubscriberConfig{URL: "http://u:hidden@relay.example", Token: token}, "in its own setting"},
		{"an unreadable URL", SubscriberConfig{URL: "http://u:hidden@[relay", Token: token}, "begins with http"},
		{"http to another machine", SubscriberConfig{URL: "http://relay.example", Token: token}, "http://relay.example would carry the relay's token unencrypted"},
		{"ws to another machine", SubscriberConfig{URL: "ws://192.0.2.7:7430", Token: token}, "use wss://"},
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

// fragile breaks after it has carried a number of bytes.

// refusing is a handler that fails for a while.

func TestAGapAndAResetReachTheSubscriber(t *testing.T) {
	for _, test := range []struct {
		cursor string
		resume string
		lost   span
		ahead  int64
	}{
		{"epoch:2", ResumeGap, span{3, 5}, 0},
		{"epoch:99", ResumeReset, span{}, 99},
		{"other:7", ResumeReset, span{}, 0},
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
				if live.Resume != test.resume || live.LostFrom != test.lost.From || live.LostTo != test.lost.To || live.Ahead != test.ahead ||
					live.Epoch != "epoch" || live.Head != 20 || live.Cursor != 20 {
					t.Errorf("live: %+v", live)
				}
				stop()
			})
		})
	}
}

func TestABodyThatCannotBeDecodedIsDeliveredAsItIs(t *testing.T) {
	item := itemFrom(wireItem{Seq: 3, ID: "evt\x1b[31m", Type: "odd", Origin: "web\u009b2J\u202ehook", Raw: []byte(`{"id":3}`)})
	if item.Seq != 3 || item.Event.Type != "odd" || string(item.Event.Raw) != `{"id":3}` || item.Origin != "web2Jhook" ||
		item.Event.ID == "" || strings.ContainsRune(string(item.Event.ID), 0x1b) {
		t.Errorf("item is %+v", item)
	}
}

// actor plays a relay: script has the connection after the hello was read.

func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"t":"welcome","epoch":"e","head":3,"oldest":1,"resume":"gap","lost":{"from":1,"to":2},"hb":25}`))
	f.Add([]byte(`{"t":"ev","items":[{"seq":4,"id":"a","type":"b","at":"2026-04-21T03:27:50Z","src":"webhook","raw":"e30="}]}`))
	f.Add([]byte(`{"t":"hb","head":9,"cursor":"e:8"}`))
	f.Add([]byte(`{"t":"bye","retry_ms":[5,1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newTestSubscriber(t, SubscriberConfig{URL: "http://127.0.0.1", Cursor: "e:3"})
		c := newCollector()
		heard := &following{subscriber: s, handler: c, welcomed: true, at: cursor{epoch: "e", seq: 3}}
		err := heard.take(t.Context(), text)
		if seqs := seqsOf(c.items); !slices.IsSorted(seqs) || len(slices.Compact(seqs)) != len(c.items) {
			t.Errorf("%q delivers %v", text, seqs)
		}
		if wait := retryAfter(err, newRetries(lastRetry)); wait < 0 || wait > maxRetryWait {
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
