package dialog

import (
	"fmt"
	"strings"
	"testing"

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/paint"
)

func TestASheetScrollsAndCloses(t *testing.T) {
	var long Section
	for i := range 40 {
		long.Lines = append(long.Lines, Sentence{Text: fmt.Sprintf("line %d", i)})
	}
	long.Title = "Many"
	s := NewSheet(action.Default(), "What happened", action.Digest, []Section{{Title: "Few", Lines: []Sentence{{paint.Muted, "a \x1b[31mred\u202e text"}}}, long})
	draw := func() string { return plain(sized(s, 76, 22)) }
	if got := draw(); !strings.Contains(got, "Few ──") || !strings.Contains(got, "1–18 of 44") || strings.ContainsFunc(got, isControl) {
		t.Errorf("it begins as\n%s", got)
	}
	for _, c := range []struct{ key, want string }{{"G", "line 39"}, {"g", "Few ──"}, {"j", "2–19 of 44"}, {"k", "1–18 of 44"}, {"space", "19–36 of 44"}, {"pgup", "1–18 of 44"}} {
		if a := s.Key(actiontest.Press(c.key), opened); a.Kind != None || !strings.Contains(draw(), c.want) {
			t.Errorf("after %s it answers %v and shows no %q:\n%s", c.key, a, c.want, draw())
		}
	}
	for _, key := range []string{"esc", "q", "enter", "D"} {
		if a := s.Key(actiontest.Press(key), opened); a.Kind != Closed {
			t.Errorf("%s answers %v", key, a)
		}
	}
}

func TestASheetKeepsTheIndentOfWhatItWraps(t *testing.T) {
	text := "  " + strings.Repeat("a long way ", 20)
	s := NewSheet(action.Default(), "What happened", action.Digest, []Section{{Title: "Few", Lines: []Sentence{{Text: "above"}, {Text: text}}}})
	lines := strings.Split(plain(sized(s, 76, 22)), "\n")
	margin, wrapped := 0, 0
	for _, line := range lines {
		if at := strings.Index(line, "above"); at >= 0 {
			margin = at
		}
		if strings.Contains(line, " way") {
			wrapped++
			if first := strings.IndexAny(line, "alwy"); first != margin+2 {
				t.Errorf("it begins at %d, not %d: %q", first, margin+2, line)
			}
		}
	}
	if wrapped < 3 {
		t.Errorf("it is not wrapped:\n%s", strings.Join(lines, "\n"))
	}
}
