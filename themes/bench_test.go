package themes

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// BenchmarkLoadAll is what the dashboard does before its first paint.
func BenchmarkLoadAll(b *testing.B) {
	for b.Loop() {
		for _, name := range Names() {
			if _, err := Find(name); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkIn256Colours(b *testing.B) {
	theme, err := Find("nord")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		theme.For(colorprofile.ANSI256)
	}
}
