package quota

import "testing"

func BenchmarkParseFields(b *testing.B) {
	h := headers(`"default";r=7;t=1`, `"default";q=10;w=1`)
	b.ReportAllocs()
	for b.Loop() {
		if f := ParseFields(h); len(f.Reports) != 1 {
			b.Fatal(f)
		}
	}
}

func BenchmarkParseFieldsOfThreeBuckets(b *testing.B) {
	h := headers(`"mutations"; r=4; t=1`, `"mutations"; q=5; w=1; pk=:NjZjMmQxOTI5MmFk:`)
	h.Add("RateLimit", `"checkout-intents"; r=6; t=86400`)
	h.Add("RateLimit", `"concurrent-agents"; r=9; t=3600`)
	h.Add("RateLimit-Policy", `"checkout-intents"; q=7; w=86400; pk=:NjZjMmQxOTI5MmFk:`)
	h.Add("RateLimit-Policy", `"concurrent-agents"; q=10; w=3600; pk=:NjZjMmQxOTI5MmFk:`)
	b.ReportAllocs()
	for b.Loop() {
		if f := ParseFields(h); len(f.Reports) != 3 {
			b.Fatal(f)
		}
	}
}
