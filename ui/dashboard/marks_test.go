package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestMarkMovesOnAndNeverTakesBackWhatItHasJustSet(t *testing.T) {
	cases := []struct {
		name   string
		keys   string
		marked []int // of three rows
		says   string
	}{
		{"each key a row", "x x x", []int{0, 1, 2}, ""},
		{"a key too many on the last row", "x x x x", []int{0, 1, 2}, "the last row is marked already: move away and back to unmark it, or press U"},
		{"with steps between as before", "x j x j x j", []int{0, 2}, "the last row is marked already"},
		{"the last row alone, with a step behind it", "G x j x j", []int{2}, "the last row is marked already"},
		{"the last row, left and come back to", "G x k j x", nil, ""},
		{"a marked row on the way", "x x g x", []int{1}, ""},
		{"the last row, unmarked and marked again", "G x k j x x", []int{2}, ""},
	}
	for _, c := range cases {
		for _, width := range []int{200, 80} {
			t.Run(c.name, func(t *testing.T) {
				s, ids := queueShop(3)
				m := boardOf(t, s, width, 40)
				press(m, strings.Fields(c.keys)...)
				var got []int
				for i, id := range ids {
					if m.marks.set[id] {
						got = append(got, i)
					}
				}
				if !slices.Equal(got, c.marked) || !strings.Contains(screen(m), c.says) || c.says == "" && strings.Contains(screen(m), "marked already") {
					t.Errorf("%d columns, %s: rows %v are marked, want %v; want %q said:\n%s", width, c.keys, got, c.marked, c.says, screen(m))
				}
			})
		}
	}
}

func TestAllRowsOfAFilterAreMarkedByOneKey(t *testing.T) {
	cases := []struct {
		name   string
		keys   []string
		marked int
		says   string
	}{
		{"of a filter", []string{"/", "n", "o", "t", "e", "enter", "A"}, 1, "· 1 intent marked"},
		{"of a state", append(strings.Split("/state:awaiting", ""), "enter", "A"), 6, "! 6 intents marked; 1 left out: not verified yet: read it again first"},
		{"without a filter", []string{"A"}, 6, "! 6 intents marked; 1 left out: not verified yet"},
		{"of what cannot be confirmed", append(strings.Split("/state:completed", ""), "enter", "A"), 0, "none of the 41 shown can be confirmed now"},
		{"of nothing", append(strings.Split("/zzz", ""), "enter", "A"), 0, "none of the 0 shown can be confirmed now"},
		{"twice", []string{"/", "n", "o", "t", "e", "enter", "A", "A"}, 1, "all of them are marked already"},
		{"after some were marked by hand", []string{"x", "x", "A"}, 6, "intents marked; 1 left out"},
		{"in another pane", []string{"2", "A"}, 0, "only intents can be marked: 1 goes there"},
		{"while a filter is typed", []string{"/", "A"}, 0, "/ A"},
	}
	for _, c := range cases {
		for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
			m := boardOf(t, typicalShop(time.Now()), size[0], size[1])
			press(m, c.keys...)
			if got := screen(m); len(m.marks.set) != c.marked || !strings.Contains(got, c.says) {
				t.Errorf("%s, %v: %d marked, want %d and %q said:\n%s", c.name, size, len(m.marks.set), c.marked, c.says, got)
			}
			for id := range m.marks.set {
				if in, _ := m.picture.intents[id]; in.State != api.AwaitingConfirmation || in.Certainty != account.Verified {
					t.Errorf("%s is marked: %s, certain %v", id, in.State, in.Certainty)
				}
			}
		}
	}
}

func TestOfSeveralIntentsLeftOutOneReasonIsGivenAsOfSeveral(t *testing.T) {
	s := typicalShop(time.Now())
	left := 0
	for _, in := range slices.Clone(s.changes.Intents) {
		if in.State == api.AwaitingConfirmation && left < 3 {
			unread := *in
			unread.Certainty = account.Reported
			s.put(&unread)
			left++
		}
	}
	m := boardOf(t, s, 120, 36)
	press(m, "A")
	if got := screen(m); !regexp.MustCompile(`[34] left out: not verified yet *\n`).MatchString(got) {
		t.Errorf("it says\n%s", got)
	}
}
