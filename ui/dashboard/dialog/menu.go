package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/weblink"
)

// Menu offers a few items to choose from. It opens on the first, the most useful one;
// the key that opened it chooses like enter.
type Menu struct {
	base
	choice
	title string
	verb  string // what enter does, for the hint
	opens action.ID
	items []Item
}

// Item is one thing of a [Menu].
type Item struct {
	Title string
	Note  string         // beside the title
	About string         // shown below the list while the cursor is on it
	Link  weblink.Link   // where it leads; the host is in bold
	Do    func() tea.Cmd // does what it offers; the menu does not call it
}

const menuWidth = 78

// NewMenu opens a menu for the action opened.
func NewMenu(title, verb string, opens action.ID, items []Item) *Menu {
	return &Menu{choice: choice{of: len(items)}, title: title, verb: verb, opens: opens, items: items}
}

// Opens is the action whose key chooses.
func (m *Menu) Opens() action.ID { return m.opens }

// Key moves the cursor, or chooses.
func (m *Menu) Key(key tea.KeyPressMsg, _ time.Time) Answer {
	m.said = ""
	switch name := key.String(); name {
	case "esc", "q", "ctrl+c":
		return Answer{Kind: Closed}
	case "enter":
		return m.Choose()
	default:
		m.key(name)
	}
	return Answer{}
}

// Choose answers with the chosen item.
func (m *Menu) Choose() Answer { return Answer{Kind: Closed, Item: &m.items[m.at]} }

// Click chooses the item of a row.
func (m *Menu) Click(x, y int, _ time.Time) Answer {
	target := m.spots.at(x, y)
	if target == clicksDo || m.click(target) {
		return m.Choose()
	}
	return closedIf(target == clicksClose)
}

// Size is the block that the menu wants, at most width by height, whatever the cursor
// is on.
func (m *Menu) Size(width, height int) (int, int) {
	w := min(menuWidth, width)
	room, about := w-frame-2*insetFor(w), 0
	for i := range m.items {
		about = max(about, len(m.about(&m.items[i], room)))
	}
	return w, min(len(m.items)+about+frame+3, height)
}

// View draws the menu as exactly height lines of width cells.
func (m *Menu) View(l *paint.Line, width, height int) []string {
	box := panelOf(width, m.title, paint.In(paint.Muted, "enter "+m.verb).Clicks(clicksDo), paint.In(paint.Muted, "   ↑ ↓ choose   "), escapes("esc close"))
	if len(m.items) == 1 {
		box.foot[1] = paint.In(paint.Muted, "   ")
	} else {
		box.badge = paint.Spans{paint.In(paint.Muted, fmt.Sprintf("%d of %d", m.at+1, len(m.items)))}
	}
	room := box.room(width)
	body := rows(air, paint.Spans{})
	for i := range m.items {
		spare := detail
		if i == m.at {
			spare = needed
		}
		body = append(body, rows(spare, m.entry(i, room).Clicks(strconv.Itoa(i)))...)
	}
	body = append(body, rows(air, paint.Spans{})...)
	body = append(body, rows(needed, m.about(&m.items[m.at], room)...)...)
	body, _ = squeeze(body, max(height-frame, 0))
	return m.draw(l, box, width, height, body)
}

func (m *Menu) entry(i, room int) paint.Spans {
	mark := "  "
	if i == m.at {
		mark = "▸ "
	}
	item := &m.items[i]
	l := paint.Apart(paint.Spans{paint.In(paint.Text, mark+item.Title)}, paint.Spans{paint.In(paint.Muted, item.Note+" ")}, room)
	if i == m.at {
		l.Select()
	}
	return l
}

// about describes an item. It shows an address whole, except for its secrets, with the host in
// bold, so that the reader knows where it leads.
func (m *Menu) about(item *Item, room int) []paint.Spans {
	out := paint.Wrapped(paint.Muted, item.About, room)
	const scheme = len("https://")
	address, host := string(api.MaskAddress(api.Scrub(item.Link.Address))), scheme+len(item.Link.Host)
	for from := 0; from < len(address) && room > 0; {
		to := min(from+room, len(address))
		var l paint.Spans
		for _, part := range []struct {
			from, to int
			style    paint.Style
		}{{0, scheme, paint.Muted}, {scheme, host, paint.Accent | paint.Bold}, {host, len(address), paint.Muted}} {
			if a, b := max(part.from, from), min(part.to, to); a < b {
				l = append(l, paint.In(part.style, address[a:b]))
			}
		}
		out, from = append(out, l), to
	}
	if most := mostAbout; len(out) > most {
		out = append(out[:most-1:most-1], paint.Spans{paint.In(paint.Muted, "… "+strings.TrimSpace(fmt.Sprintf("%d more lines", len(out)-most+1)))})
	}
	return out
}

// mostAbout is the most lines about an item. A host may have 253 letters.
const mostAbout = 7
