package relay

import (
	"strconv"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

func TestAStreamSinceATimeBeginsShortlyBeforeIt(t *testing.T) {
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
		{"shortly after an event", began.Add(40*time.Minute + time.Second), 40},
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
