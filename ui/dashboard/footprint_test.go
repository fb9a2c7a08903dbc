package dashboard

import (
	"runtime"
	"testing"
)

// BenchmarkFootprint100k reports what the board holds of an intent, with 100,000 of them.
func BenchmarkFootprint100k(b *testing.B) {
	s := manyShop(100_000)
	for b.Loop() {
		before := held()
		m := boardOf(b, s, 200, 60)
		m.View()
		after := held()
		b.ReportMetric(float64(after-before)/100_000, "bytes/intent")
		press(m, "/")
		b.ReportMetric(float64(held()-after)/100_000, "more-to-filter")
		runtime.KeepAlive(m)
	}
	runtime.KeepAlive(s)
	b.ReportMetric(0, "ns/op")
}

// held is what the heap holds after everything that can be freed is.
func held() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
