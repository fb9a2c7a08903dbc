package dialog

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/paint"
)

// Choices is a group of options in the [Board] dialog.
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

// Board chooses how the board is arranged. What is chosen takes effect behind it
// while it is open.
type Board struct {
	pen     *paint.Line
	choices []Choices
	at      int // of all options
	top     int // first line in view
	page    int // lines in view in the last drawing
	said    string
	spots   spots
}

const (
	boardColumn = 31
	boardGap    = 3
	mostColumns = 3
)

// NewBoard opens the dialog.
func NewBoard(t themes.Theme, choices []Choices) *Board {
	return &Board{pen: newPen(t), choices: choices}
}

// SetTheme changes the colours.
func (b *Board) SetTheme(t themes.Theme) { b.pen = newPen(t) }

// SetChoices takes over what is on now. The cursor stays.
func (b *Board) SetChoices(choices []Choices) { b.choices = choices }

// Refuse tells that pasted text is not taken, until the next key.
func (b *Board) Refuse() { b.said = notPasted }

// Key moves the cursor, or chooses: it returns the ID of the chosen option, or
// that the dialog is to be closed.
func (b *Board) Key(key tea.KeyPressMsg) (chosen string, closed bool) {
	b.said = ""
	switch key.String() {
	case "esc", "q", "ctrl+c":
		return "", true
	case "up", "k", "shift+tab":
		b.move(-1)
	case "down", "j", "tab":
		b.move(1)
	case "left", "h":
		b.moveGroup(-1)
	case "right", "l":
		b.moveGroup(1)
	case "home", "g":
		b.at = 0
	case "end", "G":
		b.at = len(b.options()) - 1
	case "enter", "space":
		if all := b.options(); b.at < len(all) {
			return all[b.at].ID, false
		}
	default:
		for i, o := range b.options() {
			if o.Key != "" && o.Key == key.String() {
				b.at = i
				return o.ID, false
			}
		}
	}
	return "", false
}

// Scroll moves the cursor, as a mouse wheel does.
func (b *Board) Scroll(lines int) {
	b.at = max(min(b.at+lines, len(b.options())-1), 0)
}

func (b *Board) options() []Option {
	var all []Option
	for _, c := range b.choices {
		all = append(all, c.Options...)
	}
	return all
}

// move goes round at both ends.
func (b *Board) move(by int) {
	if n := len(b.options()); n > 0 {
		b.at = (b.at + by + n) % n
	}
}

// moveGroup goes to the first option of the group before or after.
func (b *Board) moveGroup(by int) {
	var firsts []int
	group, n := 0, 0
	for _, c := range b.choices {
		if len(c.Options) == 0 {
			continue
		}
		if b.at >= n {
			group = len(firsts)
		}
		firsts = append(firsts, n)
		n += len(c.Options)
	}
	if len(firsts) > 0 {
		b.at = firsts[(group+by+len(firsts))%len(firsts)]
	}
}

// Size is the block that the dialog wants, at most width by height.
func (b *Board) Size(width, height int) (int, int) {
	inset := insetFor(width)
	columns := min(max((width-frame-2*inset+boardGap)/(boardColumn+boardGap), 1), mostColumns)
	w := min(columns*(boardColumn+boardGap)-boardGap+frame+2*inset, width)
	body, _ := b.body(w - frame - 2*insetFor(w))
	return w, min(len(body)+frame+2, height)
}

// View draws the dialog as exactly height lines of width cells.
func (b *Board) View(width, height int) []string {
	box := panel{pen: b.pen, frame: inkFaint, inset: insetFor(width),
		title: line{in(inkStrong, "Arrange the board")},
		foot:  b.foot("space choose   1–4 panes   "),
	}
	if box.foot.width() > width-frame-4 {
		box.foot = b.foot("space choose   ")
	}
	if b.said != "" {
		box.foot = line{in(inkWarning, b.said)}
	}
	body, at := b.body(box.room(width))
	b.page = max(height-frame-2, 1)
	if height < 12 {
		b.page = max(height-frame, 1)
	}
	b.top = max(min(b.top, at), at-b.page+1)
	b.top = max(min(b.top, len(body)-b.page), 0)
	last := min(b.top+b.page, len(body))
	if len(body) > b.page {
		box.badge = line{in(inkMuted, fmt.Sprintf("%d–%d of %d", b.top+1, last, len(body)))}
	}
	var shown []line
	if height >= 12 {
		shown = append(shown, line{})
	}
	all := rows(needed, append(shown, body[b.top:last]...)...)
	b.spots = box.spots(width, height, all)
	return box.draw(width, height, all)
}

func (b *Board) foot(keys string) line {
	return line{in(inkMuted, keys), in(inkMuted, "esc close").clicks(clicksClose)}
}

// body sets the groups side by side, and tells the line of the cursor.
func (b *Board) body(room int) (lines []line, at int) {
	columns := max((room+boardGap)/(boardColumn+boardGap), 1)
	width := (room - (columns-1)*boardGap) / columns
	blocks := make([][]line, 0, len(b.choices))
	n, cursor := 0, line(nil)
	for _, c := range b.choices {
		heading := line{in(inkStrong, c.Title), in(inkText, " ")}
		block := []line{append(heading, in(inkFaint, strings.Repeat("─", max(width-heading.width(), 0))))}
		for _, o := range c.Options {
			l := b.option(o, c.One, n == b.at, width).clicks(strconv.Itoa(n))
			if n == b.at {
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

func (b *Board) option(o Option, one, under bool, width int) line {
	box, style, quiet, fill := "□", inkMuted, inkMuted, inkText
	switch {
	case one && o.On:
		box, style = "●", inkText
	case one:
		box = "○"
	case o.On:
		box, style = "■", inkText
	}
	if under {
		style, quiet, fill = inkSelected, inkSelectedMuted, inkSelected
	}
	return apart(line{in(style, " "+box+" "+o.Title)}, line{in(quiet, o.Key+" ")}, width, fill)
}
