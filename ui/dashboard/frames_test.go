package dashboard

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// looks counts the looks of a library with this ticker in some time.
func looks(ticker *time.Ticker, in time.Duration) (n int) {
	for end := time.After(in); ; {
		select {
		case <-ticker.C:
			n++
		case <-end:
			return n
		}
	}
}

func TestFramesAreLookedForWhenSomethingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &frames{ticker: time.NewTicker(frameBusy)}
		defer f.ticker.Stop()
		defer f.stop()
		f.hurry()
		if n := looks(f.ticker, frameSoon+time.Microsecond); n != 1 {
			t.Errorf("%d looks right after something has happened, want 1", n)
		}
		looks(f.ticker, time.Second)
		if n := looks(f.ticker, time.Minute); n != int(time.Minute/frameIdle) {
			t.Errorf("%d looks in an idle minute, want %d", n, time.Minute/frameIdle)
		}
		time.Sleep(frameIdle / 3) // between two looks
		f.hurry()
		if n := looks(f.ticker, frameSoon+time.Microsecond); n != 1 {
			t.Errorf("%d looks right after an idle time, want 1", n)
		}
	})
}

func TestManyThingsAreShownInFewFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &frames{ticker: time.NewTicker(frameBusy)}
		defer f.ticker.Stop()
		defer f.stop()
		seen, longest, last := 0, time.Duration(0), time.Now()
		for range 10_000 { // things that happen in 10 s
			f.hurry()
			time.Sleep(time.Millisecond)
			select {
			case <-f.ticker.C:
				seen++
				longest, last = max(longest, time.Since(last)), time.Now()
			default:
			}
		}
		// One soon and two more until the pace is the usual one again, at most.
		if most := 3 * int(10*time.Second/frameBusy); seen > most {
			t.Errorf("%d looks, want at most %d", seen, most)
		}
		if longest > 2*frameBusy {
			t.Errorf("nothing was shown for %v", longest)
		}
	})
}

// ending is a model that ends at once.
type ending struct{ frames *frames }

func (m ending) Init() tea.Cmd { return tea.Quit }
func (m ending) Update(tea.Msg) (tea.Model, tea.Cmd) {
	m.frames.hurry()
	return m, nil
}
func (m ending) View() tea.View { return tea.NewView("") }

func TestTheLibraryHasTheTickerThatIsPaced(t *testing.T) {
	f := &frames{}
	f.program = tea.NewProgram(ending{f}, tea.WithContext(context.Background()),
		tea.WithInput(&bytes.Buffer{}), tea.WithOutput(&bytes.Buffer{}), tea.WithWindowSize(10, 5), tea.WithoutSignalHandler())
	if _, err := f.program.Run(); err != nil {
		t.Fatal(err)
	}
	f.stop()
	if f.ticker == nil {
		t.Error("the library's ticker was not found: an idle dashboard draws 60 times a second for nothing")
	}
}
