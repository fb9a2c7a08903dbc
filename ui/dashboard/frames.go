package dashboard

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// How long the library waits between two looks for a new frame.
const (
	frameSoon = time.Millisecond       // after something has happened, once
	frameBusy = 16 * time.Millisecond  // while things go on happening: 60 frames a second
	frameIdle = 500 * time.Millisecond // while nothing does
)

// How long the library goes on looking soon, and then often.
const (
	soonLasts = 3 * time.Millisecond
	busyLasts = 150 * time.Millisecond
)

// frames sets the pace at which the library looks for a new frame. By itself it
// looks 60 times a second for as long as the program runs, which is most of what
// an idle dashboard costs, and lets each key wait for the next look. It has no
// option for another pace (charmbracelet/bubbletea, pull requests 1776 and 1796),
// so its ticker is reached by its name. Where there is none, the library keeps
// its own pace.
type frames struct {
	program *tea.Program

	mu      sync.Mutex
	ticker  *time.Ticker
	next    *time.Timer // slows down; nil before the first hurry
	hurried time.Time
	stopped bool
}

// hurry has the frame after this moment drawn soon, without exceeding 60 a
// second. It is called by the program's own loop, which starts after the ticker
// was made.
func (f *frames) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		f.ticker = tickerOf(f.program)
	}
	now := time.Now()
	if f.ticker == nil || f.stopped {
		return
	}
	if now.Sub(f.hurried) < frameBusy { // it looks often enough for this one
		return
	}
	f.hurried = now
	f.ticker.Reset(frameSoon)
	if f.next == nil {
		f.next = time.AfterFunc(soonLasts, f.slow)
	} else {
		f.next.Reset(soonLasts)
	}
}

// now is hurry for a frame that nobody has waited for long enough to exceed 60 a
// second: the first.
func (f *frames) now() {
	f.mu.Lock()
	f.hurried = time.Time{}
	f.mu.Unlock()
	f.hurry()
}

// slow goes to the next slower pace.
func (f *frames) slow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch since := time.Since(f.hurried); {
	case f.stopped:
	case since < soonLasts: // a hurry came first
	case since < busyLasts:
		f.ticker.Reset(frameBusy)
		f.next.Reset(busyLasts - since)
	default:
		f.ticker.Reset(frameIdle)
	}
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
