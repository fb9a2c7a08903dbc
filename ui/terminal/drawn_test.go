package terminal

import (
	"testing"
	"time"
)

func chunk(at time.Duration, text string) Chunk { return Chunk{At: at, Bytes: []byte(text)} }

func TestDrawingIsCountedInFramesAndCells(t *testing.T) {
	const second = time.Second
	chunks := []Chunk{
		chunk(0, "\x1b[Hbefore"),
		chunk(second, "\x1b[Hbef"), // the same again
		chunk(2*second, "\x1b[H"),
		chunk(2*second+time.Millisecond, "X"), // of the same frame
		chunk(3*second, "\x1b[31mYZ"),
	}
	for name, want := range map[string]struct {
		after time.Duration
		drawn Drawn
	}{
		"all but the first":        {0, Drawn{For: 3 * second, Bytes: 17, Frames: 3, Cells: 3}},
		"only the last":            {2*second + time.Millisecond, Drawn{For: second - time.Millisecond, Bytes: 7, Frames: 1, Cells: 2}},
		"nothing is left to count": {4 * second, Drawn{}},
	} {
		if got := Count(chunks, want.after, 20, 3); got != want.drawn {
			t.Errorf("%s: got %+v, want %+v", name, got, want.drawn)
		}
	}
}

func TestTheFirstPaintIsNoEscapeSequence(t *testing.T) {
	at, painted := FirstPaint([]Chunk{
		chunk(1, "\x1b[?1049h\x1b[2J"), chunk(2, "   \r\n"), chunk(3, "\x1b[5;5Hx"), chunk(4, "y"),
	}, 20, 8)
	if at != 3 || !painted {
		t.Errorf("painted at %d, %v", at, painted)
	}
	if _, painted := FirstPaint([]Chunk{chunk(1, "\x1b[?1049h")}, 20, 8); painted {
		t.Error("an empty screen counts as painted")
	}
}
