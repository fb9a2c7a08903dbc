package dashboard

import (
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/pane"
)

// drawnPane is what the board needs of every pane.
type drawnPane interface {
	SetPlace(pane.Place)
	SetFocus(bool)
	Invalidate()
	Stale() bool
	Lines() []string
	Apply(c *account.Changes, first bool)
	Forget() // starts over; the cursor returns to its row, should that come back
	Move(pane.Step)
	Hold(back bool)            // keeps the cursor on its row until it is moved; back: brings it into sight
	Click(x, y int) (row bool) // whether there is a row
	Wheel(x, y, delta int)
	Tab(x, y int) (at int, ok bool) // which of the panes that share its place has its name there
	Subject() pane.Subject          // the thing under its cursor
	ShowsHealth() bool              // whether it shows what is wrong, in place of rows
}

// sortable is a pane that can be sorted by its columns.
type sortable interface {
	Orders() []string
	Sort(name string, reverse bool) (order string)
}

// board holds the panes, divides the screen among them, and knows which one has the
// focus.
type board struct {
	cfg         *Config
	look        *pane.Look
	picture     *picture
	preferences *preferences
	notices     *notices

	panes    [layout.Panes]drawnPane
	intents  *pane.Intents // like those below, one of the panes
	events   *pane.Events
	alerts   *pane.Alerts
	requests *pane.Requests
	quota    *pane.Quota
	failures *pane.Failures
	pulse    *pane.Pulse
	detail   *pane.Detail

	width, height int
	layout        layout.Layout
	focus         layout.Pane
	tab           layout.Pane // the visible one of those that share a place
	before        layout.Pane // had the focus before the detail or a view opened
	zoom          bool        // the focused pane fills the board
	zoomed        layout.Pane // had the focus at that time
	detailOpen    bool
	notice        int  // its lines
	money         bool // a confirm has a line above it
	pulseCache    pulseCache
}

func newBoard(cfg *Config, look *pane.Look, picture *picture, preferences *preferences, notices *notices, alerting *alerting) *board {
	b := &board{
		cfg: cfg, look: look, picture: picture, preferences: preferences, notices: notices, tab: layout.Events,
		intents: pane.NewIntents(look, cfg.ConfirmWindow), alerts: pane.NewAlerts(look, alerting.off), requests: pane.NewRequests(look),
		quota: pane.NewQuota(look), pulse: pane.NewPulse(look), detail: pane.NewDetail(look, cfg.ConfirmWindow),
	}
	b.failures = pane.NewFailures(look, b.intents)
	b.events = pane.NewEvents(look, b.intentOfSource)
	b.panes = [layout.Panes]drawnPane{
		layout.Intents: b.intents, layout.Shipments: pane.NewShipments(look), layout.Quota: b.quota,
		layout.Pulse: b.pulse, layout.Events: b.events, layout.Requests: b.requests, layout.Alerts: b.alerts,
		layout.Detail: b.detail, layout.Failures: b.failures,
	}
	b.pulseCache = pulseCache{look: look, picture: picture}
	look.Pulse = b.pulseCache.get
	b.intents.Group(preferences.ByOrder)
	return b
}

// arrange divides the screen; height is the board's.
func (b *board) arrange() {
	b.layout = layout.Arrange(b.request())
	for i, p := range b.panes {
		r := b.layout.Panes[i]
		stacked := b.layout.Arrangement == layout.Narrow
		p.SetPlace(pane.Place{W: r.W, H: r.H, Stacked: stacked, Edge: r.X+r.W == b.width})
	}
}

// makeRoom gives the notice its lines, and a confirm its own.
func (b *board) makeRoom(lines int, money bool) {
	if b.notice != lines || b.money != money {
		b.notice, b.money = lines, money
		b.arrange()
	}
}

func (b *board) request() layout.Request {
	return layout.Request{
		Width: b.width, Height: b.height, Focus: b.focus, Tab: b.tab, Zoom: b.zoom, Detail: b.detailOpen,
		Hidden: b.preferences.hidden(), Notice: b.notice, Money: b.money,
	}
}

func (b *board) setFocus(to layout.Pane) {
	b.focus = to
	if layout.IsTab(to) {
		b.tab = to
	}
	for i, p := range b.panes {
		p.SetFocus(layout.Pane(i) == to)
	}
	b.arrange()
}

// focusBy moves the focus among the visible panes.
func (b *board) focusBy(by int) {
	to, hidden := b.focus, b.preferences.hidden()
	if layout.IsView(to) {
		to = b.before
	}
	for {
		to = layout.Pane((int(to) + by + layout.Board) % layout.Board)
		if (!layout.IsTab(to) || to == b.tab) && !hidden.Has(to) {
			break
		}
	}
	b.setFocus(to)
}

// focusOn focuses a pane.
func (b *board) focusOn(p layout.Pane) {
	b.reveal(p)
	b.setFocus(p)
}

// focusDetail focuses the open detail.
func (b *board) focusDetail() {
	b.rememberFocus()
	b.setFocus(layout.Detail)
}

// focusing are the actions that focus a pane each.
var focusing = [...]action.ID{layout.Intents: action.FocusPane1, layout.Shipments: action.FocusPane2, layout.Quota: action.FocusPane3,
	layout.Events: action.FocusPane4, layout.Requests: action.FocusPane5, layout.Alerts: action.FocusPane6}

// paneBehind is the pane with the focus, or the one that had it before the detail.
func (b *board) paneBehind() layout.Pane {
	if b.focus == layout.Detail {
		return b.before
	}
	return b.focus
}

// rememberFocus records which pane hands the focus to the detail or a view.
func (b *board) rememberFocus() {
	if b.focus != layout.Detail && !layout.IsView(b.focus) {
		b.before = b.focus
	}
}

// returnFocus hands the focus back.
func (b *board) returnFocus() {
	b.setFocus(b.before)
}

// toggleView opens a view on the whole screen, or closes it.
func (b *board) toggleView(view layout.Pane) {
	if b.focus == view {
		b.setFocus(b.before)
		return
	}
	b.rememberFocus()
	b.setFocus(view)
}

// reveal shows a hidden pane again.
func (b *board) reveal(p layout.Pane) {
	if b.preferences.hidden().Has(p) {
		b.preferences.toggle(p)
		b.preferences.keep()
	}
}

// steps are the actions that move the cursor.
var steps = map[action.ID]pane.Step{
	action.Up: pane.Up, action.Down: pane.Down, action.Left: pane.Left, action.Right: pane.Right,
	action.Top: pane.First, action.Bottom: pane.Last, action.PageUp: pane.PageUp, action.PageDown: pane.PageDown,
}

// step moves the cursor of the focused pane. Among panes that share a place, left and
// right switch between them instead; moved is then false.
func (b *board) step(s pane.Step) (moved bool) {
	if by := map[pane.Step]int{pane.Left: -1, pane.Right: 1}[s]; by != 0 && layout.IsTab(b.focus) {
		if to := int(b.focus) + by; to >= 0 && layout.IsTab(layout.Pane(to)) {
			b.setFocus(layout.Pane(to))
		}
		return false
	}
	b.panes[b.focus].Move(s)
	return true
}

// sort sorts the focused pane by a column, by the next one if name is "", or reverses
// it.
func (b *board) sort(name string, reverse bool) {
	name = b.panes[b.focus].(sortable).Sort(name, reverse)
	if name == "" {
		b.notices.say(plain, "default order")
		return
	}
	b.notices.say(plain, "sorted by "+name+"; "+b.cfg.Actions.KeyOf(action.ReverseSort)+" reverses it")
}

// orders are the columns that the focused pane can be sorted by.
func (b *board) orders() []string {
	if p, ok := b.panes[b.focus].(sortable); ok {
		return p.Orders()
	}
	return nil
}

// toggleZoom enlarges the focused pane to the whole board, or undoes that: the quota gives
// the focus back to the pane that had it.
func (b *board) toggleZoom() {
	if b.quotaWhole() {
		b.zoom = false
		b.returnFocus()
		return
	}
	b.rememberFocus()
	b.zoom, b.zoomed = !b.zoom, b.focus
	b.arrange()
}

// subject is the thing under the cursor.
func (b *board) subject() pane.Subject { return b.panes[b.focus].Subject() }

// show applies changes.
func (b *board) show(c *account.Changes, first bool) {
	b.countAlerts()
	if partial := !c.Summary.OrdersKnown(); partial != b.look.Partial {
		b.look.Partial = partial
		b.invalidate()
	}
	if ahead := c.Summary.Ahead; ahead != b.look.Ahead {
		b.look.Ahead = ahead
		b.invalidate()
	}
	for _, p := range b.panes {
		if c.Whole {
			p.Forget()
		}
		p.Apply(c, first)
	}
}

// invalidate redraws every pane.
func (b *board) invalidate() {
	for _, p := range b.panes {
		p.Invalidate()
	}
}

// stale reports whether a visible pane has changed since it was drawn.
func (b *board) stale() bool {
	for i, p := range b.panes {
		if !b.layout.Panes[i].Empty() && p.Stale() {
			return true
		}
	}
	return false
}

// togglePane hides a pane or shows it again. One always stays.
func (b *board) togglePane(p layout.Pane) {
	if !b.preferences.toggle(p) {
		b.notices.say(warning, "this is the only pane left: show another one first")
		return
	}
	hidden := b.preferences.hidden()
	if hidden.Has(b.focus) {
		b.focusBy(1)
	} else {
		b.arrange()
	}
	if hidden.Has(p) {
		b.notices.say(plain, p.String()+" hidden; "+b.cfg.Actions.KeyOf(toggling[p])+" shows the pane again")
	}
	b.preferences.keep()
}

// toggling are the actions that hide a pane each, or show it again.
var toggling = [...]action.ID{layout.Intents: action.ToggleIntents, layout.Shipments: action.ToggleShipments,
	layout.Quota: action.ToggleQuota, layout.Events: action.ToggleEvents}
