package dialog

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/ui/dashboard/paint"
)

// Choices is a group of options in the [Arrange] dialog.
type Choices struct {
	Title   string
	One     bool // exactly one option is on
	Options []Option
}

// Option is one thing that is on or off.
type Option struct {
	Title  string
	Key    string // chooses it at once; "" for none
	On     bool
	Choose func() // turns it on or off; the dialog does not call it
}

// Arrange is the dialog that arranges the board. Choices take effect while it is
// open.
type Arrange struct {
	base
	choice  // of all options
	choices []Choices
	window  window
}

const (
	boardColumn = 31
	boardGap    = 3
	mostColumns = 3
)

// NewArrange opens the dialog.
func NewArrange(choices []Choices) *Arrange {
	a := &Arrange{}
	a.SetChoices(choices)
	return a
}

// SetChoices updates the options. The cursor stays.
func (a *Arrange) SetChoices(choices []Choices) {
	a.choices = choices
	a.of = len(a.options())
}

// Key moves the cursor, or chooses an option.
func (a *Arrange) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	a.said = ""
	all, name := a.options(), key.String()
	chosen := slices.IndexFunc(all, func(o Option) bool { return o.Key != "" && o.Key == name })
	switch name {
	case "esc", "q", "ctrl+c":
		return Answer{Kind: Closed}
	case "left", "h":
		a.moveGroup(-1)
	case "right", "l":
		a.moveGroup(1)
	case "enter", "space":
		if a.at < len(all) {
			return Answer{Option: &all[a.at]}
		}
	default:
		if a.key(name); chosen >= 0 {
			a.at = chosen
			return Answer{Option: &all[chosen]}
		}
	}
	return Answer{}
}

// Click chooses an option, as a key does.
func (a *Arrange) Click(x, y int, _ time.Time) Answer {
	a.said = ""
	target := a.spots.at(x, y)
	if a.click(target) {
		return Answer{Option: &a.options()[a.at]}
	}
	return closedIf(target == clicksClose)
}

func (a *Arrange) options() []Option {
	var all []Option
	for _, c := range a.choices {
		all = append(all, c.Options...)
	}
	return all
}

// moveGroup goes to the first option of the next or previous group.
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
func (a *Arrange) View(l *paint.Line, width, height int) []string {
	box := panelOf(width, "Arrange the board", paint.In(paint.Muted, "space choose   1–5 panes   "), escapes("esc close"))
	if box.foot.Width() > width-frame-4 {
		box.foot[0] = paint.In(paint.Muted, "space choose   ")
	}
	body, at := a.body(box.room(width))
	shown := a.window.of(body, height, at)
	box.badge = a.window.badge()
	return a.draw(l, box, width, height, shown)
}

// body sets the groups side by side. The cursor is on line at.
func (a *Arrange) body(room int) (lines []paint.Spans, at int) {
	columns := max((room+boardGap)/(boardColumn+boardGap), 1)
	width := (room - (columns-1)*boardGap) / columns
	blocks := make([][]paint.Spans, 0, len(a.choices))
	n := 0
	for _, c := range a.choices {
		block := []paint.Spans{heading(c.Title, width)}
		for _, o := range c.Options {
			block = append(block, a.option(o, c.One, n == a.at, width).Clicks(strconv.Itoa(n)))
			n++
		}
		blocks = append(blocks, block)
	}
	filled := distribute(blocks, columns)
	for _, column := range filled {
		at = max(at, slices.IndexFunc(column, func(l paint.Spans) bool { return len(l) > 0 && l[0].Selected }))
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
