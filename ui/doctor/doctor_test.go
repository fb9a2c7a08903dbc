package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

func finds(v Verdict) func(context.Context) []Finding {
	return func(context.Context) []Finding { return Findings(v, "found", "means", "do") }
}

func TestChecksAreSkippedWhereOneThatTheyNeedIsNotInOrder(t *testing.T) {
	var told []string
	counts, err := Examine(t.Context(), []Check{
		{"a", nil, finds(OK)}, {"b", []string{"a"}, finds(Fault)}, {"c", []string{"b"}, finds(OK)}, {"d", []string{"c"}, finds(OK)},
		{"e", []string{"a"}, finds(Warning)}, {"f", []string{"e"}, finds(Note)},
	}, func(f Finding) error {
		told = append(told, f.Check+" "+string(f.Verdict))
		return nil
	})
	if want := []string{"a ok", "b fault", "c skipped", "d skipped", "e warning", "f note"}; err != nil || !slices.Equal(told, want) {
		t.Errorf("got %v, %v, want %v", told, err, want)
	}
	if counts[OK] != 1 || counts[Skipped] != 2 || counts[Fault] != 1 {
		t.Errorf("counted %v", counts)
	}
}

func TestACheckThatHangsIsAFaultInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, release := time.Now(), make(chan struct{})
		var found Finding
		_, err := Examine(t.Context(), []Check{{"hung", nil, func(context.Context) []Finding { <-release; return nil }}}, func(f Finding) error {
			found = f
			return nil
		})
		if took := time.Since(began); err != nil || took > 6*time.Second || found.Verdict != Fault || found.Check != "hung" {
			t.Errorf("after %s: %+v, %v", took, found, err)
		}
		close(release)
	})
}

func TestAnExaminationEndsWithItsReader(t *testing.T) {
	gone, ran := errors.New("gone"), 0
	count := func(context.Context) []Finding { ran++; return Fine("fine") }
	_, err := Examine(t.Context(), []Check{{"a", nil, count}, {"b", nil, count}}, func(Finding) error { return gone })
	if !errors.Is(err, gone) || ran != 1 {
		t.Errorf("%d checks ran, %v", ran, err)
	}
}

func TestASheetIsAlignedAndNoWiderThanTheTerminal(t *testing.T) {
	theme, err := themes.Library{}.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("some words and a-word-that-is-rather-long ", 6)
	for _, width := range []int{40, 80, 160} {
		var out strings.Builder
		s := Sheet{To: &out, Brush: paint.NewBrush(theme, false), Width: width, Names: 11}
		for _, v := range Verdicts() {
			if err := s.Write(Finding{Check: "environment", Verdict: v, Found: long, Means: long, Do: long, Details: []string{long}}); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(ansi.Strip(out.String())) {
			if line = strings.TrimRight(line, "\n"); paint.Width(line) > width || line[:1] == " " && strings.TrimSpace(line[:23]) != "" {
				t.Errorf("at %d: %q", width, line)
			}
		}
	}
}

func TestAPlainSheetHasALineForEachThingToSay(t *testing.T) {
	var out strings.Builder
	s := Sheet{To: &out, Names: 5}
	if err := errors.Join(s.Write(Finding{Check: "key", Verdict: Fault, Found: "wrong\x1b[31m", Means: "nothing", Do: "mend"}), s.Write(Finding{Check: "relay", Verdict: OK, Found: "fine"}),
		s.Close(map[Verdict]int{OK: 1, Fault: 2}, "more")); err != nil {
		t.Fatal(err)
	}
	want := "✕ fault   key    wrong[31m\n                 nothing\n                 → mend\n✓ ok      relay  fine\n\n1 ok, 2 faults; more\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
