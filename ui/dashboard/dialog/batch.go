package dialog

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/wording"
)

// batch is the list of a dialog for several intents.
type batch struct {
	all  []confirm.Proposal
	of   Order       // the order whose items they are; zero if they were chosen freely
	sums []api.Money // by currency, in the order of the intents
	top  int         // first intent in view
	page int         // intents in view in the last drawing
	seen int         // how many have been in view
	came int         // items of the order that came after it was opened
}

// Order is an order; the dialog asks about all its items that can be confirmed.
type Order struct {
	Reference string
	Left      []Left // its other items, below them
	Failed    int    // how many of its items have failed
	Partial   bool   // it may have more items, which are unknown
}

// Left is an item of an order that is not confirmed with the others, and why.
type Left struct {
	ID        api.ID
	Name, Why string
}

// length is how many intents the list has.
func (b *batch) length() int { return len(b.all) + len(b.of.Left) }

// Sums adds the totals up by currency.
func Sums(all []confirm.Proposal) ([]api.Money, error) {
	var sums []api.Money
	for _, p := range all {
		i := slices.IndexFunc(sums, func(m api.Money) bool { return m.Currency == p.Total.Currency })
		switch {
		case p.Total.Subunits < 0:
			return nil, errors.New("a total is below zero")
		case i < 0:
			sums = append(sums, p.Total)
		case sums[i].Subunits > math.MaxInt64-p.Total.Subunits:
			return nil, errors.New("the totals are too large to be added up")
		default:
			sums[i].Subunits += p.Total.Subunits
		}
	}
	return sums, nil
}

// NewBatch opens the dialog for several intents as the person saw them, with the
// guards of [NewConfirm]: every intent must have been visible, and in a live
// environment the sum is typed, so that they must share a currency.
func NewBatch(seen []confirm.Proposal, live bool, quiet *Quiet, now time.Time) (*Confirm, error) {
	sums, err := Sums(seen)
	switch {
	case err != nil:
		return nil, err
	case len(seen) == 0:
		return nil, errors.New("nothing is marked")
	case live && len(sums) > 1:
		return nil, errors.New("where money is real, mark intents of one currency at a time")
	}
	whole := confirm.Proposal{Environment: seen[0].Environment}
	for _, p := range seen {
		if end := p.ExpiresAt; !end.IsZero() && (whole.ExpiresAt.IsZero() || end.Before(whole.ExpiresAt)) {
			whole.ExpiresAt = end
		}
	}
	if len(sums) == 1 {
		whole.Total = sums[0]
	}
	d := NewConfirm(whole, live, quiet, now)
	d.batch = &batch{all: slices.Clone(seen), sums: sums}
	for i := range d.batch.all {
		d.batch.all[i].Cost = copyCost(seen[i].Cost)
	}
	return d, nil
}

// NewOrder is [NewBatch] for the items of one order. Its other items must have been visible, too.
func NewOrder(o Order, seen []confirm.Proposal, live bool, quiet *Quiet, now time.Time) (*Confirm, error) {
	d, err := NewBatch(seen, live, quiet, now)
	if err == nil {
		o.Left = slices.Clone(o.Left)
		d.batch.of = o
	}
	return d, err
}

// Order is the reference of the order whose items the dialog was opened for; "" for none.
func (d *Confirm) Order() string {
	if d.batch == nil {
		return ""
	}
	return d.batch.of.Reference
}

// SetItems sets the items that the order has now, and how many have failed. The dialog counts
// those that came since it was opened, but does not confirm them.
func (d *Confirm) SetItems(ids []api.ID, failed int) {
	b := d.batch
	b.came, b.of.Failed = 0, failed
	for _, id := range ids {
		listed := slices.ContainsFunc(b.all, func(p confirm.Proposal) bool { return p.ID == id }) ||
			slices.ContainsFunc(b.of.Left, func(l Left) bool { return l.ID == id })
		if !listed {
			b.came++
		}
	}
}

// Batch lists the dialog's intents if it was opened for several; otherwise nil.
func (d *Confirm) Batch() []confirm.Proposal {
	if d.batch == nil {
		return nil
	}
	return d.batch.all
}

// scrollBatch handles keys that scroll the list, and reports whether one did.
func (d *Confirm) scrollBatch(name string) bool {
	if d.batch == nil {
		return false
	}
	by := map[string]int{"pgup": -d.batch.page, "pgdown": d.batch.page}[name]
	if !d.guarded() {
		by += map[string]int{"up": -1, "k": -1, "down": 1, "j": 1}[name]
	}
	d.Scroll(by)
	return by != 0
}

// Scroll scrolls the list by intents, as a mouse wheel does, but not past one that
// was not visible.
func (d *Confirm) Scroll(orders int) {
	if b := d.batch; b != nil {
		b.top = max(b.top+max(min(orders, b.page), -b.page), 0)
	}
}

// batchBody draws the list within height lines: as much of it as fits beside the
// necessary parts.
func (d *Confirm) batchBody(room, height int) []row {
	b := d.batch
	var below []row
	if b.of.Partial {
		below = rows(needed, paint.Wrapped(paint.Warning, "Not every intent is known: items may be missing.", room)...)
	}
	if b.of.Failed > 0 {
		text := wording.Counted(b.of.Failed, "item has", "items have") + " failed already: this buys the others alone."
		below = append(below, rows(needed, paint.Wrapped(paint.Bad, text, room)...)...)
	}
	for _, sum := range b.sums {
		label := "Total"
		if len(b.sums) > 1 {
			label = "Total " + string(api.Scrub(string(sum.Currency)))
		}
		below = append(below, row{d.ends(paint.Text|paint.Bold, label, paint.Text|paint.Bold, sum.Readable(), room), needed})
	}
	below = append(below, rows(air, paint.Spans{})...)
	below = append(below, row{d.environment(room), needed}, row{d.window(), needed})
	below = append(below, d.question(room)...)
	heading := paint.Wrapped(paint.Text|paint.Bold, b.heading(), room)
	warning := d.warning(room)
	needs := len(heading) + 1 // and the line with the number
	for _, r := range slices.Concat(warning, below) {
		if r.spare == needed {
			needs++
		}
	}
	shown := b.turn(max(height-needs, 1), func(i int) []paint.Spans {
		if i < len(b.all) {
			return d.order(b.all[i], room)
		}
		return leftOut(b.of.Left[i-len(b.all)], room)
	})
	out := rows(margin, paint.Spans{})
	out = append(out, warning...)
	out = append(out, rows(needed, heading...)...)
	out = append(out, rows(needed, shown...)...)
	hidden := paint.Spans{}
	if b.page < b.length() {
		inView := wording.Count(b.top + 1)
		if b.page > 1 {
			inView += " to " + wording.Count(b.top+b.page)
		}
		hidden = paint.Spans{paint.In(paint.Muted, inView+" of "+wording.Count(b.length())+", pgdn and pgup scroll")}
	}
	out = append(out, row{hidden, needed})
	return append(out, below...)
}

// heading says how many are confirmed, and out of how many.
func (b *batch) heading() string {
	switch of := wording.Count(len(b.all)) + " of " + wording.Counted(b.length()+b.came, "item", "items"); {
	case b.of.Reference == "":
		return wording.Counted(len(b.all), "order", "orders")
	case b.came == 1:
		return of + "; one came after this was opened"
	case b.came > 1:
		return of + "; " + wording.Count(b.came) + " came after this was opened"
	case len(b.of.Left) > 0:
		return of
	case b.of.Partial:
		return wording.Counted(len(b.all), "item", "items")
	}
	return wording.Counted(len(b.all), "item", "items") + ", the whole order"
}

// turn draws the orders that fit into height lines, from the top one on and at least
// one, and records how many. At the end of the list the page is full.
func (b *batch) turn(height int, draw func(i int) []paint.Spans) []paint.Spans {
	last, rest := b.length(), height
	for last > 0 && rest >= len(draw(last-1)) {
		last--
		rest -= len(draw(last))
	}
	b.top = max(min(b.top, last, b.length()-1), 0)
	b.page = 0
	var shown []paint.Spans
	for i := b.top; i < b.length(); i++ {
		order := draw(i)
		if b.page > 0 && len(shown)+len(order) > height {
			break
		}
		shown = append(shown, order...)
		b.page++
	}
	return shown
}

// order draws one of the batch: in one line if all of it fits, otherwise with the name
// wrapped, and variant and page below.
func (d *Confirm) order(p confirm.Proposal, room int) []paint.Spans {
	const gap, indent = 2, 2
	page, named := shortPage(p, room-indent)
	about := []string{string(p.Variant), string(p.Merchant), page, shipping(p, d.now.Location()), joined(p.PromoCodes)}
	if named {
		about[1] = ""
	}
	name, whose := p.Item(), strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), ", ")
	total := paint.Spans{paint.In(paint.Text, p.Total.Readable())}
	var odd []paint.Spans
	for _, part := range p.Cost.Parts() {
		if part.Odd {
			odd = append(odd, paint.Wrapped(paint.Warning, "! "+part.Name+" "+part.Signed(), max(room-indent, 1))...)
		}
	}
	odd = behind(paint.Span{}, indent, odd)
	one := paint.Spans{paint.In(paint.Text, name), paint.In(paint.Text, "  "), paint.In(paint.Muted, whose)}
	if one.Width()+gap+total.Width() <= room {
		return append([]paint.Spans{paint.Apart(one, total, room)}, odd...)
	}
	out := paint.Wrapped(paint.Text, name, max(room-gap-total.Width(), 1))
	out[0] = paint.Apart(out[0], total, room)
	out = append(out, behind(paint.Span{}, indent, paint.Wrapped(paint.Muted, whose, max(room-indent, 1)))...)
	return append(out, odd...)
}

// leftOut draws an item that is not confirmed, with the reason below its name.
func leftOut(item Left, room int) []paint.Spans {
	const indent = 2
	out := paint.Wrapped(paint.Muted, "✕ "+item.Name, room)
	return append(out, behind(paint.Span{}, indent, paint.Wrapped(paint.Warning, "not confirmed: "+item.Why, max(room-indent, 1)))...)
}
