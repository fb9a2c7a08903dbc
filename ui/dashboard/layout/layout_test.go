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
			for flags := range 4 {
				for focus := range Panes {
					r := Request{Width: width, Height: height, Focus: Pane(focus), Zoom: flags&1 > 0, Detail: flags&2 > 0}
					check(t, r, Arrange(r))
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
	if !r.Detail && l.Panes[r.Focus].Empty() && r.Focus != Detail {
		t.Fatalf("%+v: the focused pane is not on the screen", r)
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

func TestEventsRequestsAndAlertsShareAPlace(t *testing.T) {
	for _, size := range [][2]int{{200, 55}, {120, 36}, {80, 24}} {
		request := Request{Width: size[0], Height: size[1]}
		place := Arrange(request).Panes[Events]
		if place.Empty() {
			t.Fatalf("%v: no events at first", size)
		}
		for tab := Events; tab <= Alerts; tab++ {
			request.Tab = tab
			l := Arrange(request)
			for other := Events; other <= Alerts; other++ {
				if got := l.Panes[other]; other == tab && got != place || other != tab && !got.Empty() {
					t.Errorf("%v, tab %d: pane %d is at %+v, the place is %+v", size, tab, other, got, place)
				}
			}
		}
		request.Tab, request.Focus = Events, Alerts
		if l := Arrange(request); l.Panes[Alerts].Empty() || !l.Panes[Events].Empty() {
			t.Errorf("%v: the focused tab is not on the screen", size)
		}
	}
}
