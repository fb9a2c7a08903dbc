package sqlite

import (
	"fmt"
	"strconv"
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

// BenchmarkIdentities finds ids among a million.
func BenchmarkIdentities(b *testing.B) {
	const many = 1_000_000
	ids := newIdentities()
	for n := range many {
		ids.add(digestOf(strconv.Itoa(n)))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if seq, found := ids.find(digestOf(strconv.Itoa(n % many))); !found || seq != int64(n%many+1) {
			b.Fatalf("id %d is found at %d", n, seq)
		}
		n++
	}
}
