package pane

import (
	"iter"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// Intents shows the checkout intents: in one lane for each state if there is room, else as
// one list, grouped by state.
type Intents struct {
	frame
	rows   map[api.ID]*intentRow
	lanes  laneSet
	list   *table.Table[*intentRow]
	orders *account.Orders // nil unless the list is grouped by order
	cards  cards
	filter *Filter
	agents account.AgentCount
	read   time.Time // the last read of anything
	known  bool      // all intents are known
	older  bool      // older intents are no longer kept
	unread int       // number of rows whose state no read has returned

	sorting[*intentRow] // of the lanes and the list
}

// NewIntents returns the pane. window is the confirm window of an intent whose expiry the
// service does not give.
func NewIntents(look *Look, window time.Duration) *Intents {
	p := &Intents{frame: newFrame(look), sorting: by(intentOrders()), rows: map[api.ID]*intentRow{}}
	p.list = table.New(intentTable(p.compareListed))
	p.lanes = newLaneSet(&p.frame)
	p.cards = cards{frame: &p.frame, window: window, notes: map[api.ID]Note{}, marks: map[api.ID]bool{}}
	return p
}

func intentTable(compare func(a, b *intentRow) int) table.Config[*intentRow] {
	return table.Config[*intentRow]{
		Key:     (*intentRow).key,
		Compare: compare,
		Match:   matchIntent,
	}
}

// Forget removes all rows, for a picture that starts again.
func (p *Intents) Forget() {
	for _, lane := range p.lanes.tables {
		lane.Forget()
	}
	p.list.Forget()
	if p.orders != nil {
		p.orders = account.NewOrders()
	}
	clear(p.rows)
	p.unread = 0
	clear(p.cards.notes)
	clear(p.cards.marks)
	p.stale = true
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

// SetNote sets the note of a confirm on the row of an intent; the zero Note removes it.
func (p *Intents) SetNote(id api.ID, note Note) {
	delete(p.cards.notes, id)
	if note != (Note{}) && p.rows[id] != nil {
		p.cards.notes[id] = note
	}
	p.stale = true
}

// SetMarked marks or unmarks the row of an intent.
func (p *Intents) SetMarked(id api.ID, marked bool) {
	delete(p.cards.marks, id)
	if marked && p.rows[id] != nil {
		p.cards.marks[id] = true
	}
	p.stale = true
}

// Shown yields the intents that pass the filter.
func (p *Intents) Shown() iter.Seq[*account.Intent] {
	return func(yield func(*account.Intent) bool) {
		for _, row := range p.list.Found() {
			if row.order == nil && !yield(row.Intent) {
				return
			}
		}
	}
}

// SetFilter shows only rows that match; nil shows all. It applies to the lanes and the
// list.
func (p *Intents) SetFilter(f *Filter) {
	filterTable(p.list, f, p.look.Now)
	p.lanes.setFilter(f)
	if anew := f != p.filter; anew { // rows that only grow older do not move the cursor to another lane
		p.filter = f
		p.findLane()
	}
	p.stale = true
}

// Search is like [Events.Search].
func (p *Intents) Search(f *Filter) func() (keep func()) {
	return search(f, slices.Collect(maps.Values(p.rows)))
}

// Fields returns the fields of a filter for this pane.
func (p *Intents) Fields() []Field {
	return []Field{oneOf("state", wordedAll(api.IntentStates(), sign.Intent), p.states),
		asWhole(inColumn("merchant", inPlace)), inColumn("product", inName), inColumn("id", inID),
		asWhole(inColumn("reason", inMore)), measures("total", amount), measures("age", age), measures("quantity", count)}
}

// states yields the states of rows that the contract does not list.
func (p *Intents) states(yield func(string) bool) {
	for _, row := range p.list.All() {
		if row.lane >= laneOther && !yield(row.in(inState)) {
			return
		}
	}
}

// Stay keeps the cursor in the lane to which a filter has moved it.
func (p *Intents) Stay() { p.lanes.enter(p.lanes.at) }

// findLane moves the cursor to a lane with matches, if there are lanes and a filter.
func (p *Intents) findLane() {
	p.lanes.find(p.filter != nil && !p.listed())
}

// Matches returns how many intents pass the filter, of how many.
func (p *Intents) Matches() (shown, total int) {
	if p.listed() {
		for range p.Shown() {
			shown++
		}
		return shown, len(p.rows)
	}
	for _, lane := range p.lanes.tables {
		shown += lane.Shown()
	}
	return shown, len(p.rows)
}

// Subject returns the intent or order under the cursor.
func (p *Intents) Subject() Subject {
	if row, ok := p.table().Cursor(); ok {
		return row.subject()
	}
	return Subject{}
}

// Select puts the cursor on an intent. It returns false if that is not shown.
func (p *Intents) Select(id api.ID) bool {
	row := p.rows[id]
	if row == nil {
		return false
	}
	p.stale = true
	if p.listed() {
		return p.list.Select(string(id))
	}
	return p.lanes.choose(row)
}

// listed reports whether there is a list instead of lanes: the pane is too small for lanes,
// or the intents are grouped.
func (p *Intents) listed() bool { return p.orders != nil || p.w < layout.LanesFrom || p.h < 7 }

// table returns the list, or the lane with the cursor.
func (p *Intents) table() *table.Table[*intentRow] {
	if p.listed() {
		return p.list
	}
	return p.lanes.current()
}

// SetPlace places the pane. The cursor stays on its intent when lanes become a list or the
// other way round.
func (p *Intents) SetPlace(at Place) {
	if p.place == at {
		return
	}
	held, pinned := p.table().Held(), p.table().Pinned()
	was := p.listed()
	p.frame.SetPlace(at)
	p.lanes.fit()
	p.list.SetHeight(p.h - p.head())
	if was == p.listed() {
		return
	}
	if p.listed() {
		p.list.HoldOn(held, pinned)
	} else {
		p.lanes.take(held, pinned)
	}
	p.findLane()
}

// Lines draws the pane.
func (p *Intents) Lines() []string {
	return p.render(func() {
		p.top()
		switch {
		case p.collapsed():
		case p.listed() && len(p.rows) == 0:
			p.rule()
			p.nothing()
		case p.listed():
			p.rule()
			p.drawList()
		default:
			p.drawLanes()
		}
	})
}

// nothing says why there are no rows.
func (p *Intents) nothing() { p.empty(p.none()) }

func (p *Intents) none() string {
	if !p.known {
		return "no checkout intents are known yet"
	}
	return "no checkout intents yet: they appear with their first event"
}

// top draws the title: what was chosen, the filter with its matches, and the counts if no lane shows them. What else it
// says gives way to the counts.
func (p *Intents) top() {
	l := p.title("INTENTS", -1)
	l.Space(1).Put(paint.Text, counted(len(p.rows), p.known))
	if len(p.cards.marks) > 0 {
		l.Put(paint.Accent, " · "+sign.Marked().Glyph+" "+wording.Count(len(p.cards.marks))+" marked")
	}
	if p.orders != nil {
		l.Put(paint.Accent, " · by order")
	}
	p.sorted(l, p.order)
	var counts paint.Spans
	if p.listed() && p.filter == nil {
		counts = p.tally()
	}
	for _, aside := range p.asides() {
		if paint.Width(aside) <= l.Left()-counts.Width() {
			l.Put(paint.Muted, aside)
		}
	}
	switch {
	case p.filter != nil:
		shown, total := p.Matches()
		p.found(l, p.filter, shown, total)
	case p.listed():
		p.ends(l, counts)
	}
	p.push(l)
}

// asides returns what the title says beside the counts, if there is room.
func (p *Intents) asides() (said []string) {
	inNone := len(p.rows)
	for _, lane := range p.lanes.tables {
		inNone -= lane.Total()
	}
	if p.unread > 0 && (p.w >= 100 || p.w >= 60 && p.filter == nil) {
		text := " · " + wording.Count(p.unread) + " " + unread
		if inNone > 0 && p.w >= 100 {
			text += ", " + wording.Count(inNone) + " of unknown state"
		}
		said = append(said, text)
	}
	if p.older && p.w >= 60 {
		said = append(said, " · older ones are not kept")
	}
	return append(said, p.freshness("read", p.read))
}

// tally returns the counts of all states.
func (p *Intents) tally() (counts paint.Spans) {
	for i, lane := range p.lanes.tables {
		if i == laneOther && lane.Total() == 0 {
			continue
		}
		m := laneMark(i)
		if lane.Total() == 0 {
			m.Style = paint.Muted
		}
		counts = append(counts, paint.Span{Text: "  " + m.Glyph + " " + counted(lane.Total(), p.known), Style: m.Style})
	}
	return counts
}

// SetUnseen marks the intents whose state changed since then; the zero time marks none.
func (p *Intents) SetUnseen(since time.Time) {
	p.cards.unseenSince = since
	p.stale = true
}
