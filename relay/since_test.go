package relay

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"tillwatch/relay/journal"
)

func TestAStreamSinceATimeBeginsThere(t *testing.T) {
	memory := newMemory(t)
	began := time.Date(2026, 4, 21, 3, 0, 0, 0, time.UTC)
	const events = 100
	for n := 1; n <= events; n++ {
		_, err := memory.Append(t.Context(), []journal.Entry{{ID: strconv.Itoa(n), Body: eventBody(n), Received: began.Add(time.Duration(n) * time.Minute)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := memory.Prune(t.Context(), began.Add(11*time.Minute)); err != nil { // from 11 on
		t.Fatal(err)
	}
	n := serveRelay(t, newTestRelay(t, memory, nil))
	for _, test := range []struct {
		name  string
		since time.Time
		first int64
	}{
		{"before everything", began, 11},
		{"at an event", began.Add(40 * time.Minute), 40},
		{"shortly after an event", began.Add(40*time.Minute + time.Second), 41},
		{"between two events", began.Add(40*time.Minute + 30*time.Second), 41},
		{"at the newest", began.Add(events * time.Minute), events},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCollector()
			run(t, newTestSubscriber(t, SubscriberConfig{URL: "http://relay", InsecureHTTP: true, Dial: n.dial, Since: test.since}), c)
			c.awaitState(t, Live)
			expectRow(t, c.awaitItems(t, 1), test.first, events)
		})
	}
	c := newCollector()
	s := newTestSubscriber(t, SubscriberConfig{URL: "http://relay", InsecureHTTP: true, Dial: n.dial, Since: began.Add(24 * time.Hour)})
	run(t, s, c)
	c.awaitState(t, Live)
	if len(c.items) != 0 || s.Cursor() != "epoch:100" {
		t.Errorf("since a time after everything: %d events, cursor %s", len(c.items), s.Cursor())
	}
}

// A machine whose clock is an hour off asks for the last five minutes.
func TestAStreamSinceATimeOfAnotherClock(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour, "right": 0} {
		t.Run(name, func(t *testing.T) {
			memory := newMemory(t)
			for n, ago := range []time.Duration{3 * time.Hour, 30 * time.Minute, 4 * time.Minute, 0} {
				_, err := memory.Append(t.Context(), []journal.Entry{{ID: strconv.Itoa(n), Body: eventBody(n), Received: time.Now().Add(-ago)}})
				if err != nil {
					t.Fatal(err)
				}
			}
			there := time.Now().Add(off)
			p := connect(t, serveRelay(t, newTestRelay(t, memory, nil)), helloFrame{T: frameHello, Since: there.Add(-5 * time.Minute), Now: there})
			if w := p.next(frameWelcome); w.Start != 2 || time.Since(w.Now).Abs() > time.Minute {
				t.Errorf("the stream begins behind %d, on a clock that shows %s; want 2, %s", w.Start, w.Now, time.Now())
			}
		})
	}
}

// The relay stamps events by its own clock, which may differ from this machine's. What comes after the start is new,
// whatever time a clock that was set back gives it.
func TestASubscriptionSinceATimeDropsOnlyWhatWasStoredEarlier(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"the relay's clock is right": 0, "it is ahead": time.Hour, "it is behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				since := time.Now().Add(-5 * time.Minute)
				item := func(seq int64, after time.Duration) wireItem {
					return wireItem{Seq: seq, ID: "evt", Type: "a", Raw: eventBody(int(seq)), Received: since.Add(ahead + after)}
				}
				n := actor(t, func(p *peer, attempt int) {
					welcome := goodWelcome
					welcome.Now, welcome.Head = time.Now().Add(ahead), 3
					if attempt > 0 {
						welcome.Head, welcome.Resume = 5, ResumeOK
					}
					p.send(welcome)
					if attempt > 0 {
						p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(5, -time.Hour)}})
						_ = p.closed()
						return
					}
					p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(1, -time.Second), item(2, time.Second), item(3, -time.Hour)}})
					p.send(map[string]any{"t": frameEvents, "items": []wireItem{item(4, -time.Hour)}})
				})
				c := newCollector()
				s := subscribe(t, n, func(cfg *SubscriberConfig) { cfg.Since, cfg.Here = since, true })
				stop := run(t, s, c)
				var seqs []int64
				for _, item := range c.awaitItems(t, 3) {
					seqs = append(seqs, item.Seq)
				}
				if synctest.Wait(); !slices.Equal(seqs, []int64{2, 4, 5}) || s.Cursor() != "epoch:5:evt" {
					t.Errorf("it delivered %d, and its cursor is %s", seqs, s.Cursor())
				}
				stop()
			})
		})
	}
}

// A clock that is set back gives later events earlier times of receipt.
func TestAStreamSinceATimeMissesNothingWhateverTheClockDid(test *testing.T) {
	rapid.Check(test, func(t *rapid.T) {
		memory := newMemory(test)
		clock := time.Date(2026, 4, 21, 3, 0, 0, 0, time.UTC)
		var received []time.Time
		for n := range rapid.IntRange(1, 60).Draw(t, "events") {
			clock = clock.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
			if rapid.IntRange(0, 9).Draw(t, "set") == 0 {
				clock = clock.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "minutes")) * time.Minute)
			}
			received = append(received, clock)
			if _, err := memory.Append(context.Background(), []journal.Entry{{ID: strconv.Itoa(n), Received: clock}}); err != nil {
				t.Fatal(err)
			}
		}
		since := rapid.SampledFrom(received).Draw(t, "since").Add(time.Duration(rapid.IntRange(-30, 30).Draw(t, "off")) * time.Second)
		behind, err := before(context.Background(), memory, since, 1, int64(len(received)))
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range received[:behind] {
			if !at.Before(since) {
				t.Fatalf("since %s: begins behind %d, but %d was received at %s", since, behind, i+1, at)
			}
		}
	})
}
