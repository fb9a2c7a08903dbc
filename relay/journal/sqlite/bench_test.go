package sqlite

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"tillwatch/relay/journal"
)

func filled(b *testing.B, dir string, events int) {
	b.Helper()
	j, err := Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	body := make([]byte, 400)
	for n := 0; n < events; n += 1000 {
		var entries []journal.Entry
		for i := n; i < min(n+1000, events); i++ {
			entries = append(entries, journal.Entry{ID: fmt.Sprintf("evt_ci_%032x_completed", i), Type: "checkout_intent.completed", Body: body})
		}
		if _, err := j.Append(b.Context(), entries); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a journal that holds events, ids included.
func BenchmarkOpen(b *testing.B) {
	for _, events := range []int{0, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(events), func(b *testing.B) {
			dir := b.TempDir()
			filled(b, dir, events)
			b.ReportAllocs()
			for b.Loop() {
				j, err := Open(b.Context(), dir)
				if err != nil {
					b.Fatal(err)
				}
				if head, err := j.Head(b.Context()); err != nil || head != int64(events) {
					b.Fatalf("head %d, %v", head, err)
				}
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend appends events of 400 bytes from 64 goroutines to a journal
// that holds some, one event a call.
func BenchmarkAppend(b *testing.B) {
	const writers = 64
	for _, stored := range []int{0, 100_000} {
		b.Run(strconv.Itoa(stored), func(b *testing.B) {
			dir := b.TempDir()
			filled(b, dir, stored)
			j, err := Open(b.Context(), dir)
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			var events atomic.Int64
			body := make([]byte, 400)
			b.SetParallelism(writers / runtime.GOMAXPROCS(0))
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					id := fmt.Sprintf("evt_ci_%032x_failed", events.Add(1))
					_, err := j.Append(b.Context(), []journal.Entry{{ID: id, Type: "checkout_intent.completed", Body: body}})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
		})
	}
}
