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
// waits for the file.
type Transport interface {
	Position() recording.Position
	Marks() []recording.Mark
	Pause()      // or continue
	Step(by int) // by a number of changes, and pause
	Seek(to time.Duration)
	SeekBy(by time.Duration)
	SeekMark(by int) (recording.Mark, bool) // to the next mark or the one before, and pause
	ChangeSpeed(by int)                     // by a number of steps among the usual speeds
}

// How far the keys go.
const (
	shortSeek = 10 * time.Second
	longSeek  = time.Minute
)

// Bar is the last line of the screen: the position of the recording, and a scrubber.
type Bar struct {
	Transport
	Now      func() time.Time                    // the clock of the recording
	Location *time.Location                      // of the shown date
	Say      func(kind paint.Style, text string) // shows a notice
	track    track                               // as last drawn
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
		action.NextMark:       func() { b.seekMark(1) },
		action.PreviousMark:   func() { b.seekMark(-1) },
		action.Faster:         func() { b.ChangeSpeed(1) },
		action.Slower:         func() { b.ChangeSpeed(-1) },
	}[id]
	if do != nil {
		do()
	}
}

func (b *Bar) seekMark(by int) {
	mark, ok := b.SeekMark(by)
	switch {
	case ok:
		b.Say(paint.Text, "at "+spell(mark.At)+": "+markWords[mark.Kind])
	case by > 0:
		b.Say(paint.Text, "no further marks")
	default:
		b.Say(paint.Text, "no earlier marks")
	}
}

var markWords = map[recording.Kind]string{
	recording.MarkFailed: "an intent failed", recording.MarkAlert: "an alert was raised",
	recording.MarkRelay: "the relay was lost", recording.MarkGap: "events may be missing",
	recording.MarkEnd: "the rest is damaged and left out",
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

// Draw draws the position of the replay and the marks.
func (b *Bar) Draw(l *paint.Line, width int) string {
	p := b.Position()
	l.Start(width).Edge().On(paint.Surface).Space(1)
	glyph, word, style := "▶", "playing", paint.Good
	switch {
	case p.Seeking:
		glyph, word, style = "…", "seeking", paint.Warning
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

// scrubber draws the track: the played part, the rest, and the marks.
func (b *Bar) scrubber(l *paint.Line, p recording.Position) {
	t := b.track
	kinds := kindsAt(b.Marks(), t, p.Length)
	head := t.place(p.At, p.Length)
	for x := range t.width {
		kind := kinds[x]
		switch {
		case x == head:
			l.Put(paint.Accent|paint.Bold, "┃")
		case kind != "":
			s := markSigns[kind]
			l.Put(s.style, s.glyph)
		case x < head:
			l.Put(paint.Accent, "━")
		default:
			l.Put(paint.Faint, "─")
		}
	}
}

// kindsAt returns the kind of mark in each cell, the most urgent one of several.
func kindsAt(marks []recording.Mark, t track, length time.Duration) []recording.Kind {
	kinds := make([]recording.Kind, t.width)
	for _, mark := range marks {
		if x := t.place(mark.At, length); mark.Kind.Rank() > kinds[x].Rank() {
			kinds[x] = mark.Kind
		}
	}
	return kinds
}

var markSigns = map[recording.Kind]struct {
	glyph string
	style paint.Style
}{
	recording.MarkFailed: {"✕", paint.Failed}, recording.MarkAlert: {"⚑", paint.Warning},
	recording.MarkRelay: {"↯", paint.Bad}, recording.MarkGap: {"┊", paint.Warning}, recording.MarkEnd: {"░", paint.Bad},
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
