// Package replay controls the player of a recording and draws its position.
package replay

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/recording"
	"tillwatch/ui/wording"
)

// Transport controls the replay of a recording; [recording.Player] is one. No method
// waits until that is shown.
type Transport interface {
	Position() recording.Position
	Pause()      // or continue
	Step(by int) // by a number of changes, and pause
	Seek(to time.Duration)
	SeekBy(by time.Duration)
	ChangeSpeed(by int) // by a number of steps among the usual speeds
}

// How far the keys go.
const (
	shortSeek = 10 * time.Second
	longSeek  = time.Minute
)

// Bar is the last line of the screen: the position of the recording, and a scrubber.
type Bar struct {
	Transport
	Now      func() time.Time // the clock of the recording
	Location *time.Location   // of the shown date
	track    track            // as last drawn
}

// leastTick is the shortest time between two readings of the recording's clock.
const leastTick = 100 * time.Millisecond

// Tick returns the time until the recording's clock should be read again.
func (b *Bar) Tick() time.Duration {
	p := b.Position()
	if p.Paused || p.Ended {
		return time.Second
	}
	return min(max(time.Duration(float64(time.Second)/p.Speed), leastTick), time.Second)
}

// Steer performs an action of the replay; it ignores any other action.
func (b *Bar) Steer(id action.ID) {
	do := map[action.ID]func(){
		action.Pause:          b.Pause,
		action.StepForward:    func() { b.Step(1) },
		action.StepBack:       func() { b.Step(-1) },
		action.SeekForward:    func() { b.SeekBy(shortSeek) },
		action.SeekBack:       func() { b.SeekBy(-shortSeek) },
		action.SeekFarForward: func() { b.SeekBy(longSeek) },
		action.SeekFarBack:    func() { b.SeekBy(-longSeek) },
		action.SeekStart:      func() { b.Seek(0) },
		action.SeekEnd:        func() { b.Seek(b.Position().Length) },
		action.Faster:         func() { b.ChangeSpeed(1) },
		action.Slower:         func() { b.ChangeSpeed(-1) },
	}[id]
	if do != nil {
		do()
	}
}

// track is where the scrubber lies on the transport line.
type track struct{ from, width int }

// place returns the cell of a moment.
func (t track) place(at, length time.Duration) int {
	if length <= 0 {
		return 0
	}
	return min(int(int64(at)*int64(t.width)/int64(length)), t.width-1)
}

// moment returns the moment of a cell.
func (t track) moment(x int, length time.Duration) time.Duration {
	if t.width < 2 {
		return 0
	}
	x = min(max(x-t.from, 0), t.width-1)
	return length * time.Duration(x) / time.Duration(t.width-1)
}

// Draw draws the position of the replay.
func (b *Bar) Draw(l *paint.Line, width int) string {
	p := b.Position()
	l.Start(width).Edge().On(paint.Surface).Space(1)
	glyph, word, style := "▶", "playing", paint.Good
	switch {
	case p.Ended:
		glyph, word, style = "■", "ended", paint.Muted
	case p.Paused:
		glyph, word, style = "‖", "paused", paint.Warning
	}
	l.Put(style|paint.Bold, glyph)
	if width >= 60 {
		l.Space(1).Fit(style|paint.Bold, word, len("playing"))
	}
	length := spell(p.Length)
	if width >= 110 {
		l.Space(1).Put(paint.Muted, b.Now().In(b.Location).Format(time.DateOnly))
	}
	l.Space(1).Right(paint.Text, spell(p.At), positionWidth(p.Length)).Space(1)
	tail := " " + length + "  " + speedWord(p.Speed)
	if width >= 100 {
		tail += "  change " + wording.Count(p.Change) + " of " + wording.Count(p.Changes)
	}
	b.track = track{from: l.At(), width: max(l.Left()-paint.Width(tail)-1, 1)}
	b.scrubber(l, p)
	l.Put(paint.Muted, " "+length).Put(paint.Text, strings.TrimPrefix(tail, " "+length))
	return l.String()
}

// scrubber draws the track: the played part and the rest.
func (b *Bar) scrubber(l *paint.Line, p recording.Position) {
	head := b.track.place(p.At, p.Length)
	l.Put(paint.Accent, strings.Repeat("━", head)).Put(paint.Accent|paint.Bold, "┃")
	l.Put(paint.Faint, strings.Repeat("─", b.track.width-head-1))
}

// Point handles the mouse: it goes to where the scrubber was clicked, or seeks by the
// wheel.
func (b *Bar) Point(msg tea.MouseMsg) {
	at := msg.Mouse()
	_, clicked := msg.(tea.MouseClickMsg)
	_, dragged := msg.(tea.MouseMotionMsg)
	switch {
	case at.Button == tea.MouseWheelUp:
		b.SeekBy(shortSeek)
	case at.Button == tea.MouseWheelDown:
		b.SeekBy(-shortSeek)
	case (clicked || dragged) && at.Button == tea.MouseLeft:
		b.Seek(b.track.moment(at.X, b.Position().Length))
	}
}

// spell writes a position: 2m31s, 1h2m3s.
func spell(d time.Duration) string { return api.Span(d.Truncate(time.Second)) }

// positionWidth returns the cells that every position of a recording fits into.
func positionWidth(length time.Duration) int {
	if length < time.Hour {
		return len("59m59s")
	}
	return len("47h59m59s")
}

func speedWord(speed float64) string {
	return strconv.FormatFloat(speed, 'g', 4, 64) + "×"
}
