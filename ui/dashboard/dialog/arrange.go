package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

// Choices is a group of options in the [Arrange] dialog.
type Choices struct {
	Title   string
	One     bool // exactly one of the options is on
	Options []Option
}

// Option is one thing that is on or off.
type Option struct {
	ID    string
	Title string
	Key   string // chooses it at once; "" for none
	On    bool
}

// Arrange is the dialog that chooses how the board is arranged. What is chosen takes effect behind it
// while it is open.
type Arrange struct {
	pen     *paint.Line
	choices []Choices
	at      int // of all options
	top     int // first paint.Spans in view
	page    int // lines in view in the last drawing
	said    string
	spots   spots
}

const (
	boardColumn = 31
	boardGap    = 3
	mostColumns = 3
)

// NewArrange opens the dialog.
func NewArrange(t themes.Theme, choices []Choices) *Arrange {
	return &Arrange{pen: paint.NewLine(paint.NewBrush(t, false)), choices: choices}
}

// SetTheme changes the colours.
func (a *Arrange) SetTheme(t themes.Theme) { a.pen = paint.NewLine(paint.NewBrush(t, false)) }

// SetChoices takes over what is on now. The cursor stays.
func (a *Arrange) SetChoices(choices []Choices) { a.choices = choices }

// Paste says, until the next key, that pasted text is not taken.
func (a *Arrange) Paste(string) { a.said = notPasted }

// Key moves the cursor, or chooses an option.
func (a *Arrange) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	a.said = ""
	switch key.String() {
	case "esc", "q", "ctrl+c":
		return Answer{Kind: Closed}
	case "up", "k", "shift+tab":
		a.move(-1)
	case "down", "j", "tab":
		a.move(1)
	case "left", "h":
		a.moveGroup(-1)
	case "right", "l":
		a.moveGroup(1)
	case "home", "g":
		a.at = 0
	case "end", "G":
		a.at = len(a.options()) - 1
	case "enter", "space":
		if all := a.options(); a.at < len(all) {
			return Answer{Option: all[a.at].ID}
		}
	default:
		for i, o := range a.options() {
			if o.Key != "" && o.Key == key.String() {
				a.at = i
				return Answer{Option: o.ID}
			}
		}
	}
	return Answer{}
}

// Scroll moves the cursor, as a mouse wheel does.
func (a *Arrange) Scroll(lines int) {
	a.at = max(min(a.at+lines, len(a.options())-1), 0)
}

func (a *Arrange) options() []Option {
	var all []Option
	for _, c := range a.choices {
		all = append(all, c.Options...)
	}
	return all
}

// move goes round at both ends.
func (a *Arrange) move(by int) {
	if n := len(a.options()); n > 0 {
		a.at = (a.at + by + n) % n
	}
}

// moveGroup goes to the first option of the group before or after.
func (a *Arrange) moveGroup(by int) {
	var firsts []int
	group, n := 0, 0
	for _, c := range a.choices {
		if len(c.Options) == 0 {
			continue
		}
		if a.at >= n {
			group = len(firsts)
		}
		firsts = append(firsts, n)
		n += len(c.Options)
	}
	if len(firsts) > 0 {
		a.at = firsts[(group+by+len(firsts))%len(firsts)]
	}
}

// Size is the block that the dialog wants, at most width by height.
func (a *Arrange) Size(width, height int) (int, int) {
	inset := insetFor(width)
	columns := min(max((width-frame-2*inset+boardGap)/(boardColumn+boardGap), 1), mostColumns)
	w := min(columns*(boardColumn+boardGap)-boardGap+frame+2*inset, width)
	body, _ := a.body(w - frame - 2*insetFor(w))
	return w, min(len(body)+frame+2, height)
}

// View draws the dialog as exactly height lines of width cells.
func (a *Arrange) View(width, height int) []string {
	box := panel{pen: a.pen, frame: paint.Faint, inset: insetFor(width),
		title: paint.Spans{paint.In(paint.Text|paint.Bold, "Arrange the board")},
		foot:  a.foot("space choose   1–5 panes   "),
	}
	if box.foot.Width() > width-frame-4 {
		box.foot = a.foot("space choose   ")
	}
	if a.said != "" {
		box.foot = paint.Spans{paint.In(paint.Warning, a.said)}
	}
	body, at := a.body(box.room(width))
	a.page = max(height-frame-2, 1)
	if height < 12 {
		a.page = max(height-frame, 1)
	}
	a.top = max(min(a.top, at), at-a.page+1)
	a.top = max(min(a.top, len(body)-a.page), 0)
	last := min(a.top+a.page, len(body))
	if len(body) > a.page {
		box.badge = paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d–%d of %d", a.top+1, last, len(body)))}
	}
	var shown []paint.Spans
	if height >= 12 {
		shown = append(shown, paint.Spans{})
	}
	all := rows(needed, append(shown, body[a.top:last]...)...)
	a.spots = box.spots(width, height, all)
	return box.draw(width, height, all)
}

func (a *Arrange) foot(keys string) paint.Spans {
	return paint.Spans{paint.In(paint.Muted, keys), paint.In(paint.Muted, "esc close").Clicks(clicksClose)}
}

// body sets the groups side by side. The cursor is on line at.
func (a *Arrange) body(room int) (lines []paint.Spans, at int) {
	columns := max((room+boardGap)/(boardColumn+boardGap), 1)
	width := (room - (columns-1)*boardGap) / columns
	blocks := make([][]paint.Spans, 0, len(a.choices))
	n, cursor := 0, paint.Spans(nil)
	for _, c := range a.choices {
		heading := paint.Spans{paint.In(paint.Text|paint.Bold, c.Title), paint.In(paint.Text, " ")}
		block := []paint.Spans{append(heading, paint.In(paint.Faint, strings.Repeat("─", max(width-heading.Width(), 0))))}
		for _, o := range c.Options {
			l := a.option(o, c.One, n == a.at, width).Clicks(strconv.Itoa(n))
			if n == a.at {
				cursor = l
			}
			block = append(block, l)
			n++
		}
		blocks = append(blocks, block)
	}
	filled := distribute(blocks, columns)
	for _, column := range filled {
		for y, l := range column {
			if len(cursor) > 0 && len(l) > 0 && &l[0] == &cursor[0] {
				at = y
			}
		}
	}
	return beside(filled, width, boardGap), at
}

func (a *Arrange) option(o Option, one, under bool, width int) paint.Spans {
	box, style := "□", paint.Muted
	switch {
	case one && o.On:
		box, style = "●", paint.Text
	case one:
		box = "○"
	case o.On:
		box, style = "■", paint.Text
	}
	if under {
		style = paint.Text
	}
	l := paint.Apart(paint.Spans{paint.In(style, " "+box+" "+o.Title)}, paint.Spans{paint.In(paint.Muted, o.Key+" ")}, width)
	if under {
		l.Select()
	}
	return l
}
