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

	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
)

// Palette finds an action by a few of its letters, and runs verbs with arguments.
type Palette struct {
	base
	table    *action.Table
	scope    action.Scope
	disabled func(action.ID) string
	verbs    []Verb
	field    textinput.Model
	hits     []hit
	at       int // the hit under the cursor; -1: none
	top      int // the first visible hit
	refused  string
}

// hit is an action, a verb, or an argument of a verb.
type hit struct {
	action  action.Action
	verb    *Verb  // nil: an action
	offer   string // "": the verb itself
	matched []int  // byte offsets in the title
}

func (h hit) title() string {
	switch {
	case h.offer != "":
		return h.offer
	case h.verb != nil:
		return h.verb.title()
	}
	return h.action.Title
}

const (
	paletteWidth = 66
	paletteRows  = 12
	aboutLines   = 2 // about the action under the cursor
	// longestTyped is the longest typed text in characters.
	longestTyped = 200
)

// NewPalette opens the palette with all actions of the scope. disabled gives the
// reason why an action is disabled, or ""; it may be nil.
func NewPalette(table *action.Table, scope action.Scope, disabled func(action.ID) string) *Palette {
	p := &Palette{table: table, scope: scope, disabled: disabled, field: newField(longestTyped)}
	p.field.Focus()
	p.search()
	return p
}

// Paste types pasted text, or says that it is too long.
func (p *Palette) Paste(text string) {
	if p.fits(p.field.Value(), text, longestTyped) {
		p.write(tea.PasteMsg{Content: text})
	}
}

// Key moves, types or chooses. For a disabled action it says why.
func (p *Palette) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	p.said = ""
	switch key.String() {
	case "esc", "ctrl+c":
		return Answer{Kind: Closed}
	case "enter":
		return p.choose()
	case "up", "ctrl+p", "shift+tab":
		p.move(-1)
	case "down", "ctrl+n":
		p.move(1)
	case "tab":
		p.complete()
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
	if v, argument := p.typedVerb(); v != nil {
		return p.doVerb(v, argument)
	}
	if len(p.hits) == 0 {
		return Answer{}
	}
	chosen := p.hits[p.at]
	switch {
	case chosen.verb != nil && chosen.verb.Argument != "":
		p.set(chosen.verb.Name + " ")
		return Answer{}
	case chosen.verb != nil:
		return Answer{Kind: VerbChosen, Verb: chosen.verb}
	}
	if reason := p.reason(chosen.action.ID); reason != "" {
		p.refused = reason
		return Answer{}
	}
	return Answer{Kind: Closed, Do: chosen.action.ID}
}

func (p *Palette) reason(id action.ID) string {
	if p.disabled == nil {
		return ""
	}
	return p.disabled(id)
}

// move wraps around at both ends.
func (p *Palette) move(by int) {
	p.refused = ""
	n := len(p.hits)
	switch {
	case n == 0:
	case p.at < 0 && by < 0:
		p.at = n - 1
	case p.at < 0:
		p.at = 0
	default:
		p.at = ((p.at+by)%n + n) % n
	}
}

func (p *Palette) write(msg tea.Msg) {
	before := p.field.Value()
	p.field = edited(p.field, msg)
	if p.field.Value() != before {
		p.search()
	}
}

func (p *Palette) search() {
	p.at, p.top, p.refused, p.hits = 0, 0, "", nil
	if v, argument := p.typedVerb(); v != nil {
		p.offer(v, argument)
		return
	}
	all := slices.DeleteFunc(p.table.Actions(), func(a action.Action) bool {
		return !a.Scope.Overlaps(p.scope) || a.ID == action.Palette
	})
	for _, a := range all {
		p.hits = append(p.hits, hit{action: a})
	}
	for i := range p.verbs {
		if v := &p.verbs[i]; v.Argument+v.Means != "" || p.field.Value() != "" { // otherwise an action says the same
			p.hits = append(p.hits, hit{verb: v})
		}
	}
	if typed := strings.TrimSpace(p.field.Value()); typed != "" {
		p.match(typed)
		return
	}
	slices.SortStableFunc(p.hits, func(a, b hit) int { return cmp.Compare(late(a.action), late(b.action)) })
}

// match keeps the hits that contain the typed letters, first a verb of exactly that
// name.
func (p *Palette) match(typed string) {
	all := p.hits
	p.hits = nil
	titles := make([]string, len(all))
	for i, h := range all {
		titles[i] = h.title()
		if h.verb != nil && strings.EqualFold(h.verb.Name, typed) {
			p.hits = append(p.hits, h)
		}
	}
	for _, match := range fuzzy.Find(typed, titles) {
		h := all[match.Index]
		if h.matched = match.MatchedIndexes; len(p.hits) == 0 || h.verb == nil || h.verb != p.hits[0].verb {
			p.hits = append(p.hits, h)
		}
	}
}

// late ranks actions that everybody knows by heart below the others.
func late(a action.Action) int {
	switch a.Group {
	case action.Focus:
		return 1
	case action.Move:
		return 2
	}
	return 0
}

// Size is the block that the palette wants, at most width by height. Its height does
// not depend on the hits, so that it stands still while typing.
func (p *Palette) Size(width, height int) (int, int) {
	const around = frame + 5 + aboutLines
	return min(paletteWidth, width), min(paletteRows+around, height)
}

// View draws the palette as exactly height lines of width cells.
func (p *Palette) View(l *paint.Line, width, height int) []string {
	box := panelOf(width, "Find an action", paint.In(paint.Muted, "enter do").Clicks(clicksDo), paint.In(paint.Muted, "   ↑ ↓ choose   "), escapes("esc close"))
	box.badge = paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d of %d", min(p.at+1, len(p.hits)), len(p.hits)))}
	if v, _ := p.typedVerb(); v != nil && v.Offers != nil {
		box.foot = append(box.foot, paint.In(paint.Muted, "   tab complete"))
	}
	room := box.room(width)
	about := p.about(room)
	visible := max(height-frame-5-max(aboutLines, len(about)), 1)
	if height < airyFrom {
		visible = max(height-frame-2, 1)
		if len(about) > 1 {
			about = []paint.Spans{append(about[0], paint.In(paint.Muted, "…")).Cut(room)}
		}
	}
	list := p.list(room, visible)
	body := append(rows(air, paint.Spans{}), rows(needed, p.input(room))...)
	body = append(body, rows(air, paint.Spans{paint.In(paint.Faint, strings.Repeat("─", room))})...)
	body = append(body, rows(needed, append(list, make([]paint.Spans, max(visible-len(list), 0))...)...)...)
	body = append(append(body, rows(air, paint.Spans{})...), rows(needed, about...)...)
	body, _ = squeeze(body, max(height-frame, 0))
	return p.draw(l, box, width, height, body)
}

func (p *Palette) input(room int) paint.Spans {
	return append(paint.Spans{paint.In(paint.Accent|paint.Bold, ":"), paint.Blank(1)}, typed(p.field, max(room-2, 1))...)
}

func (p *Palette) list(room, visible int) []paint.Spans {
	if len(p.hits) == 0 {
		v, _ := p.typedVerb()
		switch {
		case v == nil:
			return []paint.Spans{{paint.In(paint.Muted, "No action matches.")}}
		case p.refused == "":
			return []paint.Spans{{paint.In(paint.Muted, "enter does it")}}
		}
		return nil
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

// marked draws the title of a hit with the matched letters underlined.
func marked(h hit, plain, sought paint.Style) paint.Spans {
	var out paint.Spans
	for i, letter := range h.title() {
		style := plain
		if slices.Contains(h.matched, i) {
			style = sought
		}
		out = append(out, paint.In(style, string(letter)))
	}
	return out
}

// about says what the hit under the cursor does, or why it cannot.
func (p *Palette) about(room int) []paint.Spans {
	v, _ := p.typedVerb()
	if v == nil && len(p.hits) > 0 {
		v = p.hits[p.at].verb
	}
	style, text := paint.Muted, ""
	switch {
	case p.refused != "" && v != nil:
		style, text = paint.Warning, "No: "+p.refused+"."
	case v != nil:
		text = v.Tooltip
	case len(p.hits) == 0:
		return nil
	default:
		chosen := p.hits[p.at].action
		text = chosen.Tooltip
		if reason := p.reason(chosen.ID); reason != "" {
			text = "Not now: " + reason + "."
			if p.refused != "" {
				style = paint.Warning
			}
		}
	}
	return paint.Wrapped(style, text, room)
}
