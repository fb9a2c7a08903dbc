package pane

import (
	"cmp"
	"iter"
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
	shelf  *shelf
	lanes  [lanes]*table.Table[uint32] // of places on the shelf
	list   *table.Table[uint32]
	inLane func(a, b *kept) int // the order in force
	inList func(a, b *kept) int
	made   time.Time
	notes  map[uint32]Note
	lane   int // that the cursor is in
	left   int // that a filter has taken the cursor from, from 1 on; 0 for none
	follow api.ID
	filter *Filter
	agents account.AgentCount
	stuck  map[api.ID]bool
	pace   map[api.IntentState]account.Pace
	read   time.Time   // the newest of anything
	cells  []cell      // of the lanes as last drawn
	finds  []*findable // by place; nil until it is looked for
	totals map[api.Money]string
	marked int // rows
	sorting
	order string // that was chosen, by its name
}

// NewIntents makes the pane. window is the time in which an intent can be
// confirmed, for intents whose end of it is not known.
func NewIntents(look *Look, window time.Duration) *Intents {
	p := &Intents{frame: newFrame(look), window: window, lane: laneAwaiting, shelf: newShelf(), made: look.Now,
		inLane: compareInLane, inList: compareInList, notes: map[uint32]Note{}}
	for i := range p.lanes {
		p.lanes[i] = table.New(p.config(compareInLane))
	}
	p.list = table.New(p.config(compareInList))
	return p
}

func (p *Intents) config(compare func(a, b *kept) int) table.Config[uint32] {
	return table.Config[uint32]{
		Key:     func(place uint32) string { return string(p.shelf.idOf(p.shelf.at(place))) },
		Find:    func(key string) (uint32, bool) { return p.shelf.find(key) },
		Compare: p.places(compare),
		Match:   func(place uint32, filter any) bool { return filter.(*Filter).matches(p.foundBy(place)) },
	}
}

// places compares places by what stands there.
func (p *Intents) places(compare func(a, b *kept) int) func(a, b uint32) int {
	return func(a, b uint32) int {
		one, other := p.shelf.at(a), p.shelf.at(b)
		if c := compare(one, other); c != 0 {
			return c
		}
		return p.shelf.compareIDs(one, other)
	}
}

// keptOf is what is kept of an intent, nil when it is not known.
func (p *Intents) keptOf(id api.ID) *kept {
	if place, ok := p.shelf.find(string(id)); ok {
		return p.shelf.at(place)
	}
	return nil
}

// Forget takes all rows out, for a picture that starts over.
func (p *Intents) Forget() {
	for _, lane := range p.lanes {
		lane.Forget()
	}
	p.list.Forget()
	p.shelf, p.notes = newShelf(), map[uint32]Note{}
	p.finds, p.marked, p.follow, p.stale = nil, 0, "", true
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

// SetNote writes on the row of an intent what a confirm says; "" takes it away.
func (p *Intents) SetNote(id api.ID, note Note) {
	place, ok := p.shelf.find(string(id))
	if !ok {
		return
	}
	delete(p.notes, place)
	if note != (Note{}) {
		p.notes[place] = note
	}
	p.shelf.at(place).set(isNoted, note != (Note{}))
	p.stale = true
}

// SetMarked marks the row of an intent, or takes the mark away.
func (p *Intents) SetMarked(id api.ID, marked bool) {
	if k := p.keptOf(id); k != nil && k.is(isMarked) != marked {
		k.set(isMarked, marked)
		p.stale = true
		if marked {
			p.marked++
		} else {
			p.marked--
		}
	}
}

// Brief is what is known of an intent beyond its row.
type Brief struct {
	ID        api.ID
	State     api.IntentState
	Certainty account.Certainty
	Missing   bool // the service answered 404 to the last read
	Read      bool // it was read, ever
}

// BriefOf is the same of an intent that is not on the screen.
func BriefOf(in *account.Intent) Brief {
	return Brief{in.ID, in.State, in.Certainty, in.Missing, !in.ReadAt.IsZero()}
}

// Brief tells of an intent that is on the screen.
func (p *Intents) Brief(id api.ID) (Brief, bool) {
	k := p.keptOf(id)
	if k == nil {
		return Brief{}, false
	}
	return Brief{p.shelf.idOf(k), api.IntentState(p.shelf.words[k.state]), k.certainty, k.is(isMissing), k.is(wasRead)}, true
}

// IDs are those of all intents that are on the screen.
func (p *Intents) IDs() iter.Seq[api.ID] {
	return func(yield func(api.ID) bool) {
		for place := range p.shelf.count {
			if !yield(p.shelf.idOf(p.shelf.at(place))) {
				return
			}
		}
	}
}

// SetFilter shows only what the filter finds; nil shows all. It is in force in
// the lanes and in the list, whichever is shown.
func (p *Intents) SetFilter(f *Filter) {
	filterTable(p.list, f, p.filter, p.look.Now)
	for _, lane := range p.lanes {
		filterTable(lane, f, p.filter, p.look.Now)
	}
	p.filter = f
	p.findLane()
	p.stale = true
}

// Fields are the names that a filter of this pane may use.
func (p *Intents) Fields() []Field {
	return []Field{oneOf("state", wordedAll(api.IntentStates(), sign.Intent), p.states),
		inColumn("merchant", inPlace), inColumn("product", inName), inColumn("id", inID),
		inColumn("reason", inMore), measures("total", amount), measures("age", age), measures("quantity", count)}
}

// states are those of the rows that the contract does not list.
func (p *Intents) states(yield func(string) bool) {
	for place := range p.shelf.count {
		state := api.IntentState(p.shelf.words[p.shelf.at(place).state])
		if !state.Known() && !yield(worded(state, sign.Intent(state))) {
			return
		}
	}
}

// Stay keeps the cursor in the lane that a filter has brought it to.
func (p *Intents) Stay() { p.left = 0 }

// findLane moves the cursor to a lane where the filter finds something, and back
// to its own as soon as that has anything again.
func (p *Intents) findLane() {
	if p.left > 0 && p.lanes[p.left-1].Shown() > 0 {
		p.lane, p.left = p.left-1, 0
	}
	if p.filter == nil || p.listed() || p.lanes[p.lane].Shown() > 0 {
		return
	}
	for i, lane := range p.lanes {
		if lane.Shown() > 0 {
			p.lane, p.left = i, cmp.Or(p.left, p.lane+1)
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
	if place, ok := p.table().Cursor(); ok {
		return Subject{OfIntent, p.shelf.idOf(p.shelf.at(place))}
	}
	return Subject{}
}

// Select puts the cursor on an intent.
func (p *Intents) Select(id api.ID) bool {
	k := p.keptOf(id)
	if k == nil {
		return false
	}
	p.stale = true
	if p.listed() {
		return p.list.Select(string(id))
	}
	if k.lane >= lanes || !p.lanes[k.lane].Select(string(id)) {
		return false
	}
	p.lane, p.left = int(k.lane), 0
	return true
}

// leastLanes is the width from which five lanes are readable.
const leastLanes = 108

// listed reports whether the pane is too narrow, or too low, for lanes.
func (p *Intents) listed() bool { return p.w < leastLanes || p.h < 7 }

func (p *Intents) table() *table.Table[uint32] {
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
	if was != p.listed() && pinned && before.Kind == OfIntent {
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
		l.Put(paint.Muted, " · "+group(unread)+" not known yet")
	}
	if p.marked > 0 {
		l.Put(paint.Accent, " · "+sign.Marked().Glyph+" "+group(p.marked)+" marked")
	}
	p.freshness(l, "read", p.read)
	p.sorted(l, p.order)
	switch {
	case p.filter != nil:
		shown, total := p.Matches()
		p.found(l, p.filter, shown, total)
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
