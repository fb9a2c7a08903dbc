package dashboard

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// How long the library waits between two looks for something to write.
const (
	frameSoon = time.Millisecond       // after something has happened, once
	frameBusy = 16 * time.Millisecond  // at least, while things go on happening
	frameIdle = 500 * time.Millisecond // while nothing does
)

// frames sets the pace at which the library looks for something to write. By
// itself it looks 60 times a second for as long as the program runs, which is most
// of what an idle dashboard costs, and the screen is entered only at the first
// look. It has no option for another pace (charmbracelet/bubbletea, pull requests
// 1776 and 1796), so its ticker is reached by its name. Where there is none, the
// library keeps its own pace.
type frames struct {
	program *tea.Program

	mu      sync.Mutex
	ticker  *time.Ticker
	next    *time.Timer // ends the hurry; nil before the first
	hurried time.Time   // the last look that was hurried
	pending bool        // one is coming
	stopped bool
}

// hurry has the library look soon, without exceeding 60 looks a second. It is
// called by the program's own loop, which starts after the ticker was made.
func (f *frames) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		f.ticker = tickerOf(f.program)
	}
	if f.ticker == nil || f.stopped || f.pending {
		return
	}
	soon := max(frameSoon, frameBusy-time.Since(f.hurried))
	f.pending = true
	f.ticker.Reset(soon)
	if f.next == nil {
		f.next = time.AfterFunc(soon+frameSoon, f.slow)
	} else {
		f.next.Reset(soon + frameSoon)
	}
}

// slow returns to the idle pace.
func (f *frames) slow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	f.pending, f.hurried = false, time.Now()
	f.ticker.Reset(frameIdle)
}

// stop leaves the ticker alone from here on.
func (f *frames) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	if f.next != nil {
		f.next.Stop()
	}
}

// tickerOf finds the ticker of a program that runs; nil where this version of
// the library has none of that name and type.
func tickerOf(p *tea.Program) *time.Ticker {
	if p == nil {
		return nil
	}
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
}

// hurry has the library write soon what msg may have brought. What data and the
// clock bring is drawn on the canvas.
func (m *Model) hurry(msg tea.Msg) {
	if m.frames == nil {
		return
	}
	switch msg.(type) {
	case changesMsg, tickMsg:
		if m.canvas != nil {
			return
		}
	}
	m.frames.hurry()
}

// hurryModes does the same for what the terminal is told beside the cells.
func (m *Model) hurryModes(before *tea.View) {
	now := &m.drawn
	if m.frames == nil || m.canvas == nil || before.WindowTitle == now.WindowTitle && before.MouseMode == now.MouseMode && sameProgress(before.ProgressBar, now.ProgressBar) {
		return
	}
	m.frames.hurry()
}

func sameProgress(a, b *tea.ProgressBar) bool {
	return a == b || a != nil && b != nil && *a == *b
}
