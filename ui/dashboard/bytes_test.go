package dashboard

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// link counts what a terminal would be sent.
type link struct {
	bytes atomic.Int64
}

func (l *link) Write(p []byte) (int, error) {
	l.bytes.Add(int64(len(p)))
	return len(p), nil
}

// frame is what one step costs: the bytes that the terminal is sent until
// nothing comes any more. It needs a synctest bubble.
func (l *link) frame(step func(), settle time.Duration) int64 {
	synctest.Wait()
	before := l.bytes.Load()
	step()
	time.Sleep(settle) // of the bubble's clock
	synctest.Wait()
	return l.bytes.Load() - before
}

// linked runs a dashboard of 200x60 in true colour on a link, in a bubble.
func linked(t *testing.T, s *shop, run func(p *tea.Program, l *link), change ...func(*Config)) {
	t.Helper()
	m := boardOf(t, s, 200, 60, change...)
	ctx, cancel := context.WithCancel(t.Context())
	m.ctx = ctx
	l := &link{}
	m.cfg.Environ, m.cfg.Width, m.cfg.Height = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, 200, 60
	program := m.program(NewScreen(nil, l))
	enter(t, m.canvas)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = program.Run()
	}()
	time.Sleep(200 * time.Millisecond) // of the bubble's clock
	synctest.Wait()
	run(program, l)
	cancel()
	<-ended
}

// changeOf is a change of one intent's total, with its event in the tail.
func changeOf(s *shop, i int) changesMsg {
	in := *s.changes.Intents[4]
	in.Total = &api.Money{Currency: "USD", Subunits: int64(1000 + i*37%9000)}
	s.version++
	received := time.Now()
	e := &account.Event{Seq: 2000 + int64(i), ID: api.ID(fmt.Sprintf("evt_%s_%d", in.ID, i)), Type: api.OfferRetrieved,
		SourceType: api.SourceIntent, SourceID: in.ID, Product: in.Product, CreatedAt: received, Received: received, Origin: "webhook"}
	summary := s.changes.Summary
	summary.Events.Received += i + 1
	summary.LastEvent, summary.LastRead = received, received
	return changesMsg{account.Changes{Version: s.version, At: received, Intents: []*account.Intent{&in}, Events: []*account.Event{e}, Summary: summary}}
}

// gauges is what a second of reading changes of the quota: what is left, how fast
// it goes and the newest of the history.
func gauges(s *shop, i int) changesMsg {
	buckets := slices.Clone(s.changes.Summary.Quota)
	b := &buckets[0]
	now := time.Now()
	b.ObservedAt, b.Remaining, b.Own = now, int64(5+i*7%5), 1+float64(i%4)/10
	b.History = append(slices.Clone(b.History), quota.Sample{At: now, Known: true, Remaining: b.Remaining, Own: i % 4, Others: i % 3})
	s.changes.Summary.Quota = buckets
	s.version++
	return changesMsg{account.Changes{Version: s.version, At: now, Summary: s.changes.Summary}}
}

func TestWhatATerminalIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1100 * time.Millisecond))) // between two seconds
		s := typicalShop(time.Now())
		linked(t, s, func(p *tea.Program, l *link) {
			var rows, ticks int64
			const rounds, seconds = 20, 60
			for i := range rounds { // each between two ticks, after the glow of the last
				rows += l.frame(func() { p.Send(changeOf(s, i)) }, 200*time.Millisecond)
				l.frame(func() {}, 2800*time.Millisecond)
			}
			for i := range seconds {
				ticks += l.frame(func() { p.Send(gauges(s, i)) }, time.Second)
			}
			nothing := l.frame(func() {}, 200*time.Millisecond)
			t.Logf("one changed row with its event %d bytes, a tick of the clock and gauges %d, nothing %d", rows/rounds, ticks/seconds, nothing)
			if nothing != 0 {
				t.Errorf("%d bytes when nothing changes", nothing)
			}
			if rows/rounds > 400 {
				t.Errorf("%d bytes for one changed row, want 400 at most", rows/rounds)
			}
			if ticks/seconds > 600 {
				t.Errorf("%d bytes for a tick, want 600 at most", ticks/seconds)
			}
			var second int64
			for i := range 100 {
				second += l.frame(func() { p.Send(changeOf(s, 100+i)) }, 100*time.Millisecond)
			}
			t.Logf("ten updates a second: %d bytes a second", second/10)
			if second/10 > 4000 {
				t.Errorf("%d bytes a second for ten updates, want 4000 at most", second/10)
			}
		})
	})
}
