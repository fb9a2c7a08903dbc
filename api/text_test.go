package api

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestScrubKeepsWhatIsSafeToDraw(t *testing.T) {
	for _, s := range []string{
		"", "plain ASCII ~!", "Élodie O'Brien-Nguyễn", "日本語の靴下", "e\u0301 decomposed", "שלום مرحبا", "🧦 socks",
		"non\u00a0breaking", "\ufffd already replaced",
	} {
		if got := Scrub(s); string(got) != s {
			t.Errorf("Scrub(%q) = %q, want it unchanged", s, got)
		}
	}
}

func TestScrubMakesHostileTextInert(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"colour sequence", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"clipboard sequence", "a\x1b]52;c;aGk=\x07b", "a]52;c;aGk=b"},
		{"C1 control sequence introducer", "a\u009b31mb", "a31mb"},
		{"raw C1 byte", "a\x9b31mb", "a\ufffd31mb"},
		{"carriage return that overwrites", "TOTAL 9000 USD\rTOTAL 1 USD", "TOTAL 9000 USD TOTAL 1 USD"},
		{"line breaks and tabs", "a\r\nb\nc\td\ve", "a b c d e"},
		{"line and paragraph separators, next line", "a\u2028b\u2029c\u0085d", "a b c d"},
		{"delete and backspace", "a\x7fb\bc\x00d", "abcd"},
		{"bidirectional overrides", "\u202egpj.exe\u202c \u2066x\u2069 \u200f", "gpj.exe x "},
		{"zero-width characters", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "abcdefg"},
		{"variation selectors and tags", "\u2764\ufe0f\U000e0041\U000e0100", "\u2764"},
		{"invisible fillers", "a\u3164b\uffa0c\u115fd\u034fe", "abcde"},
		{"invalid UTF-8", "a\xff\xc3(b", "a\ufffd\ufffd(b"},
		{"overlong escape", "\xc0\x9b", "\ufffd\ufffd"},
		{"private use, noncharacters", "\ue0b0\U000f0000\ufffe\U0010ffff", "\ufffd\ufffd\ufffd\ufffd"},
		{"surrogate half", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"a mark that would join what stands left", "\u0301abc", "abc"},
		{"a pile of marks", "a" + strings.Repeat("\u0301", 50) + "b", "a" + strings.Repeat("\u0301", maxMarks) + "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Scrub(test.in); string(got) != test.want {
				t.Errorf("Scrub(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestScrubBoundsLength(t *testing.T) {
	got := string(Scrub(strings.Repeat("é", MaxText)))
	if len(got) > MaxText || !strings.HasSuffix(got, "é…") || !utf8.ValidString(got) {
		t.Errorf("got %d bytes ending in %q", len(got), got[len(got)-8:])
	}
	exact := strings.Repeat("x", MaxText)
	if Scrub(exact) != Text(exact) {
		t.Error("text of exactly the bound was cut")
	}
}

func TestScrubIDKeepsLongAndOddIDs(t *testing.T) {
	for _, id := range []string{
		"evt_outfitters.example:merino-crew_20260621T080000Z", "a/b:c.d", strings.Repeat("x", 1024), strings.Repeat("x", MaxID),
	} {
		if got := ScrubID(id); string(got) != id {
			t.Errorf("ScrubID changed %.40q", id)
		}
	}
}

func TestScrubIDNeverMakesTwoIDsOne(t *testing.T) {
	long := strings.Repeat("x", MaxID)
	ids := []string{"evt_1", "evt_1\u200b", "evt_\u200b1", "evt_1\x1b", "evt_1\xff", "evt_1\xfe", long, long + "a", long + "b"}
	seen := map[ID]string{}
	for _, id := range ids {
		got := ScrubID(id)
		if other, ok := seen[got]; ok {
			t.Errorf("%.20q and %.20q became the same id %q", id, other, got)
		}
		seen[got] = id
		if len(got) > MaxID {
			t.Errorf("%d bytes, want at most %d", len(got), MaxID)
		}
		if again := ScrubID(string(got)); again != got {
			t.Errorf("scrubbing %q again gives %q", got, again)
		}
	}
}

func TestIDsThatDifferInHalvesOfSurrogatePairsStayTwo(t *testing.T) {
	seen := map[ID]string{}
	for _, id := range []string{
		`"evt_\ud83d_q"`, `"evt_\ud83e_q"`, `"evt_\ude00_q"`, `"evt_\ud83d\u0041_q"`, `"evt_\ud83d\u0042_q"`, `"evt_\ude00\ud83d_q"`,
		`"evt_\ud83d\ud83d\ude00_q"`, `"EVT_\ud83d_q"`, `"evt_\ufffd_q"`, `"evt_\\ud83d_q"`, `"evt_\ud83d\ude00_q"`, `"evt_\ud83d\\ude00_q"`,
	} {
		for name, got := range map[string]ID{
			"an event's": decodedEvent(t, `{"id":`+id+`,"type":"t","source":{"id":"s","type":"x"}}`).ID,
			"a source's": decodedEvent(t, `{"id":"e","type":"t","source":{"id":`+id+`,"type":"x"}}`).Source.ID,
			"an intent's": func() ID {
				in, err := DecodeIntent([]byte(`{"id":` + id + `}`))
				if err != nil {
					t.Error(err)
				}
				return in.ID
			}(),
		} {
			if other, ok := seen[got]; ok && other != id {
				t.Errorf("%s and %s became the same id %q", id, other, got)
			}
			seen[got] = id
			if forbidden := findForbidden(string(got)); forbidden != "" {
				t.Errorf("%s id %q holds %s", name, got, forbidden)
			}
		}
	}
	for id, want := range map[string]ID{`"evt_\ufffd_q"`: "evt_\ufffd_q", "\"evt_\ufffd_q\"": "evt_\ufffd_q", `"\ud83d\ude00"`: "\U0001f600", `"\ud83d\ude00\ufffd"`: "\U0001f600\ufffd", `"\\ud83d\ufffd"`: "\\ud83d\ufffd"} {
		if got := decodedEvent(t, `{"id":`+id+`,"type":"t","source":{"id":"s","type":"x"}}`).ID; got != want {
			t.Errorf("%s is read as %q, want %q", id, got, want)
		}
	}
	spelt := func(id string) ID {
		return decodedEvent(t, `{"id":"`+id+`","type":"t","source":{"id":"s","type":"x"}}`).ID
	}
	if small, capital := spelt(`\ud83d`), spelt(`\uD83D`); small != capital {
		t.Errorf("one id is read as %q and %q", small, capital)
	}
}

func decodedEvent(t *testing.T, body string) Event {
	t.Helper()
	event, err := DecodeEvent([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestScrubOfCleanTextAllocatesNothing(t *testing.T) {
	for _, s := range []string{cleanASCII, cleanUnicode} {
		if n := testing.AllocsPerRun(100, func() { textSink = Scrub(s) }); n != 0 {
			t.Errorf("%v allocations for %q", n, s)
		}
	}
}

func FuzzScrub(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31m", "a\r\nb", "\u202e", "\xff", "e\u0301", "🧦\u200d", "\u0301x", "\r\u200b\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(Scrub(s))
		if len(got) > MaxText {
			t.Fatalf("%d bytes", len(got))
		}
		if forbidden := findForbidden(got); forbidden != "" {
			t.Fatalf("%q holds %s", got, forbidden)
		}
		if again := string(Scrub(got)); again != got {
			t.Fatalf("not idempotent: %q became %q", got, again)
		}
		id := ScrubID(s)
		if forbidden := findForbidden(string(id)); forbidden != "" {
			t.Fatalf("id %q holds %s", id, forbidden)
		}
		if again := ScrubID(string(id)); again != id {
			t.Fatalf("not idempotent: %q became %q", id, again)
		}
		if s == got && len(s) <= MaxID && string(id) != s {
			t.Fatalf("clean id %q became %q", s, id)
		}
	})
}

// findForbidden names what must never be drawn, by tables of its own.
func findForbidden(s string) string {
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a bidirectional control"
		case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0xad:
			return "a zero-width character"
		case unicode.Is(unicode.Variation_Selector, r):
			return "a variation selector"
		case unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			return "a private-use character or noncharacter"
		}
	}
	return ""
}

const (
	cleanASCII   = "Merino Crew Sweater, midweight, ribbed cuffs (M / Moss)"
	cleanUnicode = "Nörrland Wool Co — メリノ・セーター 🧦"
)

var textSink Text

func BenchmarkScrubCleanASCII(b *testing.B)   { benchmarkScrub(b, cleanASCII) }
func BenchmarkScrubCleanUnicode(b *testing.B) { benchmarkScrub(b, cleanUnicode) }
func BenchmarkScrubHostile(b *testing.B)      { benchmarkScrub(b, "\x1b]0;title\x07 TOTAL\r1 USD \u202e") }

func benchmarkScrub(b *testing.B, s string) {
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		textSink = Scrub(s)
	}
}
