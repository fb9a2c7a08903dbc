package layout

import (
	"fmt"
	"testing"
)

func TestArrangementFollowsTheSize(t *testing.T) {
	cases := []struct {
		width, height int
		want          Arrangement
		tooSmall      bool
	}{
		{20, 6, 0, true},
		{39, 12, 0, true},
		{40, 11, 0, true},
		{40, 12, Narrow, false},
		{80, 24, Narrow, false},
		{109, 60, Narrow, false},
		{110, 19, Narrow, false},
		{110, 20, Medium, false},
		{120, 36, Medium, false},
		{149, 50, Medium, false},
		{150, 50, Wide, false},
		{200, 55, Wide, false},
		{300, 100, Wide, false},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%dx%d", c.width, c.height), func(t *testing.T) {
			got := Arrange(Request{Width: c.width, Height: c.height})
			if got.TooSmall != c.tooSmall || got.Arrangement != c.want {
				t.Errorf("arrangement %d, too small %t; want %d, %t", got.Arrangement, got.TooSmall, c.want, c.tooSmall)
			}
		})
	}
}

func TestRectanglesLieOnTheScreenAndNeverOverlap(t *testing.T) {
	for width := 20; width <= 300; width += 7 {
		for height := 6; height <= 100; height += 3 {
			for flags := range 1 << 6 {
				bit := func(n int) bool { return flags>>n&1 > 0 }
				r := Request{
					Width: width, Height: height, Focus: Pane((flags + width + height) % Panes), Zoom: bit(0), Detail: bit(1),
					Hidden: Hidden{bit(2), bit(3), bit(4), bit(5)},
				}
				one := Arrange(r)
				check(t, r, one)
				for r.Notice = 2; r.Notice <= MostNotice; r.Notice++ {
					more := Arrange(r)
					check(t, r, more)
					checkNotice(t, r, one, more)
				}
			}
		}
	}
}

func check(t *testing.T, r Request, l Layout) {
	t.Helper()
	if l.TooSmall {
		if r.Width >= MinWidth && r.Height >= MinHeight {
			t.Errorf("%+v: said to be too small", r)
		}
		return
	}
	rects := append([]Rect{l.Header, l.Notice, l.Footer}, l.Panes[:]...)
	for i, a := range rects {
		if a == (Rect{}) {
			continue
		}
		if a.Empty() || a.X < 0 || a.Y < 0 || a.X+a.W > r.Width || a.Y+a.H > r.Height {
			t.Fatalf("%+v: rectangle %d is %+v", r, i, a)
		}
		for j, b := range rects[:i] {
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Fatalf("%+v: rectangles %d and %d overlap: %+v %+v", r, i, j, a, b)
			}
		}
	}
	if (!r.Detail || IsView(r.Focus)) && l.Panes[r.Focus].Empty() && r.Focus != Detail {
		t.Fatalf("%+v: the focused pane is not on the screen", r)
	}
	shown := 0
	for p := range Board {
		if !l.Panes[p].Empty() {
			shown++
			if r.Hidden.Has(Pane(p)) && Place(r.Focus) != Place(Pane(p)) && !r.Hidden.All() {
				t.Fatalf("%+v: pane %d is hidden and on the screen", r, p)
			}
		}
	}
	if shown > 0 && IsView(r.Focus) {
		t.Fatalf("%+v: a view does not fill the screen", r)
	}
	if shown == 0 && !r.Detail && !r.Zoom && !IsView(r.Focus) {
		t.Fatalf("%+v: nothing is on the screen", r)
	}
}

// checkNotice checks that a notice of more than one line takes its rows from one pane of each
// column, and that all below it stay.
func checkNotice(t *testing.T, r Request, one, more Layout) {
	t.Helper()
	if more.Notice.H != r.Notice && !more.TooSmall {
		t.Fatalf("%+v: the notice is %+v", r, more.Notice)
	}
	for p, before := range one.Panes {
		after := more.Panes[p]
		moved, end := after.Y-before.Y, after.Y+after.H-before.Y-before.H
		if taken := r.Notice - 1; moved == taken && end == 0 && after.H > 0 || moved == end && (moved == 0 || moved == taken && one.Arrangement == Narrow) {
			continue
		}
		t.Fatalf("%+v: pane %d was %+v and is %+v", r, p, before, after)
	}
}

func TestTheFocusedPaneIsUsable(t *testing.T) {
	for focus := range Board {
		l := Arrange(Request{Width: 80, Height: 24, Focus: Pane(focus)})
		if h := l.Panes[focus].H; h < 6 {
			t.Errorf("pane %d has %d rows at 80x24, want at least 6", focus, h)
		}
		for other := range Board {
			if l.Panes[other].H < 1 && !IsTab(Pane(other)) {
				t.Errorf("pane %d is gone while %d has the focus", other, focus)
			}
		}
	}
}

func TestZoomGivesTheFocusedPaneTheBody(t *testing.T) {
	l := Arrange(Request{Width: 120, Height: 36, Focus: Quota, Zoom: true})
	if want := (Rect{0, 2, 120, 33}); l.Panes[Quota] != want {
		t.Errorf("quota = %+v, want %+v", l.Panes[Quota], want)
	}
	if _, ok := l.At(60, 0); ok {
		t.Error("the header counts as a pane")
	}
	if p, ok := l.At(60, 20); !ok || p != Quota {
		t.Errorf("pane at 60, 20 = %d, %t", p, ok)
	}
}

func TestDetailStandsBesideTheBoardWhereThereIsRoom(t *testing.T) {
	wide := Arrange(Request{Width: 200, Height: 55, Detail: true})
	if wide.Panes[Detail].W != 80 || wide.Panes[Intents].W != 119 {
		t.Errorf("detail %+v beside %+v", wide.Panes[Detail], wide.Panes[Intents])
	}
	narrow := Arrange(Request{Width: 120, Height: 36, Detail: true})
	if narrow.Panes[Detail].W != 120 || !narrow.Panes[Intents].Empty() {
		t.Errorf("detail %+v, intents %+v", narrow.Panes[Detail], narrow.Panes[Intents])
	}
}
