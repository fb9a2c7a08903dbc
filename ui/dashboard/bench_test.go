package dashboard

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/canvas"
)

// BenchmarkViewOneRow is a frame after one intent changed and its event came.
func BenchmarkViewOneRow(b *testing.B) {
	s := typicalShop(time.Now())
	m := boardOf(b, s, 200, 60)
	m.View()
	base := *s.changes.Intents[4]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := base
		total := api.Money{Currency: "USD", Subunits: int64(1000 + i%100)}
		in.Total = &total
		e := &account.Event{Seq: int64(2000 + i), ID: api.ID("evt_" + time.Duration(i).String()), Type: api.OfferRetrieved, SourceID: in.ID, Product: in.Product, Received: s.now.Add(time.Duration(i))}
		m.Update(changesMsg{account.Changes{Version: uint64(i), Intents: []*account.Intent{&in}, Events: []*account.Event{e}, Summary: s.changes.Summary}})
		m.View()
	}
}

// BenchmarkViewIdle is a frame in which nothing has changed.
func BenchmarkViewIdle(b *testing.B) {
	m := boardOf(b, typicalShop(time.Now()), 200, 60)
	m.View()
	b.ReportAllocs()
	for b.Loop() {
		m.View()
	}
}

// BenchmarkViewTick is a frame in which the clock and all ages may change.
func BenchmarkViewTick(b *testing.B) {
	m := boardOf(b, typicalShop(time.Now()), 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		m.Update(tickMsg{})
		m.View()
	}
}

// BenchmarkViewKey is a key that moves the cursor.
func BenchmarkViewKey(b *testing.B) {
	m := boardOf(b, typicalShop(time.Now()), 200, 60)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		press(m, []string{"j", "k"}[i%2])
	}
}

// BenchmarkFrameOneRow is a frame after one intent changed and its event came, as
// far as the terminal.
func BenchmarkFrameOneRow(b *testing.B) {
	s := typicalShop(time.Now())
	m, l := drawnBoard(b, s)
	benchmarkFrames(b, m, l, func(i int) { m.Update(changeOf(s, i)) })
}

// BenchmarkFrameKey is the same of a key that moves the cursor.
func BenchmarkFrameKey(b *testing.B) {
	m, l := drawnBoard(b, typicalShop(time.Now()))
	benchmarkFrames(b, m, l, func(i int) { m.Update(tea.KeyPressMsg{Code: []rune("jk")[i%2], Text: []string{"j", "k"}[i%2]}) })
}

// drawnBoard is a board of 200x60 that is drawn.
func drawnBoard(b *testing.B, s *shop) (*Model, *link) {
	m, l := boardOf(b, s, 200, 60), &link{}
	m.canvas = canvas.New(canvas.Config{Out: l, Environ: []string{"TERM=xterm-256color"}, Pause: time.Nanosecond})
	m.resize(tea.WindowSizeMsg{Width: 200, Height: 60})
	enter(b, m.canvas)
	m.View()
	return m, l
}

func benchmarkFrames(b *testing.B, m *Model, l *link, happen func(i int)) {
	b.ReportAllocs()
	before := l.bytes.Load()
	for i := 0; b.Loop(); i++ {
		happen(i)
		m.View()
	}
	b.ReportMetric(float64(l.bytes.Load()-before)/float64(b.N), "B/frame")
}

// manyShop is an account with n intents.
func manyShop(n int) *shop {
	s := typicalShop(time.Now())
	states := api.IntentStates()
	for i := range n {
		g := goods[i%len(goods)]
		in := &account.Intent{ID: s.id(1000 + i), State: states[i%len(states)], Certainty: account.Verified, Since: s.now.Add(-time.Duration(i) * time.Second),
			Product: api.Text(g.name), Merchant: api.Text(g.merchant), Total: &api.Money{Currency: "USD", Subunits: g.cents}}
		s.changes.Intents = append(s.changes.Intents, in)
	}
	return s
}

// BenchmarkFilterKey10k is a key of a filter over 10,000 intents, with its
// drawing.
func BenchmarkFilterKey10k(b *testing.B) {
	cases := []struct{ name, typed, key string }{
		{"first letter", "", "a"}, {"narrowing", "woo", "l"}, {"merchant", "merchant:acm", "e"}, {"state", "state:fail", "e"},
		{"total", "total>1", "0"}, {"age", "age>10", "m"}, {"without", "!woo", "l"},
		{"either", "wool,mu", "g"}, {"expression", "/woo.*s", "o"}, {"expression of either", "/wool|mu", "g"}, {"expression for all", "/e.*a.", "p"}, {"expression of classes", "/[a-f]{3}[x-z", "]"},
		{"expression of digits", "/[0-9]{4}[a-f", "]"},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			m := boardOf(b, manyShop(10_000), 200, 60)
			press(m, "/")
			write(m, c.typed)
			b.ReportAllocs()
			for b.Loop() {
				cmd := filterKey(m, c.key)
				if m.View(); cmd != nil {
					b.StopTimer() // it looks beside the keys
					found := cmd()
					b.StartTimer()
					m.Update(found)
					m.View()
				}
				b.StopTimer()
				press(m, "backspace")
				b.StartTimer()
			}
		})
	}
}

// BenchmarkApply10k is the first picture of 10,000 intents.
func BenchmarkApply10k(b *testing.B) {
	s := manyShop(10_000)
	b.ReportAllocs()
	for b.Loop() {
		boardOf(b, s, 200, 60)
	}
}

// BenchmarkChange100k is a change of one intent among 100,000.
func BenchmarkChange100k(b *testing.B) {
	s := manyShop(100_000)
	m := boardOf(b, s, 200, 60)
	base := *s.changes.Intents[500]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := base
		in.Since = s.now.Add(-time.Duration(i%90_000) * time.Second)
		m.Update(changesMsg{account.Changes{Version: uint64(i), Intents: []*account.Intent{&in}, Summary: s.changes.Summary}})
		m.View()
	}
}
