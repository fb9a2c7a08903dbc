package dashboard

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing/synctest"
	"time"
	"unicode"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/pane"
	"tillwatch/ui/dashboard/sign"
)

// check holds what the terminal shows against a drawing of the same model that
// takes nothing from what was drawn before.
func (k *monkey) check() {
	k.catchUp()
	if k.guard != nil {
		k.guard.check(k.t)
	}
	if k.player != nil { // where that stands is drawn with the next message only
		k.drawn = time.Time{}
	}
	for !k.drawn.Equal(time.Now()) { // a sentence may be over that the next tick takes away
		msg := <-k.inbox
		synctest.Wait()
		k.handle(msg)
	}
	lines := k.fresh()
	time.Sleep(k.pause) // what comes meanwhile waits
	synctest.Wait()
	k.measure(lines)
	k.compare(lines)
	k.cursor()
}

// fresh draws everything again. What comes late by intent, the figures of the quota
// and of the pulse, is left until the next second.
func (k *monkey) fresh() []string {
	m := k.m
	redraw := m.redraw
	m.look.Brush = paint.NewBrush(m.themes.current(), m.picture.environment().Live)
	m.line = paint.NewLine(m.look.Brush)
	for i, p := range m.board.panes {
		if at := layout.Pane(i); at != layout.Quota && at != layout.Pulse || k.ticked {
			p.Invalidate()
		}
	}
	lines := m.lines()
	m.redraw = redraw
	return lines
}

// measure sees that a frame fills the screen, and holds nothing but what may
// reach a terminal.
func (k *monkey) measure(lines []string) {
	if len(lines) != k.m.height {
		k.t.Fatalf("the frame has not as many lines as the screen: %d, not %d", len(lines), k.m.height)
	}
	for y, line := range lines {
		if w := ansi.StringWidth(line); w > k.m.width || w < k.m.width && !k.m.dialog.open() {
			k.t.Logf("line %d is %d wide on a screen of %dx%d: %q", y, w, k.m.width, k.m.height, line)
			k.t.Fatalf("a line is not as wide as the screen")
		}
		for _, r := range ansi.Strip(line) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				k.t.Fatalf("%U reaches the terminal", r)
			}
		}
	}
}

// compare goes through the screen cell by cell.
func (k *monkey) compare(lines []string) {
	if k.paper.Width() != k.m.width || k.paper.Height() != k.m.height {
		k.paper.Resize(k.m.width, k.m.height)
	}
	paper := unmarked{k.paper, new([]string)}
	_, _ = fmt.Fprint(paper, ansi.ResetModeAutoWrap+ansi.ResetStyle+ansi.CursorHomePosition+ansi.EraseScreenBelow)
	for y, line := range lines {
		_, _ = fmt.Fprint(paper, ansi.CursorPosition(1, y+1)+ansi.ResetStyle+line)
	}
	for y := range k.m.height {
		for x := range k.m.width {
			got, want := k.screen.CellAt(x, y), k.paper.CellAt(x, y)
			if !looksLike(got, want) {
				k.t.Logf("at %d,%d of %dx%d there is %s, want %s\nshown: %s\ndrawn: %s", x, y, k.m.width, k.m.height, look(got), look(want), k.line(k.screen, y), k.line(k.paper, y))
				k.t.Logf("the terminal was sent lately %q", k.sent)
				k.t.Fatalf("the terminal does not show what the model draws")
			}
		}
	}
}

// commands are those of the operating system: titles, links, notifications.
var commands = regexp.MustCompile(`\x1b\][^\a\x1b]*`)

// unmarked is an emulated terminal that is spared combining marks: it would put one
// that follows a letter of ASCII into the next cell. Of what is no text on the
// screen, such as notifications, it is spared all but ASCII: it would end that in the
// middle of a character that has the byte 0x9c.
type unmarked struct {
	*vt.Emulator
	sent *[]string // lately
}

func (u unmarked) Write(p []byte) (int, error) {
	*u.sent = append((*u.sent)[max(len(*u.sent)-2, 0):], string(p))
	plain := commands.ReplaceAllFunc(p, func(command []byte) []byte {
		return bytes.Map(func(r rune) rune { return min(r, unicode.MaxASCII-1) }, command)
	})
	_, err := u.Emulator.Write(bytes.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, plain))
	return len(p), err
}

// looksLike reports whether one sees the same: of a blank, its ground.
func looksLike(a, b *uv.Cell) bool {
	if a == nil || b == nil {
		return a == b
	}
	blank := func(c *uv.Cell) bool {
		return c.Content == " " || c.Content == "\u00a0" || c.Content == "" && c.Width == 1
	}
	const seen = uv.AttrReverse | uv.AttrStrikethrough
	if blank(a) && blank(b) && (a.Style.Attrs|b.Style.Attrs)&seen == 0 && a.Style.Underline == b.Style.Underline {
		one, other := uv.Style{Bg: a.Style.Bg}, uv.Style{Bg: b.Style.Bg}
		return one.Equal(&other)
	}
	return a.Content == b.Content && a.Width == b.Width && a.Style.Equal(&b.Style) && a.Link == b.Link
}

func look(c *uv.Cell) string {
	if c == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q of %d in %q, link %+v", c.Content, c.Width, c.Style.String(), c.Link)
}

// cells is a screen that can be read.
type cells interface{ CellAt(x, y int) *uv.Cell }

func (k *monkey) line(screen cells, y int) string { return textFrom(screen, 0, k.m.width, y) }

func textFrom(screen cells, from, to, y int) string {
	var b strings.Builder
	for x := from; x < to; x++ {
		if c := screen.CellAt(x, y); c != nil {
			b.WriteString(c.Content)
		}
	}
	return b.String()
}

// cursor sees that the row that stands out in the focused pane is the one whose
// name the board acts on.
func (k *monkey) cursor() {
	r, s := k.m.board.layout.Panes[k.m.board.focus], k.m.board.subject()
	if k.m.board.layout.TooSmall || k.m.dialog.open() || r.Empty() {
		return
	}
	rows := k.selected(r)
	fail := func(what string) {
		k.t.Logf("%v in %s, %+v of %dx%d, the cursor on %+v:", rows, k.m.board.focus, r, k.m.width, k.m.height, s)
		for y := r.Y; y < r.Y+r.H; y++ {
			k.t.Logf("%s", k.line(k.paper, y))
		}
		k.t.Fatalf("%s", what)
	}
	groups, ok := k.m.board.panes[k.m.board.focus].(rowFilterer)
	switch {
	case len(rows) > 2:
		fail("more than one row stands out")
	case ok: // its rows are spenders or failures, which have no detail
		if _, why := groups.RowFilter(); len(rows) > 0 && why == "nothing under the cursor" {
			fail("a row stands out, and the board knows of none")
		}
		return
	case s.Kind == pane.None && len(rows) > 0 && k.m.board.focus != layout.Detail && k.m.board.focus != layout.Alerts: // not every alert is about an intent
		fail("a row stands out, and the board knows of none")
	case s.Kind != pane.None && len(rows) == 0 && r.H > 4:
		fail("no row stands out, and the board acts on one")
	case len(rows) == 0 || k.m.picture.frozen != nil || k.player != nil || k.m.board.focus == layout.Detail:
		return
	}
	k.named(s, rows[0], r)
}

// gutter is where a row that stands out begins.
type gutter struct{ x, y int }

// selected finds the gutters of the row under the cursor.
func (k *monkey) selected(r layout.Rect) (found []gutter) {
	l := paint.NewLine(k.m.look.Brush)
	sample := uv.NewScreenBuffer(2, 1)
	uv.NewStyledString(l.Start(2).On(paint.Selected).Put(paint.Accent, "▌"+sign.Marked().Glyph).String()).Draw(sample, uv.Rect(0, 0, 2, 1))
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			if c := k.paper.CellAt(x, y); looksLike(c, sample.CellAt(0, 0)) || looksLike(c, sample.CellAt(1, 0)) {
				found = append(found, gutter{x, y})
			}
		}
	}
	return found
}

// named sees that a row says what the subject is called, as far as that is plain.
func (k *monkey) named(s pane.Subject, at gutter, r layout.Rect) {
	if k.account.store.Changes(k.m.picture.version).Version != k.m.picture.version {
		return // the board is behind
	}
	var name string
	switch s.Kind {
	case pane.OfIntent:
		if in, ok := k.account.store.Intent(s.ID); ok {
			name = string(in.Product)
		}
	case pane.OfShipment:
		if parcel, ok := k.account.store.Shipment(s.ID); ok {
			name = string(parcel.Product)
		}
	default:
		return
	}
	if name == "" {
		name = string(s.ID)
	}
	first := min(len(name), 3)
	odd := strings.IndexFunc(name, func(c rune) bool { return c < ' ' || c > '~' })
	if odd >= 0 && odd <= first {
		first = max(odd-1, 0) // what is odd may be drawn in one cell with what is before it
	}
	name = strings.TrimSpace(name[:first])
	row := textFrom(k.paper, at.x+1, r.X+r.W, at.y)
	before, _, cut := strings.Cut(row, "…")
	if shown := before[strings.LastIndex(before, " ")+1:]; cut && shown != "" && strings.HasPrefix(name, shown) {
		return // there is room for less of it
	}
	if !strings.Contains(row, name) {
		k.t.Logf("the board acts on %+v, and the row says %q, not %q", s, row, name)
		k.t.Fatalf("the cursor is on another row than it names")
	}
}
