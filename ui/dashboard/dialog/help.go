package dialog

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Help shows every action by group and what the signs of the board mean.
type Help struct {
	pen      *paint.Line
	table    *action.Table
	disabled func(action.ID) string
	top      int // first line in view
	page     int // lines in view in the last drawing
	lines    int // of the last drawing
	said     string
	spots    spots
}

const (
	helpColumn = 34
	helpKeys   = 14
	helpGap    = 3
)

// NewHelp opens the help at its top. disabled gives the reason why an action is
// disabled, "" when it is not; it may be nil.
func NewHelp(t themes.Theme, table *action.Table, disabled func(action.ID) string) *Help {
	return &Help{pen: newPen(t), table: table, disabled: disabled}
}

// SetTheme changes the colours.
func (h *Help) SetTheme(t themes.Theme) { h.pen = newPen(t) }

// Paste says, until the next key, that pasted text is not taken.
func (h *Help) Paste(string) { h.said = notPasted }

// notPasted is said of a paste where nothing can be typed.
const notPasted = "pasted text is not taken here"

// Key scrolls or closes.
func (h *Help) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	h.said = ""
	switch key.String() {
	case "esc", "q", "?", "enter":
		return Answer{Kind: Closed}
	case "home":
		h.top = 0
		return Answer{}
	case "end":
		h.top = h.lines
		return Answer{}
	case "space":
		h.top += h.page
	}
	a, _ := h.table.Lookup(action.Board, key)
	switch a.ID {
	case action.Help, action.Quit:
		return Answer{Kind: Closed}
	case action.Up:
		h.top--
	case action.Down:
		h.top++
	case action.PageUp:
		h.top -= h.page
	case action.PageDown:
		h.top += h.page
	case action.Top:
		h.top = 0
	case action.Bottom:
		h.top = h.lines
	}
	h.clamp()
	return Answer{}
}

// Scroll moves the view by so many lines, as a mouse wheel does.
func (h *Help) Scroll(lines int) {
	h.top += lines
	h.clamp()
}

func (h *Help) clamp() { h.top = max(min(h.top, h.lines-h.page), 0) }

// Size is the block that the help wants, at most width by height.
func (h *Help) Size(width, height int) (int, int) {
	const most = 3
	columns := h.columns(width - frame - 2*insetFor(width))
	w := min(min(columns, most)*(helpColumn+helpGap)-helpGap+frame+2*insetFor(width), width)
	return w, min(len(h.body(w-frame-2*insetFor(w)))+frame+2, height)
}

// View draws the help as exactly height lines of width cells.
func (h *Help) View(width, height int) []string {
	p := panel{pen: h.pen, frame: inkFaint, inset: insetFor(width), title: line{in(inkStrong, "Help")}}
	body := h.body(p.room(width))
	h.lines, h.page = len(body), max(height-frame-2, 1)
	if height < 12 {
		h.page = max(height-frame, 1)
	}
	h.clamp()
	last := min(h.top+h.page, h.lines)
	p.foot = line{in(inkMuted, "esc close").clicks(clicksClose)}
	if h.lines > h.page {
		p.foot = append(p.foot, in(inkMuted, h.scrolling()))
		p.badge = line{in(inkMuted, fmt.Sprintf("%d–%d of %d", h.top+1, last, h.lines))}
	}
	if h.said != "" {
		p.foot = line{in(inkWarning, h.said)}
	}
	var shown []line
	if height >= 12 {
		shown = append(shown, line{})
	}
	all := rows(needed, append(shown, body[h.top:last]...)...)
	h.spots = p.spots(width, height, all)
	return p.draw(width, height, all)
}

// scrolling names the keys that scroll.
func (h *Help) scrolling() string {
	down, _ := h.table.Action(action.Down)
	up, _ := h.table.Action(action.Up)
	if down.Key() == "" || up.Key() == "" {
		return ""
	}
	return "   " + down.Key() + " " + up.Key() + " scroll"
}

func (h *Help) columns(room int) int { return max((room+helpGap)/(helpColumn+helpGap), 1) }

// body sets the sections side by side.
func (h *Help) body(room int) []line {
	columns := h.columns(room)
	width := (room - (columns-1)*helpGap) / columns
	blocks := h.blocks(width)
	return beside(distribute(blocks, columns), width, helpGap)
}

// distribute fills columns from the left, each as low as the order allows, with
// an empty line between two blocks.
func distribute(blocks [][]line, columns int) [][]line {
	for height := 1; ; height++ {
		filled := [][]line{nil}
		for _, block := range blocks {
			last := len(filled) - 1
			if len(filled[last]) > 0 && len(filled[last])+1+len(block) > height {
				filled = append(filled, nil)
				last++
			}
			if len(filled[last]) > 0 {
				filled[last] = append(filled[last], line{})
			}
			filled[last] = append(filled[last], block...)
		}
		if len(filled) <= columns {
			return filled
		}
	}
}

// beside sets columns of the same width side by side.
func beside(columns [][]line, width, gap int) []line {
	height := 0
	for _, column := range columns {
		height = max(height, len(column))
	}
	out := make([]line, height)
	for y := range height {
		for x, column := range columns {
			var cell line
			if y < len(column) {
				cell = column[y].cut(width)
			}
			out[y] = append(out[y], cell...)
			if x < len(columns)-1 {
				out[y] = append(out[y], space(width-cell.width()+gap))
			}
		}
	}
	return out
}

func (h *Help) blocks(width int) [][]line {
	var blocks [][]line
	for _, section := range h.table.Help() {
		block := []line{h.heading(string(section.Group), width)}
		for _, a := range section.Actions {
			block = append(block, h.entry(a, width)...)
		}
		blocks = append(blocks, block)
	}
	for _, group := range legend() {
		block := []line{h.heading("Signs of "+strings.ToLower(group.title), width)}
		for _, s := range group.signs {
			block = append(block, line{in(s.ink, s.glyph), in(inkText, "  "), in(inkText, s.meaning)})
		}
		blocks = append(blocks, block)
	}
	return blocks
}

func (h *Help) heading(title string, width int) line {
	l := line{in(inkStrong, title), in(inkText, " ")}
	return append(l, in(inkFaint, strings.Repeat("─", max(width-l.width(), 0))))
}

// entry is an action with its keys; below it, while it is disabled, why.
func (h *Help) entry(a action.Action, width int) []line {
	keys := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		keys[i] = action.ShowKey(key)
	}
	shown := in(inkStrong, strings.Join(keys, " "))
	gap := space(max(helpKeys-line{shown}.width(), 1))
	why := ""
	if h.disabled != nil {
		why = h.disabled(a.ID)
	}
	if why == "" {
		return []line{{shown, gap, in(inkText, a.Title)}}
	}
	entry := []line{{in(inkFaint, shown.text), gap, in(inkMuted, a.Title)}}
	for _, l := range wrapped(inkMuted, why, width-helpKeys) {
		entry = append(entry, append(line{space(helpKeys)}, l...))
	}
	return entry
}
