package pane

import (
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
)

// Intents shows the checkout intents: in a lane a state where there is room,
// else as one list, grouped by state.
type Intents struct {
	frame
	window time.Duration
	lanes  [lanes]*table.Table[*intentRow]
	list   *table.Table[*intentRow]
	lane   int // that the cursor is in
	follow api.ID
	filter *Filter
	agents account.AgentCount
	stuck  map[api.ID]bool
	pace   map[api.IntentState]account.Pace
	read   time.Time // the newest of anything
	cells  []cell    // of the lanes as last drawn
	index  index
	slots  int32 // given out
	totals map[api.Money]string
	marked int // rows
	sorting
	order string // that was chosen, by its name
}

// NewIntents makes the pane. window is the time in which an intent can be
// confirmed, for intents whose end of it is not known.
func NewIntents(look *Look, window time.Duration) *Intents {
	p := &Intents{frame: newFrame(look), window: window, lane: laneAwaiting}
	for i := range p.lanes {
		p.lanes[i] = table.New(p.config(compareInLane))
	}
	p.list = table.New(p.config(compareInList))
	return p
}

func (p *Intents) config(compare func(a, b *intentRow) int) table.Config[*intentRow] {
	return table.Config[*intentRow]{
		Key:     func(r *intentRow) string { return string(r.ID) },
		Compare: compare,
		Match:   func(r *intentRow, filter any) bool { return p.index.finds(r.slot, filter.(*Filter)) },
		Slot:    func(r *intentRow) int32 { return r.slot },
		Bulk:    func(filter any) []uint64 { return p.index.matching(filter.(*Filter)) },
	}
}

// Apply takes over what changed. first keeps the first picture from glowing.
func (p *Intents) Apply(c *account.Changes, first bool) {
	var batch [lanes][]*intentRow
	rows := make([]*intentRow, 0, len(c.Intents))
	for _, in := range c.Intents {
		old, known := p.list.Get(string(in.ID))
		if known && old.given == in {
			continue
		}
		row := newIntentRow(in, p.window)
		if known {
			row.carry(old, p.look.Now)
			row.slot = old.slot
			if old.lane != row.lane && old.lane < lanes {
				p.leave(old, row)
			}
		} else {
			row.slot = p.slots
			p.slots++
			if !first {
				row.setLate(lately{since: p.look.Now})
			}
		}
		p.index.put(row)
		rows = append(rows, row)
		if row.lane < lanes {
			batch[row.lane] = append(batch[row.lane], row)
		}
	}
	if len(rows) > 0 || p.agents != c.Summary.Agents || len(p.stuck)+len(c.Summary.Alerts) > 0 {
		p.stale = true
	}
	for i, rows := range batch {
		if len(rows) > 0 {
			p.lanes[i].Upsert(rows...)
		}
	}
	p.list.Upsert(rows...)
	p.settle()
	p.agents, p.read = c.Summary.Agents, c.Summary.LastRead
	p.stuck, p.pace = stuckIntents(c.Summary.Alerts), c.Summary.Pace
}

// Forget takes all rows out, for a picture that starts over.
func (p *Intents) Forget() {
	for _, lane := range p.lanes {
		lane.Forget()
	}
	p.list.Forget()
	p.index, p.slots, p.marked, p.follow, p.stale = index{}, 0, 0, "", true
}

func stuckIntents(alerts []account.Alert) map[api.ID]bool {
	var stuck map[api.ID]bool
	for _, a := range alerts {
		if a.Kind == account.AlertStuck && a.Intent != "" {
			if stuck == nil {
				stuck = map[api.ID]bool{}
			}
			stuck[a.Intent] = true
		}
	}
	return stuck
}

// leave takes a row out of its lane. A cursor that a person put on it goes along.
func (p *Intents) leave(old, row *intentRow) {
	lane := p.lanes[old.lane]
	if under, ok := lane.Cursor(); ok && lane.Pinned() && p.lane == int(old.lane) && under.ID == old.ID && row.lane < lanes {
		p.follow = row.ID
	}
	lane.Remove(string(old.ID))
}

// settle follows a row to its new lane.
func (p *Intents) settle() {
	if p.follow == "" {
		return
	}
	if row, ok := p.list.Get(string(p.follow)); ok && row.lane < lanes && p.lanes[row.lane].Select(string(row.ID)) {
		p.lane = int(row.lane)
	}
	p.follow = ""
}

// SetNote writes on the row of an intent what a confirm says; "" takes it away.
func (p *Intents) SetNote(id api.ID, note Note) {
	if row, ok := p.list.Get(string(id)); ok {
		l := row.late()
		l.note = note
		row.setLate(l)
		p.stale = true
	}
}

// SetMarked marks the row of an intent, or takes the mark away.
func (p *Intents) SetMarked(id api.ID, marked bool) {
	if row, ok := p.list.Get(string(id)); ok && row.late().marked != marked {
		l := row.late()
		l.marked = marked
		row.setLate(l)
		p.stale = true
		if marked {
			p.marked++
		} else {
			p.marked--
		}
	}
}

// Prepare makes the rows ready to be found. It is not kept so at all times: it
// takes some 15 MB for 100,000 rows, and most of the time nobody looks for any.
func (p *Intents) Prepare() {
	if !p.index.built {
		p.index.build(p.list.All(), p.slots)
	}
}

// Release gives back what Prepare took, unless a filter is in force.
func (p *Intents) Release() {
	if p.filter == nil {
		p.index = index{}
	}
}

// SetFilter shows only what the filter finds; nil shows all.
func (p *Intents) SetFilter(f *Filter) {
	if f != nil {
		p.Prepare()
	}
	p.applyFilter(f, p.filter)
	p.filter = f
	if f != nil && !p.listed() && p.lanes[p.lane].Shown() == 0 {
		p.nearestLane()
	}
	p.stale = true
}

// Fields are the names that a filter of this pane may use.
func (p *Intents) Fields() []Field {
	return []Field{{"state", inState, noFigure}, {"merchant", inPlace, noFigure}, {"product", inName, noFigure}, {"id", inID, noFigure},
		{"reason", inMore, noFigure}, {"total", inAll, amount}, {"age", inAll, age}, {"quantity", inAll, count}}
}

// applyFilter filters what is shown, the list or the lanes; the other is left
// until it is.
func (p *Intents) applyFilter(f, before *Filter) {
	if p.listed() {
		filterTable(p.list, f, before, p.look.Now)
		return
	}
	for _, lane := range p.lanes {
		filterTable(lane, f, before, p.look.Now)
	}
}

func (p *Intents) nearestLane() {
	for i, lane := range p.lanes {
		if lane.Shown() > 0 {
			p.lane = i
			return
		}
	}
}

// Matches is how many intents the filter shows, of how many.
func (p *Intents) Matches() (shown, total int) {
	if p.listed() {
		return p.list.Shown(), p.list.Total()
	}
	for _, lane := range p.lanes {
		shown += lane.Shown()
	}
	return shown, p.list.Total()
}

// Subject is the intent under the cursor.
func (p *Intents) Subject() Subject {
	if row, ok := p.table().Cursor(); ok {
		return Subject{OfIntent, row.ID}
	}
	return Subject{}
}

// Select puts the cursor on an intent.
func (p *Intents) Select(id api.ID) bool {
	row, ok := p.list.Get(string(id))
	if !ok {
		return false
	}
	p.stale = true
	if p.listed() {
		return p.list.Select(string(id))
	}
	if row.lane >= lanes || !p.lanes[row.lane].Select(string(id)) {
		return false
	}
	p.lane = int(row.lane)
	return true
}

// leastLanes is the width from which five lanes are readable.
const leastLanes = 108

// listed reports whether the pane is too narrow, or too low, for lanes.
func (p *Intents) listed() bool { return p.w < leastLanes || p.h < 7 }

func (p *Intents) table() *table.Table[*intentRow] {
	if p.listed() {
		return p.list
	}
	return p.lanes[p.lane]
}

// SetSize gives the pane its place. The cursor stays on its intent when lanes
// become a list or a list lanes.
func (p *Intents) SetSize(w, h int) {
	if p.w == w && p.h == h {
		return
	}
	before, pinned := p.Subject(), p.table().Pinned()
	was := p.listed()
	p.frame.SetSize(w, h)
	for _, lane := range p.lanes {
		lane.SetHeight(p.laneRows())
	}
	p.list.SetHeight(p.h - p.head())
	if was == p.listed() {
		return
	}
	p.applyFilter(p.filter, nil)
	if pinned && before.Kind == OfIntent {
		p.Select(before.ID)
	}
}

// laneRows is how many cards fit into a lane: two lines each, below the title,
// the heads and the rule, above the line that tells how many more there are.
func (p *Intents) laneRows() int { return max((p.h-4)/2, 1) }

// Lines draws the pane.
func (p *Intents) Lines() []string {
	return p.render(func(l *paint.Line) {
		p.top()
		switch {
		case p.collapsed():
		case p.listed() && p.list.Total() == 0:
			p.rule()
			p.empty(noIntents)
		case p.listed():
			p.rule()
			p.drawList()
		default:
			p.drawLanes()
		}
	})
}

const noIntents = "no checkout intents yet: they appear with their first event"

// top draws the title: the filter with its hits, and the counts where no lane
// shows them.
func (p *Intents) top() {
	l := p.title("INTENTS", p.list.Total())
	unread := p.list.Total()
	for _, lane := range p.lanes {
		unread -= lane.Total()
	}
	if unread > 0 && p.w >= 60 {
		l.Put(paint.Muted, " · "+group(unread)+" not read yet")
	}
	if p.marked > 0 {
		l.Put(paint.Accent, " · "+sign.Marked().Glyph+" "+group(p.marked)+" marked")
	}
	p.freshness(l, "read", p.read)
	p.sorted(l, p.order)
	switch {
	case p.filter != nil:
		shown, total := p.Matches()
		hits := group(shown) + " of " + group(total)
		text := "/ " + p.filter.Text
		p.fill(l, l.Left()-paint.Width(text)-len(hits)-3)
		l.Put(paint.Accent, text).Space(2).Put(paint.Text, hits)
	case p.listed():
		p.tally(l)
	}
	p.push(l)
}

// tally writes the counts of all states, at the right.
func (p *Intents) tally(l *paint.Line) {
	width := 0
	for i, lane := range p.lanes {
		if i < laneOther || lane.Total() > 0 {
			width += 3 + len(group(lane.Total())) + 1
		}
	}
	p.fill(l, l.Left()-width)
	for i, lane := range p.lanes {
		if i == laneOther && lane.Total() == 0 {
			continue
		}
		m := laneMark(i)
		style := m.Style
		if lane.Total() == 0 {
			style = paint.Faint
		}
		l.Space(1).Put(style, m.Glyph).Space(1).Put(style, group(lane.Total())).Space(1)
	}
}

func laneMark(lane int) sign.Sign {
	if lane == laneOther {
		return sign.Sign{Glyph: "?", Word: "other", Style: paint.Unlisted}
	}
	return sign.Intent(laneStates[lane])
}
