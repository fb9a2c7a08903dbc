package dialog

import (
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Help shows every action by group and what the signs of the board mean.
type Help struct {
	reading
	disabled func(action.ID) string
	sought   string // the search text; only matching lines are shown
	typing   bool   // the search text is being typed
}

const (
	helpColumn = 34
	helpKeys   = 14
	helpGap    = 3
)

// NewHelp opens the help at its top. disabled gives the reason why an action is
// disabled, or ""; it may be nil.
func NewHelp(table *action.Table, disabled func(action.ID) string) *Help {
	return &Help{reading: reading{table: table, opens: action.Help}, disabled: disabled}
}

// Paste searches for pasted text or, where nothing is typed, says until the next key
// that it is not accepted.
func (h *Help) Paste(text string) {
	if !h.typing {
		h.base.Paste(text)
		return
	}
	if h.fits(h.sought, text, longestSought) {
		h.search(h.sought + text)
	}
}

// longestSought is the longest search text in characters.
const longestSought = 40

func (h *Help) search(text string) {
	if utf8.RuneCountInString(text) <= longestSought {
		h.sought, h.top = paint.Drawable(string(api.Scrub(text))), 0
	}
}

// typeKey handles a key of the search, and reports whether it was one.
func (h *Help) typeKey(key tea.KeyPressMsg) bool {
	switch name := key.String(); {
	case name == "/" && !h.typing:
		h.typing = true
	case name == "esc" && (h.typing || h.sought != ""):
		h.typing = false
		h.search("")
	case !h.typing:
		return false
	case name == "enter":
		h.typing = false
	case name == "backspace" && h.sought == "":
		h.typing = false
	case name == "backspace":
		_, size := utf8.DecodeLastRuneInString(h.sought)
		h.search(h.sought[:len(h.sought)-size])
	case key.Text == "":
		return false
	default:
		h.search(h.sought + key.Text)
	}
	return true
}

// Key searches, scrolls or closes.
func (h *Help) Key(key tea.KeyPressMsg, at time.Time) Answer {
	switch {
	case h.typeKey(key):
		h.said = ""
		return Answer{}
	case key.String() == "?":
		return Answer{Kind: Closed}
	}
	return h.reading.Key(key, at)
}

// Size is the block that the help wants, at most width by height.
func (h *Help) Size(width, height int) (int, int) {
	const most = 3
	inset := helpInset(width)
	columns := h.columns(width - frame - 2*inset)
	w := min(min(columns, most)*(helpColumn+helpGap)-helpGap+frame+2*inset, width)
	return w, min(len(h.body(w-frame-2*helpInset(w), ""))+frame+2, height)
}

// helpInset is the margin at the sides. Two columns matter more.
func helpInset(width int) int {
	if inset := insetFor(width); width >= 2*helpColumn+helpGap+frame+2*inset {
		return inset
	}
	return min(insetFor(width), 1)
}

// View draws the help as exactly height lines of width cells.
func (h *Help) View(l *paint.Line, width, height int) []string {
	p := panel{frame: paint.Faint, inset: helpInset(width), title: h.title(width), foot: h.foot()}
	return h.view(l, p, h.body(p.room(width), h.sought), h.scrolling(), width, height)
}

// title names the help, and says once what is impossible in this whole run.
func (h *Help) title(width int) paint.Spans {
	title := paint.Spans{paint.In(paint.Text|paint.Bold, "Help")}
	reason := action.ReadOnlyReason
	if width < 2*helpColumn {
		reason, _, _ = strings.Cut(reason, ":")
	}
	if _, here := h.table.Action(action.Confirm); here && h.why(action.Confirm) == action.ReadOnlyReason {
		title = append(title, paint.In(paint.Muted, " · "+reason))
	}
	return title
}

// foot names the keys, or shows the search text.
func (h *Help) foot() paint.Spans {
	switch {
	case h.typing:
		return paint.Spans{paint.In(paint.Accent|paint.Bold, "/ "), paint.In(paint.Text, h.sought), paint.In(paint.Accent, "▏"), paint.In(paint.Muted, " enter keeps it   esc shows all")}
	case h.sought != "":
		return paint.Spans{paint.In(paint.Accent, "/ "+h.sought), paint.In(paint.Muted, "   esc shows all")}
	}
	return paint.Spans{escapes("esc close"), paint.In(paint.Muted, "  / search")}
}

// why says why an action is not possible now.
func (h *Help) why(id action.ID) string {
	if h.disabled == nil {
		return ""
	}
	return h.disabled(id)
}

// scrolling names the keys that scroll.
func (h *Help) scrolling() string {
	down, _ := h.table.Action(action.Down)
	up, _ := h.table.Action(action.Up)
	if down.Key() == "" || up.Key() == "" {
		return ""
	}
	return "  " + down.Key() + " " + up.Key() + " scroll"
}

func (h *Help) columns(room int) int { return max((room+helpGap)/(helpColumn+helpGap), 1) }

// body puts the sections side by side.
func (h *Help) body(room int, sought string) []paint.Spans {
	columns := h.columns(room)
	width := (room - (columns-1)*helpGap) / columns
	blocks := h.blocks(width, strings.ToLower(sought))
	if len(blocks) == 0 {
		return []paint.Spans{{paint.In(paint.Muted, "nothing in the help contains "+sought)}}
	}
	return beside(distribute(blocks, columns), width, helpGap)
}

// distribute fills columns from the left, each as short as the order allows, with an
// empty line between blocks.
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

// beside joins columns of the same width.
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

// blocks are the groups, reduced to what matches the search.
func (h *Help) blocks(width int, sought string) [][]paint.Spans {
	var blocks [][]paint.Spans
	add := func(title string, rows []paint.Spans) {
		if len(rows) > 0 {
			blocks = append(blocks, append([]paint.Spans{heading(title, width)}, rows...))
		}
	}
	holds := func(texts ...string) bool {
		return strings.Contains(strings.ToLower(strings.Join(texts, "\n")), sought)
	}
	for _, section := range h.table.Help() {
		var rows []paint.Spans
		for _, a := range section.Actions {
			if holds(a.Title, string(a.ID), shownKeys(a)) {
				rows = append(rows, h.entry(a))
			}
		}
		add(string(section.Group), rows)
	}
	for _, group := range legend() {
		var rows []paint.Spans
		for _, s := range group.signs {
			if holds(s.glyph, s.meaning) {
				rows = append(rows, paint.Spans{paint.In(s.style, s.glyph), paint.In(paint.Text, "  "), paint.In(paint.Text, s.meaning)})
			}
		}
		add("Signs of "+strings.ToLower(group.title), rows)
	}
	return blocks
}

func shownKeys(a action.Action) string {
	keys := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		keys[i] = action.ShowKey(key)
	}
	return strings.Join(keys, " ")
}

// entry is an action with its keys. An impossible one is faint: its key says why.
func (h *Help) entry(a action.Action) paint.Spans {
	keys, title := paint.Text|paint.Bold, paint.Text
	if h.why(a.ID) != "" {
		keys, title = paint.Muted, paint.Muted
	}
	shown := paint.In(keys, shownKeys(a))
	return paint.Spans{shown, paint.Blank(max(helpKeys-shown.Width(), 1)), paint.In(title, a.Title)}
}
