package paint

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
)

// Every script is drawn in exact columns: with its clusters where the terminal measures by them, else
// with letters whose width no terminal disputes.
func TestEveryScriptIsDrawnInItsCells(t *testing.T) {
	for _, c := range []struct {
		name, text     string
		cells          int
		letters, whole string
	}{
		{"Hindi", "क्षत्रिय हिन्दी", 9, "कषतरय हनद", "क्ष त्रि य हिन्दी "},
		{"Hindi with marks that take no cell", "के हूँ", 3, "के हूँ", "के हूँ"},
		{"Tamil", "தமிழ்", 3, "தமழ்", "தமிழ்"},
		{"Bengali", "বাংলা", 2, "বল", "বাংলা"},
		{"Khmer", "ខ្មែរ", 3, "ខមរ", "ខ្មែ រ"},
		{"Thai", "กำลังใจ ที่นี่", 9, "กํ\u0e32ลังใจ ที่นี่", "กํ\u0e32ลังใจ ที่นี่"},
		{"Thai with a tone", "น้ำ", 2, "น้ํ\u0e32", "น้ํ\u0e32"},
		{"Lao", "ລຳ", 2, "ລໍ\u0eb2", "ລໍ\u0eb2"},
		{"Arabic with vowels", "العَرَبِيَّة", 7, "العَرَبِيَّة", "العَرَبِيَّة"},
		{"an Arabic sign of a number", "\u0600\u0661", 1, "\u0661", "\u0661"},
		{"Hebrew with points", "עִבְרִית", 5, "עִבְרִית", "עִבְרִית"},
		{"Hangul", "한글", 4, "한글", "한글"},
		{"Hangul in Jamo", "\u1112\u1161\u11ab", 2, "한", "한"},
		{"a vowel of Hangul alone", "a \u1161", 3, "a ?", "a ?"},
		{"a skin tone", "👍🏽 skin", 7, "👍 skin", "👍🏽 skin"},
		{"a skin tone of a narrow sign", "☝🏽", 1, "☝", "☝🏽"},
		{"a skin tone alone", "🏽", 1, "?", "?"},
		{"a family", "👨\u200d👩\u200d👧", 2, "👨", "👨"},
		{"a family without its joiners", "👨👩👧", 6, "👨👩👧", "👨👩👧"},
		{"a flag", "🇺🇸🇬🇧", 4, "USGB", "🇺🇸🇬🇧"},
		{"half a flag", "a🇺b", 3, "aUb", "aUb"},
		{"a keycap", "1\ufe0f\u20e3", 2, "1 ", "1\ufe0f\u20e3"},
		{"a sign as an emoji", "❤\ufe0f", 2, "❤ ", "❤\ufe0f"},
		{"combining acutes", "Cafe\u0301 e\u0301\u0301", 6, "Cafe\u0301 e\u0301\u0301", "Cafe\u0301 e\u0301\u0301"},
		{"a mark alone", "\u0903", 1, "?", "?"},
		{"wide letters", "日本", 4, "日本", "日本"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Width(c.text); got != c.cells {
				t.Errorf("it takes %d cells, want %d", got, c.cells)
			}
			for clusters, want := range map[bool]string{false: c.letters, true: c.whole} {
				brush := NewBrush(themes.Theme{}, false)
				brush.Clusters = clusters
				got := ansi.Strip(NewLine(brush).Start(c.cells+1).Fit(Text, c.text, c.cells).Put(Text, "|").String())
				if got != want+"|" || ansi.StringWidth(got) != c.cells+1 || !clusters && ansi.StringWidthWc(got) != c.cells+1 {
					t.Errorf("clusters %t: it draws %q, want %q", clusters, got, want+"|")
				}
			}
			narrow := NewLine(NewBrush(themes.Theme{}, false)).Start(1)
			if got := narrow.Put(Text, c.text+"|").String(); ansi.StringWidth(got) != 1 {
				t.Errorf("cut, it is drawn as %q", got)
			}
			if got := Shorten(strings.Repeat(c.text, 3), 5); Width(got) > 5 {
				t.Errorf("shortened to 5 cells it is %q, which takes %d", got, Width(got))
			}
			if got := strings.Join(Wrap(c.text, 2), ""); Width(got) < Width(strings.ReplaceAll(c.text, " ", "")) {
				t.Errorf("wrapped, only %q is left of it", got)
			}
		})
	}
}
