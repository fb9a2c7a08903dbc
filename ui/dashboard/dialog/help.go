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
	top      int // first paint.Spans in view
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
	return &Help{pen: paint.NewLine(paint.NewBrush(t, false)), table: table, disabled: disabled}
}

// SetTheme changes the colours.
func (h *Help) SetTheme(t themes.Theme) { h.pen = paint.NewLine(paint.NewBrush(t, false)) }

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
	p := panel{pen: h.pen, frame: paint.Faint, inset: insetFor(width), title: paint.Spans{paint.In(paint.Text|paint.Bold, "Help")}}
	body := h.body(p.room(width))
	h.lines, h.page = len(body), max(height-frame-2, 1)
	if height < 12 {
		h.page = max(height-frame, 1)
	}
	h.clamp()
	last := min(h.top+h.page, h.lines)
	p.foot = paint.Spans{paint.In(paint.Muted, "esc close").Clicks(clicksClose)}
	if h.lines > h.page {
		p.foot = append(p.foot, paint.In(paint.Muted, h.scrolling()))
		p.badge = paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d–%d of %d", h.top+1, last, h.lines))}
	}
	if h.said != "" {
		p.foot = paint.Spans{paint.In(paint.Warning, h.said)}
	}
	var shown []paint.Spans
	if height >= 12 {
		shown = append(shown, paint.Spans{})
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
func (h *Help) body(room int) []paint.Spans {
	columns := h.columns(room)
	width := (room - (columns-1)*helpGap) / columns
	blocks := h.blocks(width)
	return beside(distribute(blocks, columns), width, helpGap)
}

// distribute fills columns from the left, each as low as the order allows, with
// an empty line between two blocks.
func distribute(blocks [][]paint.Spans, columns int) [][]paint.Spans {
	for height := 1; ; height++ {
		filled := [][]paint.Spans{nil}
		for _, block := range blocks {
			last := len(filled) - 1
			if len(filled[last]) > 0 && len(filled[last])+1+len(block) > height {
				filled = append(filled, nil)
				last++
			}
			if len(filled[last]) > 0 {
				filled[last] = append(filled[last], paint.Spans{})
			}
			filled[last] = append(filled[last], block...)
		}
		if len(filled) <= columns {
			return filled
		}
	}
}

// beside sets columns of the same width side by side.
func beside(columns [][]paint.Spans, width, gap int) []paint.Spans {
	height := 0
	for _, column := range columns {
		height = max(height, len(column))
	}
	out := make([]paint.Spans, height)
	for y := range height {
		for x, column := range columns {
			var cell paint.Spans
			if y < len(column) {
				cell = column[y].Cut(width)
			}
			out[y] = append(out[y], cell...)
			if x < len(columns)-1 {
				out[y] = append(out[y], paint.Blank(width-cell.Width()+gap))
			}
		}
	}
	return out
}

func (h *Help) blocks(width int) [][]paint.Spans {
	var blocks [][]paint.Spans
	for _, section := range h.table.Help() {
		block := []paint.Spans{h.heading(string(section.Group), width)}
		for _, a := range section.Actions {
			block = append(block, h.entry(a, width)...)
		}
		blocks = append(blocks, block)
	}
	for _, group := range legend() {
		block := []paint.Spans{h.heading("Signs of "+strings.ToLower(group.title), width)}
		for _, s := range group.signs {
			block = append(block, paint.Spans{paint.In(s.style, s.glyph), paint.In(paint.Text, "  "), paint.In(paint.Text, s.meaning)})
		}
		blocks = append(blocks, block)
	}
	return blocks
}

func (h *Help) heading(title string, width int) paint.Spans {
	l := paint.Spans{paint.In(paint.Text|paint.Bold, title), paint.In(paint.Text, " ")}
	return append(l, paint.In(paint.Faint, strings.Repeat("─", max(width-l.Width(), 0))))
}

// entry is an action with its keys; below it, while it is disabled, why.
func (h *Help) entry(a action.Action, width int) []paint.Spans {
	keys := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		keys[i] = action.ShowKey(key)
	}
	shown := paint.In(paint.Text|paint.Bold, strings.Join(keys, " "))
	gap := paint.Blank(max(helpKeys-shown.Width(), 1))
	why := ""
	if h.disabled != nil {
		why = h.disabled(a.ID)
	}
	if why == "" {
		return []paint.Spans{{shown, gap, paint.In(paint.Text, a.Title)}}
	}
	entry := []paint.Spans{{paint.In(paint.Muted, shown.Text), gap, paint.In(paint.Muted, a.Title)}}
	for _, l := range paint.Wrapped(paint.Muted, why, width-helpKeys) {
		entry = append(entry, append(paint.Spans{paint.Blank(helpKeys)}, l...))
	}
	return entry
}
