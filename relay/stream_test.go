package relay

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tillwatch/relay/journal"
)

func row(from, to int64) []int64 {
	var seqs []int64
	for seq := from; seq <= to; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs
}

func TestAStreamResumesBehindEveryCursor(t *testing.T) {
	const head = 40
	memory := newMemory(t)
	r := newTestRelay(t, memory, nil)
	deliver(t, r.Handler(), 1, head/2)
	n := serveRelay(t, r)
	keep := connect(t, n, helloFrame{T: frameHello}) // from here on the ring holds the newer half
	keep.next(frameWelcome)
	deliver(t, r.Handler(), head/2+1, head)
	var resumed []*peer
	for k := int64(0); k <= head; k++ {
		p := connect(t, n, helloAt(fmt.Sprintf("epoch:%d", k)))
		if w := p.next(frameWelcome); w.Resume != ResumeOK || w.Epoch != "epoch" || w.Head != head || w.Oldest != 1 || w.Heartbeat != 25 {
			t.Errorf("after %d: welcome %+v", k, w)
		}
		seqs, live := p.replay()
		if !slices.Equal(seqs, row(k+1, head)) || live.Cursor != "epoch:40" {
			t.Errorf("after %d: %v, live at %s", k, seqs, live.Cursor)
		}
		resumed = append(resumed, p)
	}
	for n := head + 1; n <= head+3; n++ {
		deliver(t, r.Handler(), n, n)
		for k, p := range resumed {
			if items := p.next(frameEvents).Items; len(items) != 1 || items[0].Seq != int64(n) {
				t.Errorf("after %d, live: %v where %d was due", k, items, n)
			}
		}
	}
}

func TestHowAStreamBegins(t *testing.T) {
	for _, test := range []struct {
		name   string
		hello  helloFrame
		resume string
		lost   span
		seqs   []int64
	}{
		{"without a cursor", helloFrame{T: frameHello}, ResumeFresh, span{}, row(6, 20)},
		{"from the earliest", helloFrame{T: frameHello, From: FromEarliest}, ResumeFresh, span{}, row(6, 20)},
		{"from the latest", helloFrame{T: frameHello, From: FromLatest}, ResumeFresh, span{}, nil},
		{"at the head", helloAt("epoch:20"), ResumeOK, span{}, nil},
		{"at the last one that was pruned", helloAt("epoch:5"), ResumeOK, span{}, row(6, 20)},
		{"before the oldest", helloAt("epoch:2"), ResumeGap, span{3, 5}, row(6, 20)},
		{"before everything", helloAt("epoch:0"), ResumeGap, span{1, 5}, row(6, 20)},
		{"in another epoch", helloAt("other:20"), ResumeReset, span{}, row(6, 20)},
		{"beyond the head", helloAt("epoch:21"), ResumeReset, span{}, row(6, 20)},
		{"at something else", helloAt("nonsense"), ResumeReset, span{}, row(6, 20)},
		{"at a negative number", helloAt("epoch:-1"), ResumeReset, span{}, row(6, 20)},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory := newMemory(t)
			r := newTestRelay(t, memory, nil)
			fill(t, memory, 1, 20)
			if _, err := memory.Prune(t.Context(), receivedAt(6)); err != nil {
				t.Fatal(err)
			}
			p := connect(t, serveRelay(t, r), test.hello)
			if w := p.next(frameWelcome); w.Resume != test.resume || w.Lost != test.lost || w.Oldest != 6 || w.Head != 20 {
				t.Errorf("welcome %+v", w)
			}
			if seqs, live := p.replay(); !slices.Equal(seqs, test.seqs) || live.Cursor != "epoch:20" {
				t.Errorf("%v, live at %s", seqs, live.Cursor)
			}
		})
	}
}

func receivedAt(n int) time.Time { return time.Date(2026, 4, 21, 3, 0, n, 0, time.UTC) }

// fill appends the events from and to, received a second apart, with types that
// alternate.
func fill(t testing.TB, j journal.Journal, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		entry := journal.Entry{
			ID: fmt.Sprint(n), Type: []string{"shipment.updated", "product.updated"}[n%2],
			Received: receivedAt(n), Origin: journal.Webhook, Body: eventBody(n),
		}
		if _, err := j.Append(context.Background(), []journal.Entry{entry}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFilterHoldsBackAndTheCursorMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		r := newTestRelay(t, memory, nil)
		fill(t, memory, 1, 9)
		p := connect(t, serveRelay(t, r), helloFrame{T: frameHello, Types: []string{"shipment.*", "nothing"}})
		p.next(frameWelcome)
		seqs, live := p.replay()
		if !slices.Equal(seqs, []int64{2, 4, 6, 8}) || live.Cursor != "epoch:9" {
			t.Errorf("%v, live at %s", seqs, live.Cursor)
		}
		fill(t, memory, 11, 11)
		if beat := p.next(frameHeartbeat); beat.Cursor != "epoch:10" || beat.Head != 10 {
			t.Errorf("heartbeat %+v", beat)
		}
	})
}

func TestHellosThatAreRefused(t *testing.T) {
	many := make([]string, maxPatterns+1)
	for name, c := range map[string]struct {
		hello any
		says  string
	}{
		"no JSON":             {`{"t":"hello"`, "the hello is not valid JSON"},
		"another frame":       {helloFrame{T: "ev"}, `the first frame is "ev", not a hello`},
		"an unknown start":    {helloFrame{T: frameHello, From: "yesterday"}, `from is "yesterday"`},
		"too many types":      {helloFrame{T: frameHello, Types: many}, "too many"},
		"a star inside":       {helloFrame{T: frameHello, Types: []string{"a*b"}}, `event type "a*b"`},
		"a long type":         {helloFrame{T: frameHello, Types: []string{"a" + strings.Repeat("é", 80) + "*b"}}, `event type "aéé`},
		"an empty type":       {helloFrame{T: frameHello, Types: []string{""}}, `event type ""`},
		"a number as types":   {`{"t":"hello","types":3}`, "a member of another type"},
		"a time that is none": {`{"t":"hello","since":"noon"}`, "a member of another type"},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, serveRelay(t, newTestRelay(t, newMemory(t), nil)), c.hello)
			if err := p.closed(); !websocket.IsCloseError(err, closeBadHello) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("closed with %v, want %q", err, c.says)
			}
		})
	}
}

func TestAHelloIsDueWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, serveRelay(t, newTestRelay(t, newMemory(t), nil)), nil)
		began := time.Now()
		if err := p.closed(); !websocket.IsCloseError(err, closeHelloLate) {
			t.Errorf("closed with %v", err)
		}
		if waited := time.Since(began); waited != helloTimeout {
			t.Errorf("closed after %v", waited)
		}
	})
}

func TestWhoMayOpenAStream(t *testing.T) {
	r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.MaxStreams = 2 })
	n := serveRelay(t, r)
	bearer := []string{"Bearer " + testToken}
	var open []*websocket.Conn // until the last case, which finds the relay full
	t.Cleanup(func() {
		for _, socket := range open {
			_ = socket.Close()
		}
	})
	for _, test := range []struct {
		name      string
		header    http.Header
		protocols []string
		status    int
	}{
		{"a page of another host", http.Header{"Authorization": bearer, "Origin": {"https://evil.example"}}, []string{Protocol}, http.StatusForbidden},
		{"a page of the relay's host", http.Header{"Authorization": bearer, "Origin": {"http://127.0.0.1"}}, []string{Protocol}, http.StatusSwitchingProtocols},
		{"a program", http.Header{"Authorization": bearer}, []string{"other", Protocol}, http.StatusSwitchingProtocols},
		{"one more than the relay takes", http.Header{"Authorization": bearer}, []string{Protocol}, http.StatusServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			dialer := websocket.Dialer{NetDialContext: n.dial, Subprotocols: test.protocols}
			socket, answer, err := dialer.Dial("ws://127.0.0.1"+StreamPath, test.header)
			if answer == nil || answer.StatusCode != test.status {
				t.Fatalf("answer %+v, %v", answer, err)
			}
			if socket != nil {
				open = append(open, socket)
			}
		})
	}
}

func TestAnotherProtocolIsRefusedForGood(t *testing.T) {
	n := serveRelay(t, newTestRelay(t, newMemory(t), nil))
	dialer := websocket.Dialer{NetDialContext: n.dial, Subprotocols: []string{"tillwatch.relay.v9"}}
	socket, _, err := dialer.Dial("ws://127.0.0.1"+StreamPath, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := (&peer{t, socket}).closed(); !websocket.IsCloseError(err, closeBadVersion) {
		t.Errorf("closed with %v", err)
	}
}

func TestAQuietStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		p := connect(t, serveRelay(t, newTestRelay(t, memory, nil)), helloFrame{T: frameHello})
		p.next(frameWelcome)
		p.next(frameLive)
		began := time.Now()
		p.next(frameHeartbeat)
		if first := time.Since(began); first > defaultHeartbeat {
			t.Errorf("the first heartbeat came after %v", first)
		}
		for range 10 {
			before := time.Now()
			beat := p.next(frameHeartbeat)
			if waited := time.Since(before); waited != defaultHeartbeat || beat.Cursor != "epoch:0" {
				t.Errorf("after %v: %+v", waited, beat)
			}
		}
	})
}

func TestAPruneUnderAReplayIsSentAsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemory(t)
		fill(t, memory, 1, 3*replayBatch)
		r := newTestRelay(t, memory, nil)
		n := serveRelay(t, r)
		p := connect(t, n, helloFrame{T: frameHello})
		p.next(frameWelcome)
		synctest.Wait() // the first batch is being written
		if _, err := memory.Prune(t.Context(), receivedAt(2*replayBatch)); err != nil {
			t.Fatal(err)
		}
		last, gaps := int64(0), 0
		for last < 3*replayBatch {
			f := p.frame()
			if f.T == frameGap {
				if gaps++; f.From != last+1 || f.To != 2*replayBatch-1 {
					t.Errorf("a gap of %d to %d after %d", f.From, f.To, last)
				}
				last = f.To
			}
			for _, item := range f.Items {
				if item.Seq != last+1 {
					t.Fatalf("event %d came after %d", item.Seq, last)
				}
				last = item.Seq
			}
		}
		if gaps != 1 {
			t.Errorf("%d gaps", gaps)
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"t":"hello","cursor":"epoch:1","from":"latest","types":["checkout_intent.*"],"client":"x"}`))
	f.Add([]byte(`{"t":"hello","cursor":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		hello, types, err := readHello(text)
		if err == nil && (hello.T != frameHello || len(types) != len(hello.Types) || len(hello.Client) > maxClientName) {
			t.Errorf("%q is read as %+v", text, hello)
		}
	})
}
