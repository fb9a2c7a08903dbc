package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"tillwatch/themes"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Palette finds an action by a few of its letters.
type Palette struct {
	pen      *paint.Line
	table    *action.Table
	scope    action.Scope
	disabled func(action.ID) string
	field    textinput.Model
	hits     []hit
	at       int // the hit under the cursor
	top      int // the first hit in view
	spots    spots
	refused  string
}

type hit struct {
	action  action.Action
	matched []int // byte offsets in the title
}

const (
	paletteWidth = 66
	paletteRows  = 12
	aboutLines   = 2 // about the action under the cursor
)

// NewPalette opens the palette with all actions of the scope. disabled gives
// the reason why an action is disabled, "" when it is not; it may be nil.
func NewPalette(t themes.Theme, table *action.Table, scope action.Scope, disabled func(action.ID) string) *Palette {
	p := &Palette{table: table, scope: scope, disabled: disabled, field: newField(64)}
	p.SetTheme(t)
	p.field.Focus()
	p.search()
	return p
}

// SetTheme changes the colours.
func (p *Palette) SetTheme(t themes.Theme) {
	p.pen = paint.NewLine(paint.NewBrush(t, false))
}

// Paste types what is pasted.
func (p *Palette) Paste(text string) { p.write(tea.PasteMsg{Content: text}) }

// Key moves, types or chooses. Of an action that is disabled it says why.
func (p *Palette) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	switch key.String() {
	case "esc", "ctrl+c":
		return Answer{Kind: Closed}
	case "enter":
		return p.choose()
	case "up", "ctrl+p", "shift+tab":
		p.move(-1)
	case "down", "ctrl+n", "tab":
		p.move(1)
	case "pgup":
		p.move(max(-paletteRows, -p.at))
	case "pgdown":
		p.move(min(paletteRows, len(p.hits)-1-p.at))
	case "backspace":
		if p.field.Value() == "" {
			return Answer{Kind: Closed}
		}
		p.write(key)
	default:
		p.write(key)
	}
	return Answer{}
}

func (p *Palette) choose() Answer {
	if len(p.hits) == 0 {
		return Answer{}
	}
	id := p.hits[p.at].action.ID
	if reason := p.reason(id); reason != "" {
		p.refused = reason
		return Answer{}
	}
	return Answer{Kind: Closed, Do: id}
}

func (p *Palette) reason(id action.ID) string {
	if p.disabled == nil {
		return ""
	}
	return p.disabled(id)
}

// move goes round at both ends.
func (p *Palette) move(by int) {
	p.refused = ""
	if n := len(p.hits); n > 0 {
		p.at = ((p.at+by)%n + n) % n
	}
}

func (p *Palette) write(msg tea.Msg) {
	before := p.field.Value()
	p.field, _ = p.field.Update(scrubbed(msg))
	if p.field.Value() != before {
		p.search()
	}
}

func (p *Palette) search() {
	p.at, p.top, p.refused, p.hits = 0, 0, "", nil
	all := slices.DeleteFunc(p.table.Actions(), func(a action.Action) bool {
		return !a.Scope.Overlaps(p.scope) || a.ID == action.Palette
	})
	typed := p.field.Value()
	if typed == "" {
		slices.SortStableFunc(all, func(a, b action.Action) int { return cmp.Compare(late(a), late(b)) })
		for _, a := range all {
			p.hits = append(p.hits, hit{action: a})
		}
		return
	}
	titles := make([]string, len(all))
	for i, a := range all {
		titles[i] = a.Title
	}
	for _, match := range fuzzy.Find(typed, titles) {
		p.hits = append(p.hits, hit{action: all[match.Index], matched: match.MatchedIndexes})
	}
}

// late puts what everybody has in the fingers below the rest.
func late(a action.Action) int {
	switch a.Group {
	case action.Focus:
		return 1
	case action.Move:
		return 2
	}
	return 0
}

// Size is the block that the palette wants, at most width by height. Its height
// does not follow the hits, so that it stands still while one types.
func (p *Palette) Size(width, height int) (int, int) {
	const around = frame + 5 + aboutLines
	return min(paletteWidth, width), min(paletteRows+around, height)
}

// View draws the palette as exactly height lines of width cells.
func (p *Palette) View(width, height int) []string {
	box := panel{pen: p.pen, frame: paint.Faint, inset: insetFor(width),
		title: paint.Spans{paint.In(paint.Text|paint.Bold, "Find an action")},
		badge: paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d of %d", min(p.at+1, len(p.hits)), len(p.hits)))},
		foot:  paint.Spans{paint.In(paint.Muted, "enter do").Clicks(clicksDo), paint.In(paint.Muted, "   ↑ ↓ choose   "), paint.In(paint.Muted, "esc close").Clicks(clicksClose)},
	}
	room := box.room(width)
	visible := max(height-frame-5-aboutLines, 1)
	spacious := height >= 12
	if !spacious {
		visible = max(height-frame-2, 1)
	}
	var body []paint.Spans
	if spacious {
		body = append(body, paint.Spans{})
	}
	body = append(body, p.input(room))
	if spacious {
		body = append(body, paint.Spans{paint.In(paint.Faint, strings.Repeat("─", room))})
	}
	list := p.list(room, visible)
	body = append(body, list...)
	for range visible - len(list) {
		body = append(body, paint.Spans{})
	}
	if spacious {
		body = append(body, paint.Spans{})
	}
	about := p.about(room)
	if !spacious && len(about) > 1 {
		about = []paint.Spans{append(about[0], paint.In(paint.Muted, "…")).Cut(room)}
	}
	body = append(body, about...)
	p.spots = box.spots(width, height, rows(needed, body...))
	return box.draw(width, height, rows(needed, body...))
}

func (p *Palette) input(room int) paint.Spans {
	return append(paint.Spans{paint.In(paint.Accent|paint.Bold, ":"), paint.Blank(1)}, typed(p.field, max(room-2, 1))...)
}

func (p *Palette) list(room, visible int) []paint.Spans {
	if len(p.hits) == 0 {
		return []paint.Spans{{paint.In(paint.Muted, "No action matches.")}}
	}
	if p.at < p.top {
		p.top = p.at
	}
	if p.at >= p.top+visible {
		p.top = p.at - visible + 1
	}
	p.top = max(min(p.top, len(p.hits)-visible), 0)
	var out []paint.Spans
	for i := p.top; i < min(p.top+visible, len(p.hits)); i++ {
		out = append(out, p.entry(p.hits[i], i == p.at, room).Clicks(strconv.Itoa(i)))
	}
	return out
}

func (p *Palette) entry(h hit, chosen bool, room int) paint.Spans {
	plain, sought := paint.Text, paint.Text|paint.Bold|paint.Underline
	marker := "  "
	if chosen {
		marker = "▸ "
		sought = paint.Accent | paint.Bold | paint.Underline
	}
	if p.reason(h.action.ID) != "" {
		plain = paint.Muted
	}
	left := append(paint.Spans{paint.In(plain, marker)}, marked(h, plain, sought)...)
	key := paint.Spans{paint.In(paint.Muted, h.action.Key()+" ")}
	if reason := p.reason(h.action.ID); reason != "" {
		short, _, _ := strings.Cut(reason, ":")
		for _, why := range []string{reason, short} {
			whole := append(slices.Clip(left), paint.In(paint.Muted, " — "+why))
			if whole.Width()+2+key.Width() <= room {
				left = whole
				break
			}
		}
	}
	l := paint.Apart(left, key, room)
	if chosen {
		l.Select()
	}
	return l
}

// marked underlines the letters that were found.
func marked(h hit, plain, sought paint.Style) paint.Spans {
	var out paint.Spans
	for i, letter := range h.action.Title {
		style := plain
		if slices.Contains(h.matched, i) {
			style = sought
		}
		out = append(out, paint.In(style, string(letter)))
	}
	return out
}

// about says what the action under the cursor does, or why it cannot.
func (p *Palette) about(room int) []paint.Spans {
	if len(p.hits) == 0 {
		return nil
	}
	chosen := p.hits[p.at].action
	style, text := paint.Muted, chosen.Tooltip
	if reason := p.reason(chosen.ID); reason != "" {
		text = "Not now: " + reason + "."
		if p.refused != "" {
			style = paint.Warning
		}
	}
	return paint.Wrapped(style, text, room)
}
